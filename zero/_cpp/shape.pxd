from libc.stdint cimport int64_t
from zero._cpp.error cimport raise_error

cdef extern from "zero/core/shape.h" namespace "zero":
    cdef cppclass CDims "zero::Dims":
        CDims() noexcept
        int64_t size() noexcept
        bint empty() noexcept
        int64_t* data() noexcept
        int64_t& operator[](int64_t i) noexcept
        void push_back(int64_t item) except +raise_error
        void clear() noexcept
        void resize(int64_t n) except +raise_error
        bint operator==(const CDims& other) noexcept

    int64_t checked_numel(const char* op, const CDims& sizes, int64_t itemsize) except +raise_error
    CDims contiguous_strides(const CDims& sizes) except +raise_error
    bint expands_to(const CDims& sizes, const CDims& target) noexcept
    CDims broadcast_shapes(const char* op, const CDims& a, const CDims& b) except +raise_error
    int64_t wrap_dim(const char* op, int64_t dim, int64_t ndim) except +raise_error
