# Python's classes for C++ exceptions.
cdef extern from *:
    """
    // What setup.py puts in the place of the line number alone.
    static int zero_traceback_key(const char* file, int line) {
      unsigned hash = 2166136261u;
      for (; *file != 0; ++file) hash = (hash ^ (unsigned char)*file) * 16777619u;
      return (int)((hash << 12 | (unsigned)line) & 0x7fffffffu);
    }
    """

from zero import errors as _errors

cdef object ShapeError = _errors.ShapeError
cdef object DTypeError = _errors.DTypeError
cdef object ZeroValueError = _errors.ValueError
cdef object ZeroIndexError = _errors.IndexError

error_classes.shape = <PyObject*> ShapeError
error_classes.value = <PyObject*> ZeroValueError
error_classes.dtype = <PyObject*> DTypeError
error_classes.index = <PyObject*> ZeroIndexError
error_classes.memory = <PyObject*> _errors.OutOfMemoryError


cdef str type_name(object x):
    """The name of a value's type for error messages."""
    return type(x).__name__
