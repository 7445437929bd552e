from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.optional cimport optional

from zero._cpp.error cimport raise_error
from zero._cpp.tensor cimport CTensor


cdef extern from "zero/ops/attention.h" namespace "zero":
    cdef enum class CAttentionBackend "zero::AttentionBackend":
        Error "zero::AttentionBackend::Error"

    cdef cppclass CAttentionBackends "zero::AttentionBackends":
        CAttentionBackends()
        int64_t size() noexcept
        CAttentionBackend operator[](int64_t) noexcept
        void push_back(CAttentionBackend) except +raise_error

    cdef cppclass CAttentionOptions "zero::AttentionOptions":
        double dropout
        cbool causal
        optional[double] scale
        cbool grouped

    CTensor scaled_dot_product_attention(
        const CTensor&, const CTensor&, const CTensor&, const CTensor&,
        const CAttentionOptions&) except +raise_error
    CAttentionBackend attention_backend(
        const CTensor&, const CTensor&, const CTensor&, const CTensor&,
        const CAttentionOptions&) except +raise_error
    CAttentionBackends attention_backends() noexcept
    void set_attention_backends(const CAttentionBackends&) except +raise_error
