from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from zero._cpp.error cimport raise_error
from zero._cpp.scalar cimport CScalar
from zero._cpp.shape cimport CDims
from zero._cpp.tensor cimport CTensor


cdef extern from "zero/ops/resample.h" namespace "zero":
    CTensor constant_pad(const CTensor&, const CDims&, const CScalar&) except +raise_error
    CTensor pad_by(const string&, const CTensor&, const CDims&) except +raise_error
    CTensor resample(const string&, const CTensor&, const CDims&, const vector[double]&,
                     cbool) except +raise_error

    cdef cppclass CGridOptions "zero::GridOptions":
        int mode
        int padding
        cbool align_corners

    CTensor grid_sample(const CTensor&, const CTensor&, const CGridOptions&) except +raise_error
    pair[CTensor, CTensor] grid_sample_gradients(
        const CTensor&, const CTensor&, const CTensor&, const CGridOptions&, cbool,
        cbool) except +raise_error
