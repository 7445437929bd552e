from zero._cpp.error cimport raise_error
from zero._cpp.node cimport CEdge
from zero._cpp.tensor cimport CTensor

cdef extern from "zero/autograd/hooks.h" namespace "zero":
    CEdge hook_edge(const char* op, const CTensor& x) except +raise_error
    void retain_grad(const CTensor& x) except +raise_error
    bint retains_grad(const CTensor& x) noexcept

cdef extern from "zero/autograd/saved_tensor.h" namespace "zero":
    void pop_saved_tensor_hooks() noexcept
