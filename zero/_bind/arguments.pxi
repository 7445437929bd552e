# Python arguments -> C++ values. Errors name the operation and the argument.
from cpython.bool cimport PyBool_Check
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_Check
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object x, int* overflow) except? -1
    bint PyIndex_Check(object x)


cdef int64_t int64_of(object x, str op, str name) except? -1:
    """A Python int as int64."""
    cdef int overflow = 0
    cdef long long v = PyLong_AsLongLongAndOverflow(x, &overflow)
    if overflow:
        raise ZeroValueError(f"{op}: {name} does not fit in 64 bits; got {short_repr(x)}, expected "
                             "-2**63 to 2**63 - 1")
    return v


cdef str short_repr(object x):
    cdef str text
    if PyLong_Check(x) and x.bit_length() > 200:
        return f"an int of {x.bit_length()} bits"
    try:
        text = repr(x)
    except Exception:  # an object's own fault, or one that is nested too deeply
        return "something"
    return text if len(text) <= 80 else text[:77] + "..."


cdef bint stands_for_int(object x) except -1:
    """Of what has __index__: tensors and numpy's arrays do only with one integer."""
    cdef CDType dtype
    if isinstance(x, Tensor):
        dtype = (<Tensor> x).c.dtype()
        return (<Tensor> x).c.numel() == 1 and dtype != CDType.Bool and not is_floating(dtype)
    return getattr(x, "shape", ()) == () and getattr(getattr(x, "dtype", None), "kind", "i") in "iu"


cdef int64_t as_int(object x, str op, str name) except? -1:
    """An int, or what can stand for one: a numpy integer, a tensor with one integer."""
    if PyLong_Check(x):
        return int64_of(x, op, name)
    if PyIndex_Check(x) and stands_for_int(x):
        return int64_of(x.__index__(), op, name)
    raise TypeError(f"{op}: {name} is not an int; got {short_repr(x)} of type {type_name(x)}, "
                    "expected an int")


cdef double as_float(object x, str op, str name) except? -1:
    """A float, or what can stand for one."""
    if PyFloat_Check(x):
        return PyFloat_AS_DOUBLE(x)
    many = isinstance(x, Tensor) and (<Tensor> x).c.numel() != 1
    if PyLong_Check(x) or (hasattr(x, "__float__") and not isinstance(x, str) and not many):
        return x.__float__()
    raise TypeError(f"{op}: {name} is not a number; got {short_repr(x)} of type {type_name(x)}, "
                    "expected a float")


cdef cbool flag_of(object x, str op, str name) except *:
    """A bool, not what merely counts as true."""
    if x is True or x is False:
        return x is True
    raise TypeError(f"{op}: {name} is not a bool; got {short_repr(x)} of type {type_name(x)}, "
                    "expected True or False")


cdef bint number_of(object x, CScalar* out, str op, str name) except -1:
    """Whether x is a Python or numpy number; then *out is its value."""
    if PyFloat_Check(x):  # numpy.float64 is one
        out[0] = CScalar(<double> PyFloat_AS_DOUBLE(x))
        return True
    if PyBool_Check(x):
        out[0] = CScalar(<cbool> (x is True))
        return True
    if PyLong_Check(x):
        out[0] = CScalar(int64_of(x, op, name))
        return True
    return numpy_number_of(x, out, op, name)


cdef bint numpy_number_of(object x, CScalar* out, str op, str name) except -1:
    """numpy's scalars and its arrays without dimensions, recognised without importing numpy."""
    if isinstance(x, (Tensor, str, bytes)):
        return False
    dtype = getattr(x, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind is None or getattr(x, "shape", None) != ():
        return False
    if kind == "f" or kind == "V":  # V: bfloat16 of ml_dtypes
        out[0] = CScalar(<double> x.__float__())
    elif kind == "b":
        out[0] = CScalar(<cbool> (x.__bool__()))
    elif kind == "i" or kind == "u":
        out[0] = CScalar(int64_of(x.__int__(), op, name))
    else:
        return False
    return True


cdef CScalar as_scalar(object x, str op, str name) except *:
    """A number; a tensor with one element gives its value, as in PyTorch."""
    cdef CScalar result
    if number_of(x, &result, op, name):
        return result
    if isinstance(x, Tensor) and (<Tensor> x).c.dim() == 0:
        return ops.item((<Tensor> x).c)
    raise TypeError(f"{op}: {name} is not a number; got {short_repr(x)} of type {type_name(x)}, "
                    "expected a bool, int or float")


cdef COperand as_operand(object x, str op, str name) except *:
    """A tensor (borrowed: keep x alive) or a number."""
    cdef CScalar number
    if isinstance(x, Tensor):
        return COperand((<Tensor> x).c)
    if number_of(x, &number, op, name):
        return COperand(number)
    raise TypeError(f"{op}: {name} is neither a tensor nor a number; got {short_repr(x)} of type "
                    f"{type_name(x)}, expected a Tensor, bool, int or float")


cdef bint operand_of(object x, COperand* out) except -1:
    """The same for operators: False where x is neither, so that Python can ask the other side."""
    cdef CScalar number
    if isinstance(x, Tensor):
        out[0] = COperand((<Tensor> x).c)
        return True
    if number_of(x, &number, "operator", "the number"):
        out[0] = COperand(number)
        return True
    return False


cdef CDims as_dims(object args, str op) except *:
    """Sizes or dimensions: an int, a sequence of ints, or the *args of a call with either."""
    cdef CDims result
    cdef object item
    if isinstance(args, tuple) and PyTuple_GET_SIZE(args) == 1:
        item = <object> PyTuple_GET_ITEM(args, 0)
        if isinstance(item, (tuple, list)):
            args = item
    if isinstance(args, (tuple, list)):
        for item in args:
            result.push_back(as_int(item, op, "a size or dimension"))
        return result
    if PyIndex_Check(args):
        result.push_back(as_int(args, op, "a size or dimension"))
        return result
    raise TypeError(f"{op}: sizes or dimensions are not ints; got {short_repr(args)} of type "
                    f"{type_name(args)}, expected an int or a tuple of ints")


cdef CTensors as_tensors(object sequence, str op, str name) except *:
    """A list or tuple of tensors."""
    cdef CTensors result
    cdef Py_ssize_t i = 0
    if isinstance(sequence, Tensor) or not isinstance(sequence, (tuple, list)):
        raise TypeError(f"{op}: {name} is not a sequence of tensors; got {type_name(sequence)}, "
                        "expected a list or tuple of tensors")
    for item in sequence:
        if not isinstance(item, Tensor):
            raise TypeError(f"{op}: {name}[{i}] is not a tensor; got {type_name(item)}, expected a "
                            "Tensor")
        result.push_back((<Tensor> item).c)
        i += 1
    return result


cdef CGenerator* as_generator(object x, str op) except? NULL:
    """A generator; null, the default one, for None."""
    if x is None:
        return NULL
    if isinstance(x, Generator):
        return (<Generator> x).generator
    raise TypeError(f"{op}: generator is not a generator; got {type_name(x)}, expected a "
                    "zero.Generator or None")
