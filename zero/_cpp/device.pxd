cdef extern from "zero/core/device.h" namespace "zero":
    enum class CDevice "zero::Device":
        Cpu
        Meta

    const char* device_name "zero::name"(CDevice d) noexcept
