from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.optional cimport optional
from libcpp.utility cimport pair

from zero._cpp.error cimport raise_error
from zero._cpp.shape cimport CDims
from zero._cpp.tensor cimport CTensor


cdef extern from "zero/ops/pooling.h" namespace "zero":
    cdef cppclass CWindowOptions "zero::WindowOptions":
        CDims kernel
        CDims stride
        CDims padding
        CDims dilation
        cbool ceil_mode

    pair[CTensor, CTensor] max_pool(const char*, int64_t, const CTensor&, const CWindowOptions&,
                                    cbool) except +raise_error
    CTensor avg_pool(const char*, int64_t, const CTensor&, const CWindowOptions&, cbool,
                     optional[int64_t]) except +raise_error
    pair[CTensor, CTensor] adaptive_max_pool(const char*, int64_t, const CTensor&, const CDims&,
                                             cbool) except +raise_error
    CTensor adaptive_avg_pool(const char*, int64_t, const CTensor&,
                              const CDims&) except +raise_error
    pair[CTensor, CTensor] fractional_max_pool(const char*, int64_t, const CTensor&, const CDims&,
                                               const CDims&, const CTensor&,
                                               cbool) except +raise_error
