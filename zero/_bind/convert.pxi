# Python values -> one contiguous buffer, and tensors -> nested lists.
from cpython.float cimport PyFloat_CheckExact, PyFloat_FromDouble
from cpython.list cimport PyList_New
from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport Py_INCREF

cdef extern from "Python.h":
    PyObject** PySequence_Fast_ITEMS(object x)
    Py_ssize_t PySequence_Fast_GET_SIZE(object x)
    void PyList_SET_ITEM(object x, Py_ssize_t i, object item)
    bint PySequence_Check(object x)
    PyObject* Py_True
    PyObject* Py_False
    # On borrowed items, which the loops below do not count.
    bint is_float "PyFloat_CheckExact"(PyObject* x) noexcept
    bint is_int "PyLong_CheckExact"(PyObject* x) noexcept
    double float_value "PyFloat_AS_DOUBLE"(PyObject* x) noexcept
    long long int_value "PyLong_AsLongLongAndOverflow"(PyObject* x, int* overflow) noexcept

cdef enum:
    MAX_DEPTH = 64

ctypedef fused Real:
    float
    double


# One innermost list, from item `i` on, for as long as the items are plain numbers that need no
# conversion which could fail. Returns where it stopped.
cdef Py_ssize_t read_reals(PyObject** items, Py_ssize_t i, Py_ssize_t n, Real* out) noexcept:
    cdef PyObject* x
    cdef int overflow = 0
    while i < n:
        x = items[i]
        if is_float(x):
            out[i] = <Real> float_value(x)
        elif is_int(x):
            out[i] = <Real> int_value(x, &overflow)
            if overflow:
                break
        elif x == Py_True or x == Py_False:
            out[i] = x == Py_True
        else:
            break
        i += 1
    return i


cdef Py_ssize_t read_ints(PyObject** items, Py_ssize_t i, Py_ssize_t n, int64_t low, int64_t high,
                          int64_t* out) noexcept:
    cdef PyObject* x
    cdef int overflow = 0
    while i < n:
        x = items[i]
        if is_int(x):
            out[i] = int_value(x, &overflow)
            if overflow or out[i] < low or out[i] > high:
                break
        elif x == Py_True or x == Py_False:
            out[i] = x == Py_True
        else:
            break
        i += 1
    return i


cdef Py_ssize_t read_bools(PyObject** items, Py_ssize_t i, Py_ssize_t n, cbool* out) noexcept:
    while i < n:
        if items[i] != Py_True and items[i] != Py_False:
            break
        out[i] = items[i] == Py_True
        i += 1
    return i


cdef CDType buffer_dtype(CDType t) noexcept:
    """What a list is read as before it becomes `t`."""
    if t == CDType.Bool or t == CDType.Float64:
        return t
    return CDType.Float32 if is_floating(t) else CDType.Int64


cdef object as_container(object x):
    """A list, tuple or Tensor of what x contains; None if x is no container."""
    if isinstance(x, (list, tuple, Tensor)):
        return x
    if isinstance(x, (int, float, str, bytes, dict)) or x is None:
        return None
    if isinstance(x, range):
        return list(x)
    if has_array(x):
        return tensor_of_array(x, True)
    # an array without dimensions is a number
    if PySequence_Check(x) and getattr(x, "shape", None) != ():
        return list(x)
    return None


cdef str with_article(str name):
    return ("an " if name.startswith(("a", "e", "i", "o", "u")) else "a ") + name


cdef bint is_one_number(object x) noexcept:
    """Whether x is a tensor with one element, which in a list is a number, as in PyTorch."""
    return isinstance(x, Tensor) and (<Tensor> x).c.numel() == 1


