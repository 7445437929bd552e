# Losses beyond those of ops.h.

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from zero._cpp.error cimport raise_error
from zero._cpp.ops cimport CReduction
from zero._cpp.shape cimport CDims
from zero._cpp.tensor cimport CTensor


cdef extern from "zero/ops/loss.h" namespace "zero":
    CTensor pair_loss(const char*, const CTensor&, const CTensor&, CReduction, double,
                      double) except +raise_error
    CTensor ctc_loss(const CTensor&, const CTensor&, const CDims&, const CDims&, int64_t,
                     CReduction, cbool) except +raise_error
