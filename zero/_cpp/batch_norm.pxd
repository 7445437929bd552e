from libcpp cimport bool as cbool

from zero._cpp.error cimport raise_error
from zero._cpp.tensor cimport CTensor, CTensors


cdef extern from "zero/ops/batch_norm.h" namespace "zero":
    CTensor batch_norm(
        const CTensor&, const CTensor&, const CTensor&, const CTensor&, const CTensor&, cbool,
        double, double) except +raise_error
    CTensors native_batch_norm(
        const CTensor&, const CTensor&, const CTensor&, const CTensor&, const CTensor&, cbool,
        double, double) except +raise_error
