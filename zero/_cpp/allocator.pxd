from libc.stdint cimport int64_t
from zero._cpp.error cimport raise_error

cdef extern from "zero/core/allocator.h" namespace "zero":
    cdef cppclass MemoryStats:
        int64_t live_bytes
        int64_t peak_bytes
        int64_t cached_bytes
        int64_t system_bytes
        int64_t peak_system_bytes
        int64_t allocations
        int64_t live_blocks
        int64_t system_allocations
        int64_t cache_limit

    MemoryStats memory_stats() noexcept
    void reset_peak_memory_stats() noexcept
    void empty_cache() noexcept
    void* allocate(size_t nbytes) except +raise_error
    void deallocate(void* pointer, size_t nbytes) noexcept