cdef class ListReader:
    """Checks that nested sequences are regular and writes their numbers into one buffer."""
    cdef CDims shape
    cdef CTensor buffer
    cdef char* data
    cdef int64_t done           # numbers written
    cdef CDType dtype           # of the result; while it is inferred, of what was read so far
    cdef CDType found           # the dtype of the number in hand
    cdef bint infer
    cdef int64_t low, high      # what an int may be
    cdef int64_t[MAX_DEPTH] path

    cdef CTensor read(self, object data, object dtype, CDevice device) except *:
        cdef object first = self.measure(data)
        self.infer = dtype is None
        self.low = -0x7FFFFFFFFFFFFFFF - 1
        self.high = 0x7FFFFFFFFFFFFFFF
        if not self.infer:
            self.dtype = as_dtype(dtype, "tensor")
            self.limit()
        elif first is None:
            self.dtype = CTensorOptions().dtype
        else:
            self.dtype = CDType.Bool  # the smallest
            if PyFloat_CheckExact(first):
                self.dtype = CTensorOptions().dtype
            elif PyLong_CheckExact(first):
                self.dtype = CDType.Int64
        # Starts again whenever a number asks for a larger dtype.
        while True:
            self.allocate()
            if self.fill(data, 0) == 0:
                break
        return ops.to(self.buffer, self.dtype, device, False)

    cdef int limit(self) except -1:
        cdef int bits
        if self.dtype == CDType.Int64 or is_floating(self.dtype) or self.dtype == CDType.Bool:
            return 0
        bits = 8 * <int> itemsize(self.dtype)
        self.high = (<int64_t> 1 << (bits - 1)) - 1
        self.low = -self.high - 1
        if self.dtype == CDType.UInt8:  # negative ones count from 256 down, as in PyTorch
            self.high = 255
            self.low = -255
        return 0

    cdef int allocate(self) except -1:
        cdef CTensorOptions options
        options.dtype = buffer_dtype(self.dtype)
        self.buffer = core.empty(self.shape, options)
        self.data = <char*> self.buffer.data()
        self.done = 0
        return 0

    cdef object measure(self, object x):
        """Follows the first items down for the shape; returns the first number, Tensor or None."""
        cdef object items
        cdef int64_t i
        while True:
            items = as_container(x)
            if items is None or is_one_number(x):
                return x
            if isinstance(items, Tensor):
                for i in range((<Tensor> items).c.dim()):
                    self.shape.push_back((<Tensor> items).c.sizes()[i])
                if self.shape.size() > MAX_DEPTH:
                    self.too_deep()
                return items
            if self.shape.size() == MAX_DEPTH:
                self.too_deep()
            self.shape.push_back(len(items))
            if not items:
                return None
            x = items[0]

    cdef int too_deep(self) except -1:
        raise ShapeError(f"tensor: the list is nested too deeply; got more than {MAX_DEPTH} "
                         "levels, expected at most "
                         f"{MAX_DEPTH}; does it contain itself?")

    cdef str place(self, int depth):
        return "".join([f"[{self.path[i]}]" for i in range(depth)])

    cdef int ragged(self, str got, int depth) except -1:
        """Raises: what is at self.path[:depth] differs from the first of its level."""
        cdef str expected = "a number"
        if depth < self.shape.size():
            expected = str(self.shape[depth])
            if not got.startswith("length"):
                expected = "length " + expected
        raise ShapeError(f"tensor: ragged list; got {got} at {self.place(depth)}, expected "
                         f"{expected} as at {'[0]' * depth}")

    cdef int fill(self, object x, int depth) except -1:
        """Reads what is at self.path[:depth]; 1 if reading must start again."""
        cdef object items = x
        cdef Py_ssize_t i, n
        cdef int again
        if type(x) is not list and type(x) is not tuple:
            items = as_container(x)
        if items is None:
            if depth < self.shape.size():
                self.check_number(x, depth)
                self.ragged(with_article(type_name(x)), depth)
            return self.leaf(x, depth)
        if isinstance(items, Tensor):
            if depth == self.shape.size() and is_one_number(x):
                items = wrap(ops.reshape(inplace.detach((<Tensor> x).c), CDims()))
            return self.block(items, depth)
        n = len(items)
        if depth == self.shape.size() or n != self.shape[depth]:
            self.ragged(f"length {n}" if depth < self.shape.size() else f"a list of length {n}",
                        depth)
        if depth + 1 == self.shape.size():
            return self.leaves(items, n, depth)
        for i in range(n):
            self.path[depth] = i
            again = self.fill(items[i], depth + 1)
            if again:
                return again
        return 0

    cdef int leaves(self, object items, Py_ssize_t n, int depth) except -1:
        cdef Py_ssize_t i = 0
        cdef CDType buffer = self.buffer.dtype()
        cdef PyObject** pointers
        cdef int again
        while True:
            if PySequence_Fast_GET_SIZE(items) != n:  # also where a subclass has its own __len__
                raise RuntimeError(f"tensor: the list at {self.place(depth)} changed its length "
                                   "while it was read")
            pointers = PySequence_Fast_ITEMS(items)
            # The functions index from the start of the list.
            if buffer == CDType.Float32:
                i = read_reals(pointers, i, n, <float*> self.data + self.done)
            elif buffer == CDType.Float64:
                i = read_reals(pointers, i, n, <double*> self.data + self.done)
            elif buffer == CDType.Int64:
                i = read_ints(pointers, i, n, self.low, self.high, <int64_t*> self.data + self.done)
            else:
                i = read_bools(pointers, i, n, <cbool*> self.data + self.done)
            if i >= n:
                break
            self.path[depth] = i
            self.done += i
            again = self.fill(items[i], depth + 1)
            if again:
                return again
            i += 1
            self.done -= i
        self.done += n
        return 0

    cdef int leaf(self, object x, int depth) except -1:
        """One number of any kind."""
        cdef CScalar value
        cdef CDType before = self.dtype
        cdef CDType buffer = self.buffer.dtype()
        cdef double real
        cdef int64_t whole
        self.check_number(x, depth)
        try:
            self.number(x, &value)
        except OverflowError:
            raise ZeroValueError(f"tensor: an int is too large; got "
                                 f"{short_repr(x)}{self.at(depth)}, expected one that fits in "
                                 f"{dtype_object(self.dtype)!r}") from None
        if self.infer:
            self.dtype = promote(before, self.found)
            if buffer_dtype(self.dtype) != buffer:
                return 1
        if buffer == CDType.Bool:
            (<cbool*> self.data)[self.done] = value.to_bool()
        elif buffer == CDType.Int64:
            real = value.to_double()
            if value.is_float() and not -9223372036854775808.0 <= real < 9223372036854775808.0:
                self.overflow(x, depth)  # nan, too
            whole = value.to_int()
            if whole < self.low or whole > self.high:
                self.overflow(x, depth)
            (<int64_t*> self.data)[self.done] = whole
        elif buffer == CDType.Float32:
            (<float*> self.data)[self.done] = <float> value.to_double()
        else:
            (<double*> self.data)[self.done] = value.to_double()
        self.done += 1
        return 0

    cdef str at(self, int depth):
        return " at " + self.place(depth) if depth else ""

    cdef int overflow(self, object x, int depth) except -1:
        raise ZeroValueError(f"tensor: a number does not fit the dtype; got "
                             f"{short_repr(x)}{self.at(depth)}, expected one that fits in "
                             f"{dtype_object(self.dtype)!r}")

    cdef int check_number(self, object x, int depth) except -1:
        cdef object kind = getattr(getattr(x, "dtype", None), "kind", "?")
        if isinstance(x, (float, int)) or kind in "fbiuV":
            return 0
        if not isinstance(x, (str, bytes)) and (hasattr(x, "__float__") or hasattr(x, "__index__")):
            return 0
        raise TypeError(f"tensor: not a number; got {short_repr(x)} of type "
                        f"{type_name(x)}{self.at(depth)}, expected a bool, int, float, or nested "
                        "sequences of them")

    cdef bint number(self, object x, CScalar* value) except -1:
        """The value of a number and in self.found its dtype. OverflowError if it fits no C type."""
        cdef int overflow = 0
        cdef long long whole
        cdef object exact
        if PyBool_Check(x):
            self.found = CDType.Bool
            value[0] = CScalar(<cbool> (x is True))
            return True
        if PyFloat_CheckExact(x):
            self.found = CTensorOptions().dtype
            value[0] = CScalar(<double> PyFloat_AS_DOUBLE(x))
            return True
        if not PyLong_Check(x) and numpy_number_of(x, value, "tensor", "a number"):
            self.found = dtype_of_array(x)
            return True
        if PyFloat_Check(x) or (not PyLong_Check(x) and not PyIndex_Check(x)):
            self.found = CTensorOptions().dtype
            if not hasattr(x, "__float__"):
                return False
            value[0] = CScalar(<double> (x.__float__()))
            return True
        self.found = CDType.Int64
        exact = x if PyLong_Check(x) else x.__index__()
        whole = PyLong_AsLongLongAndOverflow(exact, &overflow)
        if overflow:
            if not is_floating(self.dtype):
                raise OverflowError
            value[0] = CScalar(<double> exact)
        else:
            value[0] = CScalar(<int64_t> whole)
        return True

    cdef int block(self, Tensor x, int depth) except -1:
        """A tensor or array at self.path[:depth]."""
        cdef CDims rest
        cdef int64_t i
        for i in range(depth, self.shape.size()):
            rest.push_back(self.shape[i])
        if not rest == x.c.sizes():
            raise ShapeError(f"tensor: ragged list; got a tensor of shape "
                             f"{tuple_of(x.c.sizes())}{self.at(depth)}, expected "
                             f"{f'shape {tuple_of(rest)}' if rest.size() else 'a number'} as at "
                             f"{'[0]' * depth}")
        if self.infer:
            self.dtype = promote(self.dtype, x.c.dtype())
            if buffer_dtype(self.dtype) != self.buffer.dtype():
                return 1
        ops.copy_(core.alias(b"tensor", self.buffer, rest, shapes.contiguous_strides(rest),
                             self.done),
                  inplace.detach(x.c))
        self.done += x.c.numel()
        return 0


