# Tensors between C++ and Python: one Python object per C++ tensor while it is alive.
cdef extern from *:
    """
    #include "zero/core/tensor.h"

    // A new reference to the Python object of a tensor; null if there is none, or it is being
    // deallocated (its count is 0 while weak references and attributes are cleared).
    static inline PyObject* zero_live_wrapper(const zero::Tensor& t) {
      PyObject* w = static_cast<PyObject*>(t.impl()->wrapper_.load(std::memory_order_acquire));
      if (w == nullptr || Py_REFCNT(w) == 0) return nullptr;
      Py_INCREF(w);
      return w;
    }
    // The memory of the last tensors that ended, for the next ones: most live for one line of a
    // program. It is Python's lock that guards it.
    static PyTypeObject* zero_kept_type;  // Tensor, not its subclasses
    static PyObject* zero_kept[64];
    static int zero_kept_count;
    static void zero_free_wrapper(void* p) {
      auto* o = static_cast<PyObject*>(p);
      if (Py_TYPE(o) == zero_kept_type && zero_kept_count < 64) {
        zero_kept[zero_kept_count++] = o;
      } else {
        PyObject_GC_Del(o);
      }
    }
    static void zero_keep_memory(PyObject* type) {
    #ifndef Py_GIL_DISABLED
      zero_kept_type = reinterpret_cast<PyTypeObject*>(type);
      zero_kept_type->tp_free = zero_free_wrapper;
    #endif
    }

    // Memory of zeros is a wrapper without a tensor and without a dict; that saves making an empty
    // one.
    static inline PyObject* zero_allocate_wrapper(PyObject* type) {
      auto* t = reinterpret_cast<PyTypeObject*>(type);
      if (t != zero_kept_type || zero_kept_count == 0) return t->tp_alloc(t, 0);
      PyObject* o = zero_kept[--zero_kept_count];
      memset(reinterpret_cast<char*>(o) + sizeof(PyObject), 0,
             static_cast<size_t>(t->tp_basicsize) - sizeof(PyObject));
      PyObject_Init(o, t);
      PyObject_GC_Track(o);
      return o;
    }
    static inline PyObject* zero_steal(PyObject* o) { return o; }
    """
    object allocate_wrapper "zero_allocate_wrapper"(object type)
    void keep_memory "zero_keep_memory"(object type) noexcept
    object steal "zero_steal"(PyObject* o)  # the caller's reference becomes the result's
    PyObject* live_wrapper "zero_live_wrapper"(const CTensor& t) noexcept


keep_memory(Tensor)


cdef Tensor new_wrapper(CTensor t):
    """A Python object for a tensor that has none; __init__ does not run."""
    cdef Tensor result = <Tensor> allocate_wrapper(Parameter if t.impl().is_parameter_ else Tensor)
    cdef PyObject* w = live_wrapper(t)
    if w is not NULL:  # the allocation collected garbage, and that ran code which saw the tensor
        return <Tensor> steal(w)
    result.c.hold(move(t), result)
    return result


cdef int adopt(Tensor x, CTensor t) except -1:
    """Makes x the Python object of another, new, C++ tensor."""
    if x.c.defined():
        keep_while_blocking(x.c)
    x.c.hold(move(t), x)
    return 0


cdef inline Tensor wrap(CTensor t):
    """The Python object of a tensor."""
    cdef PyObject* w = live_wrapper(t)
    if w is not NULL:
        return <Tensor> steal(w)
    return new_wrapper(move(t))


cdef object wrap_optional(CTensor t):
    """The same; None for an undefined tensor."""
    if not t.defined():
        return None
    return wrap(move(t))


cdef tuple wrap_all(CTensors& tensors):
    cdef list result = []
    cdef int64_t i
    for i in range(tensors.size()):
        result.append(wrap_optional(tensors[i]))
    return tuple(result)


cdef Tensor finish(CTensor t, object requires_grad, object pin_memory=False):
    """Wraps the result of a function that creates a tensor."""
    if pin_memory is not False:
        pin(t, pin_memory)
    if flag_of(requires_grad, "requires_grad", "the value"):
        meta.set_requires_grad(t, True)
    return wrap(move(t))


cdef extern from *:
    """
    // Writes to the dict of a class that Python does not let be written to.
    static int zero_set_class_attribute(PyObject* type, PyObject* name, PyObject* value) {
      PyTypeObject* t = reinterpret_cast<PyTypeObject*>(type);
      int status = PyDict_SetItem(t->tp_dict, name, value);
      PyType_Modified(t);
      return status;
    }
    """
    int set_class_attribute "zero_set_class_attribute"(object type, object name,
                                                       object value) except -1


cdef set attached = set()  # functions that check their `self` as any other argument


cdef int attach(str name, object function) except -1:
    """Makes a module function the method Tensor.<name> as well."""
    attached.add(function)
    return set_class_attribute(Tensor, name, function)


# out=: the tensor that a function writes its result to, and returns. It has the result's shape, or
# no elements (then it takes that shape), and a dtype of the same kind or a higher one; nothing may
# be recorded. Operators that take a Target write to it at once, others copy their result to it.
cdef int no_out(object out, str op) except -1:
    raise TypeError(f"{op}: out is not a tensor; got {type_name(out)}, expected a Tensor or None")


cdef inline CTarget target_of(object out, str op) except *:
    if out is None:
        return CTarget()
    if not isinstance(out, Tensor):
        no_out(out, op)
    return inplace.out((<Tensor> out).c)


cdef Tensor deliver(CTensor result, object out, str op):
    """Wraps a result, or copies it to `out`."""
    if out is None:
        return wrap(move(result))
    if not isinstance(out, Tensor):
        no_out(out, op)
    ops.write_out(op.encode(), result, (<Tensor> out).c)
    return out


cdef tuple deliver_two(const pair[CTensor, CTensor]& results, object out, str op):
    """The same for two results; `out` is a pair of tensors."""
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError(f"{op}: out is not a pair of tensors; got {type_name(out)}, expected two")
    for x in out:
        if not isinstance(x, Tensor):
            no_out(x, op)
    ops.write_two_out(op.encode(), results, (<Tensor> out[0]).c, (<Tensor> out[1]).c)
    return tuple(out)


def _deliver(Tensor result not None, out, op):
    """What out= does, for operators in Python: the result itself, or `out` with a copy of it."""
    if out is None:
        return result
    return deliver(result.c, out, op)


def _overwrite(Tensor input not None, Tensor result not None, op):
    """What a composed operator does in place: `input` gets the result, if its dtype fits."""
    return overwrite(input, result.c, op)


def _attach(name, function):
    """Makes a Python function a method of Tensor."""
    attach(name, function)
