from libc.stdint cimport int64_t
from zero._cpp.error cimport raise_error

cdef extern from "zero/core/dtype.h" namespace "zero" nogil:
    enum class CDType "zero::DType":
        Bool
        UInt8
        Int8
        Int16
        Int32
        Int64
        Float16
        BFloat16
        Float32
        Float64

    int kNumDTypes
    int64_t itemsize(CDType t) noexcept
    const char* dtype_name "zero::name"(CDType t) noexcept
    bint is_floating(CDType t) noexcept
    bint is_integral(CDType t) noexcept
    int category(CDType t) noexcept
    CDType promote(CDType a, CDType b) noexcept
    CDType default_dtype() noexcept
    void set_default_dtype(CDType t) except +raise_error
