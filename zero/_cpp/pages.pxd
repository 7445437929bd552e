from libc.stdint cimport uint64_t

cdef extern from "zero/core/pages.h" namespace "zero":
    size_t page_size() noexcept
    void* map_file(int file, uint64_t offset, size_t nbytes) noexcept
    void unmap_file(void* p, size_t nbytes) noexcept
    bint unshare_file(void* p, size_t nbytes, size_t used) noexcept
    bint lock_pages(void* p, size_t nbytes) noexcept
    void unlock_pages(void* p, size_t nbytes) noexcept
    void discard_pages(void* p, size_t nbytes) noexcept
