from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from zero._cpp.error cimport raise_error
from zero._cpp.tensor cimport CTensor, CTensors


cdef extern from "zero/ops/embedding.h" namespace "zero":
    cdef enum class CBagMode "zero::BagMode":
        Sum "zero::BagMode::Sum"
        Mean "zero::BagMode::Mean"
        Max "zero::BagMode::Max"

    CTensor embedding(const CTensor&, const CTensor&, int64_t, cbool) except +raise_error
    CTensors embedding_bag(
        const CTensor&, const CTensor&, const CTensor&, cbool, CBagMode, const CTensor&, cbool,
        int64_t) except +raise_error
