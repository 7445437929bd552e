from libcpp.string cimport string
from zero._cpp.error cimport raise_error

cdef extern from "zero/runtime/parallel.h" namespace "zero":
    int num_threads() except +raise_error
    void set_num_threads(int n) except +raise_error
    string thread_reason() except +raise_error
