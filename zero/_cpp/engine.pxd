from libc.stdint cimport int64_t, uint64_t
from zero._cpp.error cimport raise_error
from zero._cpp.node cimport CNode, NodeRef
from zero._cpp.tensor cimport CTensor, CTensors

cdef extern from "zero/autograd/engine.h" namespace "zero":
    void backward(const CTensors& roots, const CTensors& grads, bint retain_graph,
                  bint create_graph,
                  const CTensors& inputs) except +raise_error
    CTensors grad(const CTensors& roots, const CTensors& grads, const CTensors& inputs,
                  bint retain_graph, bint create_graph, bint allow_unused) except +raise_error
    uint64_t current_pass() noexcept
    bint pass_reaches(CNode& node) except +raise_error
    bint pass_is_partial() noexcept
    uint64_t last_sequence_nr() noexcept
    CTensor stand_in(const NodeRef& node, int64_t output_nr) except +raise_error
    CTensor accumulated_leaf(const CNode& node) noexcept
