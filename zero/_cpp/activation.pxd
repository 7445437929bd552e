# Activation functions.

from libc.stdint cimport int64_t

from zero._cpp.error cimport raise_error
from zero._cpp.inplace cimport CTarget
from zero._cpp.tensor cimport CTensor


cdef extern from "zero/ops/activation.h" namespace "zero":
    CTensor activation(const char*, const CTensor&, double, double, double,
                       CTarget) except +raise_error
    CTensor prelu(const CTensor&, const CTensor&) except +raise_error
    CTensor glu(const CTensor&, int64_t) except +raise_error