cdef CTensor tensor_from(object data, object dtype, CDevice device, bint copy) except *:
    """What tensor() and as_tensor() make of a value; without `copy` memory may be shared."""
    cdef Tensor x
    if not isinstance(data, (list, tuple, int, float)):
        if isinstance(data, Tensor):
            x = data
        else:
            x = tensor_of_array(data, copy) if has_array(data) else None
        if x is not None:
            return ops.to(inplace.detach(x.c) if copy else x.c,
                          x.c.dtype() if dtype is None else as_dtype(dtype, "tensor"), device, copy)
    return (<ListReader> ListReader.__new__(ListReader)).read(data, dtype, device)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """Makes a new tensor that holds a copy of data.

    Args:
        data: a number, nested lists or other sequences of numbers, arrays and tensors, an array, a
            tensor. In a list a tensor with one element is a number, whatever its shape, as in
            PyTorch; larger ones are stacked, which PyTorch refuses.
        dtype: of the result; by default inferred: Python floats give the default dtype, ints int64,
            bools bool; numpy's types keep theirs, and a mixture is promoted.
        device: 'cpu' or 'meta'.
        requires_grad: whether the result, a leaf, gets gradients.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Returns:
        A tensor of the shape that the nesting has.

    Raises:
        ShapeError: the lists differ in length.
        TypeError: something in data is not a number.
        ValueError: a number does not fit the dtype.

    Example:
        >>> import zero
        >>> zero.tensor([[1.0, 2.0], [3.0, 4.0]])
        tensor([[1., 2.],
                [3., 4.]])
        >>> zero.tensor([1, 2, 3]).dtype
        zero.int64
    """
    return finish(tensor_from(data, dtype, as_device(device, "tensor"), True), requires_grad,
                  pin_memory)


