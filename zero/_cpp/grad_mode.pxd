cdef extern from "zero/autograd/grad_mode.h" namespace "zero":
    bint grad_enabled() noexcept
    void set_grad_enabled(bint on) noexcept
