# Two slots of the classes of modules, which do what Module.__getattr__ and a Module.__call__ in
# Python would do, in a tenth and in half of the time.
#
# Attributes: parameters, sub-modules and buffers lie in three dicts of the module, where Python's
# own lookup doesn't reach.
# Calls: an error on its way out notes the modules it passes, and the outermost gives it their path;
# calls that work keep no list, only count how deep they are.
cdef extern from *:
    """
    static PyObject* zero_member_dicts[3];    // the names "_parameters", "_modules", "_buffers"
    static PyObject* zero_missing_attribute;  // Module.__getattr__

    // A borrowed reference to the parameter, sub-module or buffer; null if there is none (or, with
    // an error set, if its lookup failed).
    static PyObject* zero_find_member(PyObject* module, PyObject* name) {
      PyObject* state = PyObject_GenericGetDict(module, nullptr);
      if (state == nullptr) return nullptr;
      PyObject* found = nullptr;
      for (PyObject* key : zero_member_dicts) {
        PyObject* members = PyDict_GetItemWithError(state, key);
        if (members != nullptr && PyDict_Check(members))
          found = PyDict_GetItemWithError(members, name);
        if (found != nullptr || PyErr_Occurred()) break;
      }
      Py_DECREF(state);
      return found;
    }

    static PyObject* zero_get_module_attribute(PyObject* module, PyObject* name) {
      PyObject* found = _PyObject_GenericGetAttrWithDict(module, name, nullptr, 1);
      if (found != nullptr || PyErr_Occurred()) return found;
      found = zero_find_member(module, name);
      if (found != nullptr) return Py_NewRef(found);
      if (PyErr_Occurred()) return nullptr;
      return PyObject_CallFunctionObjArgs(zero_missing_attribute, module, name, nullptr);
    }

    static int zero_take_module(PyObject* base) {
      const char* names[] = {"_parameters", "_modules", "_buffers"};
      for (int i = 0; i < 3; ++i) {
        zero_member_dicts[i] = PyUnicode_InternFromString(names[i]);
        if (zero_member_dicts[i] == nullptr) return -1;
      }
      zero_missing_attribute = PyObject_GetAttrString(base, "__getattr__");
      return zero_missing_attribute == nullptr ? -1 : 0;
    }

    // A class that is given a __getattr__ or a __call__ later gets Python's slot back.
    static void zero_set_attribute_slot(PyObject* type) {
      reinterpret_cast<PyTypeObject*>(type)->tp_getattro = zero_get_module_attribute;
    }
    static void zero_set_call_slot(PyObject* type, ternaryfunc call) {
      reinterpret_cast<PyTypeObject*>(type)->tp_call = call;
    }

    // module.forward(*args), without an object for the bound method where forward is a function.
    static PyObject* zero_call_forward(PyObject* module, PyObject* name, PyObject* args) {
      enum { kFew = 8 };
      const Py_ssize_t n = PyTuple_GET_SIZE(args);
      PyObject* forward = _PyType_Lookup(Py_TYPE(module), name);
      PyObject* own = nullptr;
      if (forward != nullptr && PyFunction_Check(forward) && n < kFew) {
        PyObject* state = PyObject_GenericGetDict(module, nullptr);
        if (state == nullptr) return nullptr;
        own = PyDict_GetItemWithError(state, name);
        Py_DECREF(state);
        if (own == nullptr && !PyErr_Occurred()) {
          PyObject* stack[kFew] = {module};
          for (Py_ssize_t i = 0; i < n; ++i) stack[i + 1] = PyTuple_GET_ITEM(args, i);
          Py_INCREF(forward);  // it may be replaced while it runs
          PyObject* result = PyObject_Vectorcall(forward, stack, n + 1, nullptr);
          Py_DECREF(forward);
          return result;
        }
        if (own == nullptr) return nullptr;
      }
      PyObject* bound = PyObject_GetAttr(module, name);
      if (bound == nullptr) return nullptr;
      PyObject* result = PyObject_CallObject(bound, args);
      Py_DECREF(bound);
      return result;
    }

    static thread_local int zero_module_depth;
    """
    ctypedef object (*module_call)(object module, PyObject* args, PyObject* kwargs)
    int take_module "zero_take_module"(object base) except -1
    void set_attribute_slot "zero_set_attribute_slot"(object type) noexcept
    void set_call_slot "zero_set_call_slot"(object type, module_call call) noexcept
    object call_forward "zero_call_forward"(object module, object name, object args)
    int module_depth "zero_module_depth"  # of the calls that run on this thread


