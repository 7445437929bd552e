from zero._cpp.error cimport raise_error
from zero._cpp.node cimport CNode, NodeRef
from zero._cpp.tensor cimport CTensors

cdef extern from "zero/autograd/function.h" namespace "zero":
    void connect_function(CNode& node, const CTensors& inputs) except +raise_error
    void finish_function(const char* op, const NodeRef& node, const CTensors& inputs,
                         CTensors& outputs, const CTensors& dirty,
                         const CTensors& non_differentiable) except +raise_error
    void save_for_function(CNode& node, const CTensors& saves,
                           const CTensors& outputs) except +raise_error