def as_tensor(data, dtype=None, device=None):
    """data as a tensor, without a copy where its memory can be shared: tensors and arrays.

    A tensor keeps its history.

    Args:
        data: as for :func:`tensor`.
        dtype: of the result; by default data's own or inferred.
        device: 'cpu' or 'meta'.

    Example:
        >>> import zero
        >>> import numpy as np
        >>> a = np.zeros(2)
        >>> zero.as_tensor(a)[0] = 5
        >>> print(a)
        [5. 0.]
    """
    if isinstance(data, Tensor) and dtype is None and device is None:
        return data
    cdef CDevice where = as_device(device, "as_tensor")
    if device is None and isinstance(data, Tensor):
        where = (<Tensor> data).c.device()
    return wrap(tensor_from(data, dtype, where, False))


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """obj as a tensor; shares memory where it can.

    Args:
        obj: as for :func:`tensor`.
        dtype: of the result; by default obj's own or inferred.
        device: 'cpu' or 'meta'.
        copy: True always copies, False raises where a copy would be needed, None copies if needed.
        requires_grad: whether the result gets gradients; if False, a tensor is detached.

    Raises:
        ValueError: with copy=False where memory cannot be shared.

    Example:
        >>> import zero
        >>> zero.asarray([1, 2])
        tensor([1, 2])
    """
    if copy is not None:
        flag_of(copy, "asarray", "copy")
    flag_of(requires_grad, "asarray", "requires_grad")
    cdef CDevice where = as_device(device, "asarray")
    if device is None and isinstance(obj, Tensor):
        where = (<Tensor> obj).c.device()
    cdef CTensor x = tensor_from(obj, dtype, where, copy is True)
    if copy is False and not (isinstance(obj, Tensor) or has_array(obj)):
        raise ZeroValueError(f"asarray: a copy is needed; got {type_name(obj)} with copy=False, "
                             "expected a tensor or array")
    if copy is False and data_address(obj) != <size_t> x.data():
        raise ZeroValueError("asarray: a copy is needed for another dtype, device or layout; got "
                             "copy=False, expected None")
    return finish(inplace.detach(x) if not requires_grad or meta.requires_grad(x) else x,
                  requires_grad)