cdef list held = []  # what the profiler's events point to, beside operators


cdef int64_t begin_held(CSpanKind kind, object what) except -2:
    if not profiles.profiling:
        return -1
    held.append(what)
    return profiles.begin_span(kind, <PyObject*> what, engine.last_sequence_nr())


cdef object module_class = None
cdef object call_hooked = None  # of zero.nn.calls
cdef object name_module = None


cdef object run_module(object module, object args, PyObject* kwargs):
    if module._hooked:
        return call_hooked(module, args, <object> kwargs if kwargs != NULL else {})
    if kwargs == NULL:
        return call_forward(module, "forward", args)
    return module.forward(*args, **<dict> kwargs)


cdef object call_module(object module, PyObject* args, PyObject* kwargs):
    global module_depth
    cdef int64_t span = begin_held(CSpanKind.Module, module) if profiles.profiling else -1
    module_depth += 1
    try:
        return run_module(module, <object> args, kwargs)
    except Exception as error:
        name_module(error, module, module_depth == 1)
        raise
    finally:
        module_depth -= 1
        if span >= 0:
            profiles.end_span(span, engine.last_sequence_nr())


def _call_module(module, tuple args not None, dict kwargs not None):
    """Module.__call__: forward() between hooks.

    Args:
        module: the module.
        args: for forward().
        kwargs: for forward().
    """
    return call_module(module, <PyObject*> args, <PyObject*> kwargs)


def _quick_slots(type module not None):
    """Gives a subclass of Module members that are found, and calls that go, without running Python.

    A class with another ``__getattr__`` or ``__call__`` than Module's keeps it. The first class
    given is Module itself. (Setting attributes has no such way: ``object.__setattr__`` refuses
    classes with a slot of their own.)

    Args:
        module: the class.
    """
    global module_class, call_hooked, name_module
    if module_class is None:
        from zero.nn.calls import call_hooked, name_module
        take_module(module)
        module_class = module
    if (module.__getattr__ is module_class.__getattr__
            and module.__getattribute__ is object.__getattribute__):
        set_attribute_slot(module)
    if module.__call__ is module_class.__call__:
        set_call_slot(module, call_module)


cdef extern from *:
    """
    // The class of an object that Python does not let be changed: one of the two is no heap type.
    // False unless one is a base of the other and none adds anything to the object.
    static bool zero_set_class(PyObject* o, PyObject* other) {
      auto* to = reinterpret_cast<PyTypeObject*>(other);
      PyTypeObject* from = Py_TYPE(o);
      if (!(PyType_IsSubtype(from, to) || PyType_IsSubtype(to, from)) ||
          from->tp_basicsize != to->tp_basicsize || from->tp_dictoffset != to->tp_dictoffset) {
        return false;
      }
      if (to->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_INCREF(other);
      Py_SET_TYPE(o, to);
      if (from->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_DECREF(from);
      return true;
    }
    """
    bint set_class "zero_set_class"(object o, object other) noexcept


def _become(Tensor tensor not None, type other not None):
    """Makes a tensor an object of a base of its class, or back: what a lazy parameter does.

    Args:
        tensor: of a class that Python code defines, or of Tensor or Parameter.
        other: a class that it is derived from, or that is derived from it.
    """
    if not issubclass(other, Tensor) or not set_class(tensor, other):
        raise TypeError(f"_become: {type_name(tensor)} cannot become a {other.__name__}, expected "
                        "a base of its class, or a class derived from it, with nothing added")
