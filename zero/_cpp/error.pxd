# The one exception handler: every extern function that may throw says `except +raise_error`.
from cpython.object cimport PyObject

cdef extern from *:
    """
    #include "zero/core/error.h"
    #include <memory>
    #include <new>

    // A Python exception on its way through C++, kept aside: destructors may run Python code.
    struct ZeroPythonError : std::exception {
      static ZeroPythonError fetch() {
        ZeroPythonError e;
        PyErr_Fetch(&e.held_->type, &e.held_->value, &e.held_->traceback);
        return e;
      }
      void restore() const {
        PyErr_Restore(held_->type, held_->value, held_->traceback);
        *held_ = Held();
      }
      const char* what() const noexcept override { return "a Python exception"; }

     private:
      struct Held {
        PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
      };
      std::shared_ptr<Held> held_ = std::make_shared<Held>();
    };

    // Python's classes for the core's exceptions, set when the module starts
    // (zero/_bind/errors.pxi).
    struct ZeroErrorClasses {
      PyObject *shape, *value, *dtype, *index, *memory;
    };
    static ZeroErrorClasses zero_error_classes;

    // Translates the exception in flight; the most derived class comes first.
    static void raise_error() {
      if (PyErr_Occurred()) return;  // a callback's own error says more than ours
      try {
        throw;
      } catch (const ZeroPythonError& e) {
        e.restore();
      } catch (const zero::ShapeError& e) {
        PyErr_SetString(zero_error_classes.shape, e.what());
      } catch (const zero::ValueError& e) {
        PyErr_SetString(zero_error_classes.value, e.what());
      } catch (const zero::DTypeError& e) {
        PyErr_SetString(zero_error_classes.dtype, e.what());
      } catch (const zero::IndexError& e) {
        PyErr_SetString(zero_error_classes.index, e.what());
      } catch (const zero::NotImplementedError& e) {
        PyErr_SetString(PyExc_NotImplementedError, e.what());
      } catch (const zero::OutOfMemoryError& e) {
        PyErr_SetString(zero_error_classes.memory, e.what());
      } catch (const std::bad_alloc&) {
        PyErr_SetString(zero_error_classes.memory, "out of memory");
      } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
      } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
      }
    }
    """
    void raise_error()

    struct ErrorClasses "ZeroErrorClasses":
        PyObject* shape
        PyObject* value
        PyObject* dtype
        PyObject* index
        PyObject* memory

    ErrorClasses error_classes "zero_error_classes"
