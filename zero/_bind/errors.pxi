# Python's classes for C++ exceptions.
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
