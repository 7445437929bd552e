# Factorizations of matrices.

from libc.stdint cimport int64_t
from libcpp.string cimport string

from zero._cpp.error cimport raise_error
from zero._cpp.tensor cimport CTensor, CTensors


cdef extern from "zero/ops/linalg.h" namespace "zero":
    CTensors linalg(const string&, const CTensors&, int64_t, double) except +raise_error
    int64_t first_failure(const CTensor&) noexcept
