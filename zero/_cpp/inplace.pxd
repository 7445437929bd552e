from zero._cpp.error cimport raise_error
from zero._cpp.tensor cimport CTensor

cdef extern from "zero/autograd/inplace.h" namespace "zero":
    cdef cppclass CTarget "zero::Target":
        CTarget() noexcept

    CTarget inplace "zero::Target::inplace"(const CTensor& self) noexcept
    CTarget out "zero::Target::out"(const CTensor& out) noexcept
    cdef enum class COverlap "zero::Overlap":
        Partial "zero::Overlap::Partial"
        Any "zero::Overlap::Any"

    void check_overlap(const char* op, const CTensor& out, const CTensor& x,
                       COverlap forbidden) except +raise_error
    void check_inplace(const char* op, const CTensor& x, bint recorded) except +raise_error
    CTensor detach(const CTensor& x) except +raise_error
    CTensor detached_data(const CTensor& x) except +raise_error
    void detach_(const CTensor& x) except +raise_error
    void count_write(const CTensor& x) except +raise_error
    void set_data(const CTensor& x, const CTensor& data) except +raise_error
