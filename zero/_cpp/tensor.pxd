from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool as cbool
from zero._cpp.device cimport CDevice
from zero._cpp.dtype cimport CDType
from zero._cpp.error cimport raise_error
from zero._cpp.shape cimport CDims

cdef extern from "zero/core/tensor.h" namespace "zero":
    cdef cppclass CTensorOptions "zero::TensorOptions":
        CTensorOptions() noexcept
        CDType dtype
        CDevice device

    cdef cppclass CTensorImpl "zero::TensorImpl":
        cbool is_parameter_
        cbool is_inference_
        cbool has_own_version "own_version_.operator bool"() noexcept
        cbool is_view_

    cdef cppclass CTensor "zero::Tensor":
        CTensor() noexcept
        bint defined() noexcept
        CTensorImpl* impl() noexcept
        bint is_same(const CTensor& other) noexcept
        const CDims& sizes() noexcept
        const CDims& strides() noexcept
        int64_t size(int64_t dim) noexcept
        int64_t stride(int64_t dim) noexcept
        int64_t dim() noexcept
        int64_t numel() noexcept
        int64_t storage_offset() noexcept
        CDType dtype() noexcept
        CDevice device() noexcept
        bint is_meta() noexcept
        bint is_contiguous() noexcept
        CTensorOptions options() noexcept
        uint32_t version() noexcept
        void* data() noexcept

    cdef cppclass CTensors "zero::Tensors":
        CTensors() noexcept
        int64_t size() noexcept
        CTensor& operator[](int64_t i) noexcept
        void push_back(CTensor item) except +raise_error

    CTensor empty(const CDims& sizes, CTensorOptions options) except +raise_error
    CTensor empty_strided(const CDims& sizes, const CDims& strides,
                          CTensorOptions options) except +raise_error
    CTensor alias(const char* op, const CTensor& base, CDims sizes, CDims strides,
                  int64_t offset) except +raise_error
