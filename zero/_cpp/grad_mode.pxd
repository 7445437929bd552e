cdef extern from "zero/autograd/grad_mode.h" namespace "zero":
    bint recording "zero::grad_enabled"() noexcept
    bint grad_enabled "zero::grad_requested"() noexcept
    void set_grad_enabled(bint on) noexcept
    bint inference_enabled() noexcept
    void set_inference_enabled(bint on) noexcept
