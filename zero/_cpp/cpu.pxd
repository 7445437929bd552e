from libcpp.string cimport string
from zero._cpp.error cimport raise_error

cdef extern from "zero/runtime/cpu.h" namespace "zero":
    cdef cppclass CpuFeatures:
        string name

    const CpuFeatures& cpu_features() except +raise_error
