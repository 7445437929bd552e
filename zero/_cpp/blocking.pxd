# The core lets the interpreter's lock go by itself when work is large; bindings never do.
cdef extern from *:
    """
    #include "zero/runtime/blocking.h"

    // A thread that Python does not know, or that holds no lock, has nothing to let go.
    static void* zero_release_lock() {
      return PyGILState_Check() ? static_cast<void*>(PyEval_SaveThread()) : nullptr;
    }
    static void zero_acquire_lock(void* state) {
      PyEval_RestoreThread(static_cast<PyThreadState*>(state));
    }
    static void zero_set_blocking_hook() {
      zero::set_blocking_hook({zero_release_lock, zero_acquire_lock});
    }
    """
    void set_blocking_hook "zero_set_blocking_hook"() noexcept
