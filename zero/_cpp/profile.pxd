from libc.stdint cimport int64_t, uint32_t, uint64_t
from zero._cpp.shape cimport CDims

cdef extern from "zero/core/profile.h" namespace "zero":
    cdef enum class CSpanKind "zero::SpanKind":
        Operator
        Node
        Module
        User

    cdef cppclass CEvent "zero::Event":
        const void* what
        int64_t parent, start, end, bytes, copies, copied_bytes
        uint64_t first, last
        int64_t sizes
        uint32_t thread
        CSpanKind kind

    bint profiling
    void start_profile(bint sizes) noexcept
    void stop_profile() noexcept
    void forget_profile() noexcept
    int64_t event_count() noexcept
    const CEvent& event_at(int64_t i) noexcept
    const int64_t* event_sizes(const CEvent& event) noexcept
    int64_t begin_span(CSpanKind kind, const void* what, uint64_t number) noexcept
    void end_span(int64_t span, uint64_t number) noexcept
    void begin_sizes(int64_t span, int64_t inputs) noexcept
    void add_sizes(const CDims* sizes) noexcept
