from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from zero._cpp.error cimport raise_error
from zero._cpp.tensor cimport CTensor, CTensors


cdef extern from "zero/ops/recurrent.h" namespace "zero":
    cdef enum class CRecurrentMode "zero::RecurrentMode":
        Tanh "zero::RecurrentMode::Tanh"
        Relu "zero::RecurrentMode::Relu"
        Lstm "zero::RecurrentMode::Lstm"
        Gru "zero::RecurrentMode::Gru"

    cdef cppclass CRecurrentOptions "zero::RecurrentOptions":
        CRecurrentMode mode
        cbool biases
        int64_t layers
        double dropout
        cbool train
        cbool bidirectional
        cbool batch_first

    CTensors recurrent(
        const char*, const CTensor&, const CTensor&, const CTensor&, const CTensor&,
        const CTensors&, const CRecurrentOptions&) except +raise_error
    CTensors recurrent_cell(
        const char*, CRecurrentMode, const CTensor&, const CTensor&, const CTensor&,
        const CTensor&, const CTensor&, const CTensor&, const CTensor&) except +raise_error