# ---- tensors -> lists ----------------------------------------------------------------------------
cdef object list_of(const CTensor& x, int64_t dim, const char** data):
    """The nested list below dimension `dim`; reads from *data and moves it on."""
    cdef Py_ssize_t i, n = x.size(dim)
    cdef list result = PyList_New(n)
    cdef CDType t = x.dtype()
    cdef object item
    if dim + 1 < x.dim():
        for i in range(n):
            item = list_of(x, dim + 1, data)
            Py_INCREF(item)
            PyList_SET_ITEM(result, i, item)
        return result
    for i in range(n):
        if t == CDType.Float64:
            item = PyFloat_FromDouble((<double*> data[0])[i])
        elif t == CDType.Int64:
            item = (<int64_t*> data[0])[i]
        else:
            item = (<unsigned char*> data[0])[i] != 0
        Py_INCREF(item)
        PyList_SET_ITEM(result, i, item)
    data[0] += n * itemsize(t)
    return result


cdef object scalar_object(CScalar value):
    """A C++ number as Python's own."""
    if value.kind() == ScalarKind.Float:
        return value.to_double()
    if value.kind() == ScalarKind.Int:
        return value.to_int()
    return value.to_bool() != 0


cdef object to_list(const CTensor& x):
    cdef CTensor values
    cdef CDType t = x.dtype()
    cdef const char* data
    if x.is_meta():
        raise NotImplementedError("tolist: a meta tensor has no elements; got a tensor on meta, "
                                  "expected cpu")
    if x.dim() == 0:
        return scalar_object(ops.item(x))
    if t != CDType.Bool:
        t = CDType.Float64 if is_floating(t) else CDType.Int64
    values = ops.contiguous(ops.to(inplace.detach(x), t, CDevice.Cpu, False))
    data = <const char*> values.data()
    return list_of(values, 0, &data)
