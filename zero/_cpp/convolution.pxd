from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from zero._cpp.error cimport raise_error
from zero._cpp.shape cimport CDims
from zero._cpp.tensor cimport CTensor


cdef extern from "zero/ops/convolution.h" namespace "zero":
    cdef cppclass CConvolution "zero::ConvolutionOptions":
        CConvolution() noexcept
        CDims stride, padding, padding_after, dilation, output_padding
        int64_t groups
        cbool transposed

    CTensor convolution(const char* op, const CTensor& x, const CTensor& weight,
                        const CTensor& bias, const CConvolution& options) except +raise_error


cdef extern from "zero/ops/winograd.h" namespace "zero":
    bint winograd_enabled() noexcept
    void enable_winograd(bint enabled) noexcept
