from libcpp.string cimport string
from zero._cpp.error cimport raise_error

cdef extern from "zero/runtime/blas.h" namespace "zero":
    string blas_description() except +raise_error
    void set_blas_directory(const string& path) except +raise_error
