from zero._cpp.error cimport raise_error
from zero._cpp.tensor cimport CTensor

# The core lets the interpreter's lock go by itself when work is large; bindings never do.
cdef extern from *:
    """
    #include "zero/runtime/blocking.h"
    #include <chrono>
    #include <thread>

    // A thread that Python does not know, or that holds no lock, has nothing to let go.
    static void* zero_release_lock() {
      return PyGILState_Check() ? static_cast<void*>(PyEval_SaveThread()) : nullptr;
    }
    static void zero_acquire_lock(void* state) {
      try {
        PyEval_RestoreThread(static_cast<PyThreadState*>(state));
      } catch (...) {
        // Up to 3.13 Python ends a thread that asks for the lock while the interpreter shuts down,
        // which glibc does by an exception. Destructors must not run without the lock, so the
        // thread stays here until the process ends, as from 3.14 on.
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
      }
    }
    static void zero_set_blocking_hook() {
      zero::set_blocking_hook({zero_release_lock, zero_acquire_lock});
    }
    """
    void set_blocking_hook "zero_set_blocking_hook"() noexcept

cdef extern from "zero/runtime/blocking.h" namespace "zero":
    void keep_while_blocking(const CTensor& t) except +raise_error
