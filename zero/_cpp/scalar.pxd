from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from zero._cpp.dtype cimport CDType

cdef extern from "zero/core/scalar.h" namespace "zero":
    enum class ScalarKind "zero::Scalar::Kind":
        Bool
        Int
        Float

    cdef cppclass CScalar "zero::Scalar":
        CScalar() noexcept
        CScalar(cbool v) noexcept
        CScalar(int64_t v) noexcept
        CScalar(double v) noexcept
        ScalarKind kind() noexcept
        bint is_float() noexcept
        double to_double() noexcept
        int64_t to_int() noexcept
        bint to_bool() noexcept
        CDType dtype() noexcept
