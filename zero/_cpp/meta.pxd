from libcpp cimport bool as cbool
from zero._cpp.error cimport raise_error
from zero._cpp.node cimport NodeRef
from zero._cpp.tensor cimport CTensor

cdef extern from "zero/autograd/meta.h" namespace "zero":
    cdef cppclass AutogradMeta:
        CTensor grad
        CTensor base
        int output_nr
        cbool requires_grad

    AutogradMeta* autograd_meta(const CTensor& x) noexcept
    bint requires_grad(const CTensor& x) noexcept
    void set_requires_grad(const CTensor& x, bint on) except +raise_error
    bint is_view(const CTensor& x) noexcept
    NodeRef grad_fn(const CTensor& x) except +raise_error
    bint is_leaf(const CTensor& x) except +raise_error
    CTensor grad_of "zero::grad"(const CTensor& x) noexcept
    void set_grad(const CTensor& x, const CTensor& grad) except +raise_error
