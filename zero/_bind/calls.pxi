# Errors of argument types. Cython checks the declared types (`Tensor input not None`) on the way
# into a function and names the argument only. Every function is therefore entered by way of a guard
# that lets explain_error() say which operation it was; a call that works pays one jump for it.
# What Cython does not check is the `self` of methods in the body of a cdef class, when they are
# called by way of the class: Tensor.__array__("a"). Their guard does. A call that fails because it
# has NumPy's name of an argument (axis=) is made again with PyTorch's.
cdef extern from *:
    """
    #include <unordered_map>

    // The functions' own entries: Cython has a few, by the number of arguments they take.
    constexpr int zero_max_entries = 6;
    static vectorcallfunc zero_entries[zero_max_entries];
    static PyObject* (*zero_explain_error)(PyObject* function, PyObject* error);
    static PyObject* (*zero_rename)(PyObject* function, PyObject* error, PyObject* names);

    template <int K>
    static PyObject* zero_guarded(PyObject* f, PyObject* const* args, size_t n, PyObject* names) {
      PyObject* result = zero_entries[K](f, args, n, names);
      if (result != nullptr || PyErr_Occurred() != PyExc_TypeError) return result;
      PyObject *type, *error, *traceback;
      PyErr_Fetch(&type, &error, &traceback);
      PyErr_NormalizeException(&type, &error, &traceback);
      PyObject* renamed = names == nullptr ? nullptr : zero_rename(f, error, names);
      if (renamed != nullptr && renamed != Py_None) {
        Py_DECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
        result = zero_guarded<K>(f, args, n, renamed);  // no second time: no name is left
        Py_DECREF(renamed);
        return result;
      }
      Py_XDECREF(renamed);
      PyObject* text = zero_explain_error(f, error);
      if (text == nullptr) PyErr_Clear();
      if (text == nullptr || text == Py_None) {
        Py_XDECREF(text);
        PyErr_Restore(type, error, traceback);
        return nullptr;
      }
      PyErr_SetObject(PyExc_TypeError, text);
      Py_DECREF(text);
      Py_XDECREF(type);
      Py_XDECREF(error);
      Py_XDECREF(traceback);
      return nullptr;
    }

    static std::unordered_map<PyObject*, PyTypeObject*>& zero_owners() {
      static auto* owners = new std::unordered_map<PyObject*, PyTypeObject*>;
      return *owners;
    }
    template <int K>
    static PyObject* zero_guarded_method(PyObject* f, PyObject* const* args, size_t n,
                                         PyObject* names) {
      PyTypeObject* owner = zero_owners().find(f)->second;
      if (PyVectorcall_NARGS(n) == 0 || PyObject_TypeCheck(args[0], owner))
        return zero_guarded<K>(f, args, n, names);
      PyObject* name = PyObject_GetAttrString(f, "__name__");
      if (name == nullptr) return nullptr;
      const char* point = strrchr(owner->tp_name, '.');
      const char* wanted = point ? point + 1 : owner->tp_name;
      PyErr_Format(PyExc_TypeError, "%U: self is not a %s; got %s, expected a %s", name, wanted,
                   Py_TYPE(args[0])->tp_name, wanted);
      Py_DECREF(name);
      return nullptr;
    }

    #define ZERO_GUARDS(guard) {guard<0>, guard<1>, guard<2>, guard<3>, guard<4>, guard<5>}
    static constexpr vectorcallfunc zero_guards[] = ZERO_GUARDS(zero_guarded);
    static constexpr vectorcallfunc zero_method_guards[] = ZERO_GUARDS(zero_guarded_method);

    // Where a function keeps its entry, which is null if it takes no vectorcalls.
    static vectorcallfunc* zero_entry_of(PyObject* f) {
      PyTypeObject* type = Py_TYPE(f);
      if (!PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL) || type->tp_vectorcall_offset <= 0)
        return nullptr;
      return reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(f) +
                                               type->tp_vectorcall_offset);
    }

    // Replaces the entry of a function that was not met before. `owner` is the class whose
    // instances the first argument must be, or None.
    static void zero_guard(PyObject* f, PyObject* owner) {
      vectorcallfunc* entry = zero_entry_of(f);
      if (entry == nullptr || *entry == nullptr) return;
      for (int k = 0; k < zero_max_entries; ++k) {
        if (*entry == zero_guards[k] || *entry == zero_method_guards[k]) return;
        if (zero_entries[k] == nullptr) zero_entries[k] = *entry;
        if (zero_entries[k] != *entry) continue;
        *entry = owner == Py_None ? zero_guards[k] : zero_method_guards[k];
        if (owner != Py_None) zero_owners()[f] = reinterpret_cast<PyTypeObject*>(owner);
        return;
      }
    }
    """
    void guard "zero_guard"(object f, object owner) noexcept
    PyObject* (*explain_hook "zero_explain_error")(PyObject*, PyObject*) noexcept
    PyObject* (*rename_hook "zero_rename")(PyObject*, PyObject*, PyObject*) noexcept


cdef object explained(object function, object error):
    """A text of ours for an error of Cython's; None for others."""
    import re
    # The type expected and the one that came; or None, where that is not one of the choices.
    found = re.fullmatch(r"Argument '(\w+)' (?:must not be None|has incorrect type "
                         r"\(expected (?:\w+\.)*(\w+), got (?:\w+\.)*(\w+)\))", str(error))
    if found is None:
        return None
    name, expected, got = found.groups("NoneType")
    if expected == "NoneType":
        expected = "Tensor"
    return f"{function.__name__}: {name} is not a {expected}; got {got}, expected a {expected}"


cdef PyObject* explain_error(PyObject* function, PyObject* error) noexcept:
    try:
        text = explained(<object> function, <object> error)
    except Exception:
        return NULL
    Py_INCREF(text)
    return <PyObject*> text


# NumPy's names of arguments, which PyTorch takes for its own, too.
cdef dict numpy_argument_names = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input",
                                  "x1": "input", "x2": "other"}


cdef object renamed(object function, object error, tuple names):
    """The names of a call's arguments with NumPy's replaced; None where they are not to blame."""
    cdef str text = str(error)
    if not text.startswith(function.__name__ + "() ") or not ("unexpected keyword" in text or
                                                              "positional argument" in text):
        return None
    found = tuple([numpy_argument_names.get(name, name) for name in names])
    return None if found == names or len(set(found)) < len(found) else found


cdef PyObject* rename_arguments(PyObject* function, PyObject* error, PyObject* names) noexcept:
    try:
        found = renamed(<object> function, <object> error, <tuple> names)
    except Exception:
        return NULL
    Py_INCREF(found)
    return <PyObject*> found


cdef long python_class = 1 << 9  # Py_TPFLAGS_HEAPTYPE


cdef int guard_calls(dict names) except -1:
    """Guards all functions of the module and of its classes."""
    cdef object value
    global explain_hook
    for value in list(names.values()):
        if isinstance(value, type(add)):
            guard(value, None)
        elif isinstance(value, type) and value.__module__.partition(".")[0] == "zero":
            for method in list(value.__dict__.values()):
                if isinstance(method, type(add)):
                    checked = method in attached or value.__flags__ & python_class
                    guard(method, None if checked else value)
    return 0


explain_hook = explain_error
rename_hook = rename_arguments
guard_calls(globals())
