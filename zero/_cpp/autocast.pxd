from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from zero._cpp.dtype cimport CDType
from zero._cpp.error cimport raise_error
from zero._cpp.tensor cimport CTensor, CTensors


cdef extern from "zero/autograd/autocast.h" namespace "zero":
    enum class CAutocastDevice "zero::AutocastDevice":
        Cpu
        Cuda
        Xpu
        Mps

    struct CAutocastState "zero::AutocastState":
        cbool enabled
        CDType dtype

    bint autocast_on
    CAutocastState autocast_state(CAutocastDevice) noexcept
    void set_autocast_state(CAutocastDevice, CAutocastState) noexcept
    bint autocast_cache_enabled() noexcept
    void set_autocast_cache_enabled(bint on) noexcept
    void clear_autocast_cache() noexcept
    int64_t enter_autocast() noexcept
    int64_t leave_autocast() noexcept


cdef extern from "zero/ops/amp.h" namespace "zero":
    CTensor autocast_float32(const CTensor&) except +raise_error
    void unscale_(const CTensors&, const CTensor&, const CTensor&) except +raise_error
