# Attributes of modules. Parameters, sub-modules and buffers lie in three dicts of the module, where
# Python's own lookup doesn't reach; going there by way of an error and a Python function takes ten
# times as long as this slot, which does the same.
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

    // A class that is given a __getattr__ later gets Python's slot back.
    static void zero_set_attribute_slot(PyObject* type) {
      reinterpret_cast<PyTypeObject*>(type)->tp_getattro = zero_get_module_attribute;
    }
    """
    int take_module "zero_take_module"(object base) except -1
    void set_attribute_slot "zero_set_attribute_slot"(object type) noexcept


cdef object module_class = None


def _quick_attributes(type module not None):
    """Gives a subclass of Module members that are found without running Python.

    A class with another ``__getattr__`` than Module's is left as it is. The first class given is
    Module itself. (Setting attributes has no such way: ``object.__setattr__`` refuses classes with
    a slot of their own.)

    Args:
        module: the class.
    """
    global module_class
    if module_class is None:
        take_module(module)
        module_class = module
    if (module.__getattr__ is module_class.__getattr__
            and module.__getattribute__ is object.__getattribute__):
        set_attribute_slot(module)
