"""The exceptions of zero.

Each derives from RuntimeError, which code written for PyTorch catches, and from the class that code
written for Python or NumPy catches. They shadow two built-in names, so use them as
``zero.errors.IndexError``.
"""

import builtins

__all__ = [
    "DTypeError",
    "Error",
    "IndexError",
    "LinAlgError",
    "OutOfMemoryError",
    "ShapeError",
    "ValueError",
]

Error = RuntimeError


class ShapeError(builtins.ValueError, RuntimeError):
    """Sizes that do not fit each other or the operation."""


class ValueError(builtins.ValueError, RuntimeError):
    """An argument of the right type whose value is not allowed."""


class DTypeError(TypeError, RuntimeError):
    """A dtype, or the type of an argument, that the operation does not take."""


class IndexError(builtins.IndexError, RuntimeError):
    """An index or a dimension out of range."""


class LinAlgError(builtins.ValueError, RuntimeError):
    """A matrix without what was asked for, such as the inverse of a singular one."""


class OutOfMemoryError(MemoryError, RuntimeError):
    """The system refused the memory that was asked for."""
