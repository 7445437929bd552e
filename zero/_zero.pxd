"""The classes of zero._zero that are seen from C, and the conventions of its parts.

A function of an operator parses its arguments, makes one C++ call and wraps the result:

    def exp(Tensor input not None):
        return wrap(ops.exp(input.c, CTarget()))
    attach("exp", exp)                      # the method Tensor.exp is the same function

    wrap(CTensor)                           CTensor -> Tensor; the same object while it is alive
    as_operand(x, "add", "other")           Tensor or number -> COperand, which borrows the tensor
    as_scalar(x, "full", "fill_value")      number -> CScalar
    as_int(x, "select", "index")            int -> int64_t;   as_float(x, "sgd", "lr") -> double
    as_dims(args, "zeros")                  (2, 3) or ((2, 3),) or 2 or a Size -> CDims
    as_dtype(x, "sum")                      zero.float32 -> CDType
    as_device(x, "zeros")                   "cpu", zero.device -> CDevice; None -> the default
    as_options(dtype, device, "zeros")      both -> CTensorOptions; None -> the default
    as_tensors(sequence, "cat", "tensors")  sequence of Tensors -> CTensors
    as_generator(x, "rand")                 Generator or None -> CGenerator* (null for None)
    size_of(CDims), dtype_object(CDType), device_object(CDevice)   back to Python
    finish(CTensor, requires_grad)          wrap + requires_grad for functions that create

Each raises with the name of the op and of the argument. The hot ones are declared `except *`.
"""
from zero._cpp.device cimport CDevice
from zero._cpp.dtype cimport CDType
from zero._cpp.generator cimport CGenerator
from zero._cpp.node cimport CNode, NodeRef
from zero._cpp.tensor cimport CTensor


cdef class DTypeObject:      # zero.dtype
    cdef CDType value
    cdef readonly str name


cdef class DeviceObject:     # zero.device
    cdef readonly str type
    cdef readonly object index


cdef extern from *:
    """
    #include "zero/core/tensor.h"

    // The C++ tensor of a Python object, and the tensor's pointer back. The pointer ends with the
    // object, unless another object took its place; a tensor that ends too needs no clearing.
    struct zero_Held : zero::Tensor {
      void hold(zero::Tensor t, PyObject* object) {
        let_go();
        t.impl()->wrapper_.store(object, std::memory_order_release);
        zero::Tensor::operator=(std::move(t));
        owner_ = object;
      }
      ~zero_Held() { let_go(); }

     private:
      void let_go() {
        if (!defined() || ref()->use_count() == 1) return;
        void* expected = owner_;
        impl()->wrapper_.compare_exchange_strong(expected, nullptr);
      }
      PyObject* owner_ = nullptr;
    };
    """
    cdef cppclass CHeld "zero_Held"(CTensor):
        void hold(CTensor t, object owner) noexcept


cdef class Generator:
    cdef CGenerator* generator
    cdef bint owned


cdef class Node:
    cdef CNode* node     # null once the node of a custom function has ended
    cdef NodeRef owned   # the same, unless the node owns this object
    cdef dict __dict__


cdef class FunctionContext(Node):
    cdef object to_save             # a tuple
    cdef object dirty, constant     # tuples: outputs written in place, and without a gradient
    cdef tuple positions            # of the tensors among the arguments
    cdef tuple are_tensors          # the outputs
    cdef public object needs_input_grad
    cdef public object materialize_grads


cdef class Tensor:
    cdef CHeld c
    cdef dict __dict__
    cdef object __weakref__


cdef class Parameter(Tensor):
    pass
