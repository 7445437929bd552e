from zero._cpp.error cimport raise_error

cdef extern from "zero/kernels/table.h" namespace "zero":
    cdef cppclass KernelTable:
        const char* isa

    const KernelTable& kernels() except +raise_error
