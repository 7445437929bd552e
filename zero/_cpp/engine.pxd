from zero._cpp.error cimport raise_error
from zero._cpp.node cimport CNode
from zero._cpp.tensor cimport CTensor, CTensors

cdef extern from "zero/autograd/engine.h" namespace "zero":
    void backward(const CTensors& roots, const CTensors& grads, bint retain_graph,
                  bint create_graph,
                  const CTensors& inputs) except +raise_error
    CTensors grad(const CTensors& roots, const CTensors& grads, const CTensors& inputs,
                  bint retain_graph, bint create_graph, bint allow_unused) except +raise_error
    CTensor accumulated_leaf(const CNode& node) noexcept
