cdef extern from "zero/runtime/denormal.h" namespace "zero":
    bint set_flush_denormal(bint enabled) noexcept
    bint flush_denormal() noexcept
