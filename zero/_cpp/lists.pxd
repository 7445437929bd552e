from libcpp cimport bool as cbool

from zero._cpp.error cimport raise_error
from zero._cpp.tensor cimport CTensor, CTensors


cdef extern from "zero/ops/lists.h" namespace "zero":
    CTensor total_norm(const char*, const CTensors&, double, cbool) except +raise_error
    void clip_to_norm_(const char*, const CTensors&, double, const CTensor&) except +raise_error
    void clip_to_range_(const char*, const CTensors&, double, double) except +raise_error
    void foreach_lerp_(const CTensors&, const CTensors&, double) except +raise_error
