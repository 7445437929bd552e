from libcpp cimport bool as cbool

from zero._cpp.error cimport raise_error
from zero._cpp.tensor cimport CTensor, CTensors


cdef extern from "zero/ops/optim.h" namespace "zero":
    cdef cppclass COptimizerState "zero::OptimizerState":
        const char* name

    cdef cppclass COptimizerKind "zero::OptimizerKind":
        const char* name
        const char* options
        COptimizerState states[4]
        int count() noexcept

    bint is_used(const COptimizerState&, const double*, const CTensor&) noexcept
    const COptimizerKind* find_optimizer(const char*) noexcept
    void start_states(const COptimizerKind&, const double*, const CTensors&,
                      CTensors&) except +raise_error
    void optimizer_step(const COptimizerKind&, const double*, const CTensors&, const CTensors&,
                        CTensors&) except +raise_error
