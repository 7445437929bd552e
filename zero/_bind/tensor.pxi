# class Tensor: what Python's syntax needs. Its other methods are in methods.pxi and beside their
# operators.

# ---- operators -----------------------------------------------------------------------------------
cdef extern from *:
    """
    // Sums and differences without a factor, called as all other operators are.
    static zero::Tensor zero_plain_add(const zero::Operand& a, const zero::Operand& b,
                                       zero::Target target) {
      return zero::add(a, b, 1, target);
    }
    static zero::Tensor zero_plain_sub(const zero::Operand& a, const zero::Operand& b,
                                       zero::Target target) {
      return zero::sub(a, b, 1, target);
    }
    """
    CTensor plain_add "zero_plain_add"(const COperand& a, const COperand& b,
                                       CTarget target) except +raise_error
    CTensor plain_sub "zero_plain_sub"(const COperand& a, const COperand& b,
                                       CTarget target) except +raise_error


cdef object operand_keeping(object x, COperand* out):
    """*out = x for an operator. Returns what keeps it alive, or None where x is no operand."""
    cdef Tensor array
    if operand_of(x, out):
        return x
    if has_array(x):
        array = tensor_of_array(x, True)
        out[0] = COperand(array.c)
        return array
    return None


cdef object forward(ops.BinaryOp op, Tensor a, object b):
    """a op b"""
    cdef COperand other
    if isinstance(b, Tensor):
        return wrap(op(COperand(a.c), COperand((<Tensor> b).c), CTarget()))
    kept = operand_keeping(b, &other)
    if kept is None:
        return NotImplemented
    return wrap(op(COperand(a.c), other, CTarget()))


cdef object reflected(ops.BinaryOp op, Tensor a, object b):
    """b op a"""
    cdef COperand other
    kept = operand_keeping(b, &other)
    if kept is None:
        return NotImplemented
    return wrap(op(other, COperand(a.c), CTarget()))


cdef object in_place(ops.BinaryOp op, Tensor a, object b):
    """a op= b"""
    cdef COperand other
    kept = operand_keeping(b, &other)
    if kept is None:
        return NotImplemented
    op(COperand(a.c), other, inplace.inplace(a.c))
    return a


cdef Tensor array_or_tensor(object x):
    """An operand of @: a tensor or an array, else None."""
    if isinstance(x, Tensor):
        return x
    return tensor_of_array(x, True) if has_array(x) else None


cdef CScalar one_element(Tensor x, str op) except *:
    if x.c.numel() != 1:
        raise ZeroValueError(f"{op}: not one element; got a tensor of shape "
                             f"{tuple_of(x.c.sizes())}, expected exactly one element")
    return ops.item(x.c)


cdef class Tensor:
    """An array of numbers of one type, with strides, that remembers how it was computed.

    Make one with :func:`tensor`, :func:`zeros`, :func:`randn` and their like. The class itself can
    be called as in older PyTorch programs: with data for a tensor of the default dtype, or with
    sizes for one whose elements are undefined.

    Args:
        data: sizes as ints or a Size, or nested lists, an array or a tensor.
        device: 'cpu'.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([[2., 4.],
                [6., 8.]])
        >>> zero.Tensor([1, 2])
        tensor([1., 2.])
    """
    __array_priority__ = 1000  # numpy leaves array * tensor to the tensor

    def __cinit__(self):
        cdef CDims none
        none.push_back(0)
        adopt(self, core.empty(none, CTensorOptions()))

    def __init__(self, *data, device=None):
        cdef CTensorOptions options
        if device is not None and as_device(device, "Tensor") != CDevice.Cpu:
            raise RuntimeError(f"Tensor: not on this device; got {device!r}, expected 'cpu'")
        if not data:
            return
        if isinstance(data[0], (int, Size)):
            adopt(self, core.empty(as_dims(data, "Tensor"), options))
            return
        if len(data) > 1 or isinstance(data[0], (float, str)):
            raise TypeError(f"Tensor: neither data nor sizes; got {short_repr(data)}, expected one "
                            "sequence or ints; zero.tensor makes tensors of numbers")
        adopt(self, inplace.detach(tensor_from(data[0], dtype_object(options.dtype), CDevice.Cpu,
                                               False)))

    # ---- properties ------------------------------------------------------------------------------
    @property
    def shape(self):
        """The sizes of the dimensions."""
        return size_of(self.c.sizes())

    @property
    def dtype(self):
        """The type of the elements."""
        return dtype_object(self.c.dtype())

    @property
    def device(self):
        """Where the elements are."""
        return device_object(self.c.device())

    @property
    def ndim(self):
        """The number of dimensions."""
        return self.c.dim()

    @property
    def itemsize(self):
        """Bytes of one element."""
        return itemsize(self.c.dtype())

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.c.numel() * itemsize(self.c.dtype())

    @property
    def requires_grad(self):
        """Whether operations on this tensor are recorded. Can be set on leaves."""
        return meta.requires_grad(self.c) != 0

    @requires_grad.setter
    def requires_grad(self, value):
        if not meta.is_leaf(self.c):
            raise RuntimeError("requires_grad: only leaves can be told; got a tensor made by "
                               f"{self.grad_fn.name()}, expected a leaf; detach() gives one")
        meta.set_requires_grad(self.c, flag_of(value, "requires_grad", "the value"))

    @property
    def is_leaf(self):
        """Whether no recorded operation made this tensor."""
        return meta.is_leaf(self.c) != 0

    @property
    def grad(self):
        """The gradient, after backward(); None before. Can be set and deleted."""
        cdef CTensor known = meta.grad_of(self.c)
        if not known.defined():
            if not meta.is_leaf(self.c) and not hooks_cpp.retains_grad(self.c):
                import warnings
                warnings.warn("grad: the tensor is not a leaf, so backward does not fill its grad; "
                              f"got one made by {self.grad_fn.name()}, expected a leaf or "
                              "retain_grad() before", UserWarning, stacklevel=1)
            return None
        return wrap(move(known))

    @grad.setter
    def grad(self, value):
        if value is None:
            meta.set_grad(self.c, CTensor())
        elif isinstance(value, Tensor):
            meta.set_grad(self.c, (<Tensor> value).c)
        else:
            raise TypeError(f"grad: not a tensor; got {type_name(value)}, expected a Tensor or "
                            "None")

    @grad.deleter
    def grad(self):
        meta.set_grad(self.c, CTensor())

    @property
    def grad_fn(self):
        """The node of the operation that made this tensor; None for a leaf."""
        return wrap_node(meta.grad_fn(self.c))

    @property
    def retains_grad(self):
        """Whether retain_grad() was called on this result of an operation."""
        return hooks_cpp.retains_grad(self.c) != 0

    @property
    def _backward_hooks(self):
        """The dict of the hooks of register_hook; None if there were none."""
        if not meta.requires_grad(self.c):
            return None
        return tensor_hooks(gradient_edge(self.c), NULL)

    @property
    def _post_accumulate_grad_hooks(self):
        """The dict of the hooks of register_post_accumulate_grad_hook; None if there were none."""
        if not (meta.requires_grad(self.c) and meta.is_leaf(self.c)):
            return None
        cdef CEdge edge = gradient_edge(self.c)
        return node_hooks(edge.node.get()[0], LEAF_HOOKS, NULL) if edge.node.get() else None

    @property
    def output_nr(self):
        """Which of the outputs of grad_fn this is."""
        cdef meta.AutogradMeta* known = meta.autograd_meta(self.c)
        return known.output_nr if known is not NULL else 0

    @property
    def data(self):
        """The same memory without history; writes to it are not noticed by autograd.

        Setting it makes this tensor, with its gradient and identity, show the memory of another.
        A thread that computes with the tensor meanwhile goes on with the old memory or the new;
        the new must then have the same shape and dtype.
        """
        return wrap(inplace.detached_data(self.c))

    @data.setter
    def data(self, value):
        if not isinstance(value, Tensor):
            raise TypeError(f"data: not a tensor; got {type_name(value)}, expected a Tensor")
        inplace.set_data(self.c, (<Tensor> value).c)

    @property
    def T(self):
        """The tensor with its dimensions reversed: the transpose of a matrix."""
        cdef CDims order
        cdef int64_t d
        for d in range(self.c.dim() - 1, -1, -1):
            order.push_back(d)
        return wrap(ops.permute(self.c, order) if self.c.dim() != 2 else ops.transpose(self.c, 0,
                                                                                       1))

    @property
    def mT(self):
        """The tensor with its last two dimensions exchanged."""
        if self.c.dim() < 2:
            raise ShapeError(f"mT: not a matrix; got shape {tuple_of(self.c.sizes())}, expected at "
                             "least 2 dimensions")
        return wrap(ops.transpose(self.c, -2, -1))

    @property
    def _version(self):
        """How often the memory was written in place."""
        if self.c.impl().is_inference_ and not self.c.impl().has_own_version():
            raise RuntimeError("_version: writes to an inference tensor are not counted; got a "
                               f"tensor of shape {tuple_of(self.c.sizes())} made in "
                               "inference_mode, expected another")
        return self.c.version()

    @property
    def _base(self):
        """The tensor that this one is a differentiable view of; None if it is no view."""
        return wrap(meta.autograd_meta(self.c).base) if meta.is_view(self.c) else None

    def _is_view(self):
        """Whether the tensor is a differentiable view of another."""
        return self.c.impl().is_view_

    # ---- arithmetic ------------------------------------------------------------------------------
    def __add__(self, other):
        return forward(plain_add, self, other)

    def __radd__(self, other):
        return reflected(plain_add, self, other)

    def __iadd__(self, other):
        return in_place(plain_add, self, other)

    def __sub__(self, other):
        return forward(plain_sub, self, other)

    def __rsub__(self, other):
        return reflected(plain_sub, self, other)

    def __isub__(self, other):
        return in_place(plain_sub, self, other)

    def __mul__(self, other):
        return forward(ops.mul, self, other)

    def __rmul__(self, other):
        return reflected(ops.mul, self, other)

    def __imul__(self, other):
        return in_place(ops.mul, self, other)

    def __truediv__(self, other):
        return forward(ops.div, self, other)

    def __rtruediv__(self, other):
        return reflected(ops.div, self, other)

    def __itruediv__(self, other):
        return in_place(ops.div, self, other)

    def __floordiv__(self, other):
        return forward(ops.floor_divide, self, other)

    def __rfloordiv__(self, other):
        return reflected(ops.floor_divide, self, other)

    def __ifloordiv__(self, other):
        return in_place(ops.floor_divide, self, other)

    def __mod__(self, other):
        return forward(ops.remainder, self, other)

    def __rmod__(self, other):
        return reflected(ops.remainder, self, other)

    def __imod__(self, other):
        return in_place(ops.remainder, self, other)

    def __pow__(self, other, modulo):
        return forward(ops.pow, self, other) if modulo is None else NotImplemented

    def __rpow__(self, other, modulo):
        return reflected(ops.pow, self, other) if modulo is None else NotImplemented

    def __ipow__(self, other):
        return in_place(ops.pow, self, other)

    def __matmul__(self, other):
        cdef Tensor b = array_or_tensor(other)
        return NotImplemented if b is None else wrap(ops.matmul(self.c, b.c, CTarget()))

    def __rmatmul__(self, other):
        cdef Tensor a = array_or_tensor(other)
        return NotImplemented if a is None else wrap(ops.matmul(a.c, self.c, CTarget()))

    def __and__(self, other):
        return forward(ops.bitwise_and, self, other)

    def __rand__(self, other):
        return reflected(ops.bitwise_and, self, other)

    def __iand__(self, other):
        return in_place(ops.bitwise_and, self, other)

    def __or__(self, other):
        return forward(ops.bitwise_or, self, other)

    def __ror__(self, other):
        return reflected(ops.bitwise_or, self, other)

    def __ior__(self, other):
        return in_place(ops.bitwise_or, self, other)

    def __xor__(self, other):
        return forward(ops.bitwise_xor, self, other)

    def __rxor__(self, other):
        return reflected(ops.bitwise_xor, self, other)

    def __ixor__(self, other):
        return in_place(ops.bitwise_xor, self, other)

    def __lshift__(self, other):
        return forward(ops.bitwise_left_shift, self, other)

    def __rlshift__(self, other):
        return reflected(ops.bitwise_left_shift, self, other)

    def __ilshift__(self, other):
        return in_place(ops.bitwise_left_shift, self, other)

    def __rshift__(self, other):
        return forward(ops.bitwise_right_shift, self, other)

    def __rrshift__(self, other):
        return reflected(ops.bitwise_right_shift, self, other)

    def __irshift__(self, other):
        return in_place(ops.bitwise_right_shift, self, other)

    def __neg__(self):
        return wrap(ops.neg(self.c, CTarget()))

    def __pos__(self):
        if self.c.dtype() == CDType.Bool:
            raise DTypeError("pos: not defined for bool; got a bool tensor, expected numbers")
        return self

    def __abs__(self):
        return wrap(ops.abs(self.c, CTarget()))

    def __invert__(self):
        return wrap(ops.bitwise_not(self.c, CTarget()))

    def __richcmp__(self, other, int op):
        if op == Py_EQ:
            return forward(ops.eq, self, other)
        if op == Py_NE:
            return forward(ops.ne, self, other)
        if op == Py_LT:
            return forward(ops.lt, self, other)
        if op == Py_LE:
            return forward(ops.le, self, other)
        if op == Py_GT:
            return forward(ops.gt, self, other)
        return forward(ops.ge, self, other)

    def __hash__(self):
        return <Py_ssize_t> (<size_t> <PyObject*> self >> 4)  # by identity: == compares elements

    # ---- conversions -----------------------------------------------------------------------------
    def __bool__(self):
        if self.c.numel() != 1:
            raise ZeroValueError("bool: the truth value of none or several elements is ambiguous; "
                                 "got a tensor of shape "
                                 f"{tuple_of(self.c.sizes())}, expected one element; use any() or "
                                 "all()")
        return ops.item(self.c).to_bool()

    def __float__(self):
        return one_element(self, "float").to_double()

    def __int__(self):
        cdef CScalar value = one_element(self, "int")
        return int(value.to_double()) if value.is_float() else value.to_int()

    def __index__(self):
        if is_floating(self.c.dtype()) or self.c.numel() != 1:
            raise TypeError(f"index: not an integer; got {dtype_object(self.c.dtype()).name} "
                            f"{tuple_of(self.c.sizes())}, expected one element of an integer dtype")
        return ops.item(self.c).to_int()

    def __repr__(self):
        from zero._tensor_str import tensor_str
        return tensor_str(self)

    def __format__(self, str spec):
        # As in PyTorch, f"{x}" of one number is the number; of a Parameter it is its repr.
        if self.c.dim() == 0 and not self.c.is_meta() and (spec or type(self) is Tensor):
            return format(scalar_object(ops.item(self.c)), spec)
        return object.__format__(self, spec)

    def __array__(self, dtype=None, copy=None):
        result = numpy_array(self)
        if dtype is not None and result.dtype != dtype:
            if copy is False:
                raise ZeroValueError(f"__array__: another dtype needs a copy; got copy=False and "
                                     f"dtype {dtype}, expected {result.dtype}")
            return result.astype(dtype)
        return result.copy() if copy else result

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        export_buffer(self, buffer, flags)

    def __releasebuffer__(self, Py_buffer* buffer):
        take_back(buffer)

    # ---- container -------------------------------------------------------------------------------
    def __len__(self):
        if self.c.dim() == 0:
            raise TypeError("len: a 0-d tensor has no length; got shape (), expected at least 1 "
                            "dimension")
        return self.c.size(0)

    def __iter__(self):
        cdef CTensors rows
        if self.c.dim() == 0:
            raise TypeError("iter: a 0-d tensor cannot be iterated over; got shape (), expected at "
                            "least 1 dimension")
        rows = ops.unbind(self.c, 0)
        return iter(wrap_all(rows))

    def __contains__(self, element):
        cdef COperand value
        cdef CDims all_dims
        kept = operand_keeping(element, &value)
        if kept is None:
            raise DTypeError(f"in: neither a tensor nor a number; got {type_name(element)}, "
                             "expected a Tensor or number")
        return ops.item(ops.any(ops.eq(COperand(self.c), value, CTarget()), all_dims,
                                False)).to_bool()

    def __getitem__(self, index):
        return get_item(self, index)

    def __setitem__(self, index, value):
        set_item(self, index, value)

    def __delitem__(self, index):
        raise TypeError("del: elements of a tensor cannot be deleted; got del x[...], expected an "
                        "index that leaves them out")

    # ---- copies ----------------------------------------------------------------------------------
    def __copy__(self):
        cdef Tensor result = like(self, inplace.detach(self.c))
        attributes_of(result).update(attributes_of(self))
        return result

    def __deepcopy__(self, memo):
        cdef Tensor result
        cdef object gradient
        if id(self) in memo:
            return memo[id(self)]
        if not meta.is_leaf(self.c):
            raise RuntimeError("deepcopy: only leaves can be copied deeply; got a tensor made by "
                               f"{self.grad_fn.name()}, expected detach() first")
        result = like(self, ops.clone(inplace.detach(self.c)))
        memo[id(self)] = result
        gradient = self.grad
        if gradient is not None:
            # Not by way of memo: that wrapper ends here, and the next one may get its id.
            result.grad = gradient.detach().clone()
        if has_attributes(self):
            from copy import deepcopy
            attributes_of(result).update(deepcopy(attributes_of(self), memo))
        return result

    def __reduce_ex__(self, protocol):
        if for_another_process() and not self.c.is_meta():
            from zero.multiprocessing.reductions import reduce_tensor
            return reduce_tensor(self)
        cdef CTensor values = inplace.detach(self.c)
        cdef object content = None
        if not values.is_meta():
            values = ops.contiguous(values)
            content = PyBytes_FromStringAndSize(<char*> values.data(),
                                                values.numel() * itemsize(values.dtype()))
        return _rebuild_tensor, (type(self), self.dtype, tuple_of(self.c.sizes()), content,
                                 meta.requires_grad(self.c) != 0, dict(attributes_of(self)) or None)


cdef class Parameter(Tensor):
    """A tensor that a Module trains: a leaf that requires grad.

    Args:
        data: a tensor, whose memory is shared, or nested lists.
        requires_grad: whether it gets gradients.

    Example:
        >>> import zero
        >>> w = zero.Parameter(zero.ones(2) * 3)
        >>> w.is_leaf, w.requires_grad
        (True, True)
        >>> (w * w).sum().backward()
        >>> w.update(0.5 * w.grad)
        >>> w.tolist()
        [0.0, 0.0]
    """

    def __init__(self, data=None, requires_grad=True):
        cdef CTensor values
        if all_values(data) is not data:
            raise RuntimeError("vmap: Parameter takes no tensor that stands for a batch; use the "
                               "tensor itself, or functional_call for the parameters of a module")
        if data is None:
            values = inplace.detach(self.c)
        else:
            values = inplace.detach(tensor_from(data, None, device_of(data), False))
        values.impl().is_parameter_ = True
        meta.set_requires_grad(values, requires_grad)
        adopt(self, values)

    def update(self, Tensor delta not None):
        """Subtracts delta in place, without a record: a step of gradient descent.

        Args:
            delta: a tensor whose shape broadcasts to the parameter's.

        Raises:
            ShapeError: the shape does not.

        Example:
            >>> import zero
            >>> w = zero.Parameter([1.0, 2.0])
            >>> w.update(zero.tensor([0.5, 0.5]))
            >>> w.tolist()
            [0.5, 1.5]
        """
        ops.update_(self.c, delta.c)


import sys


cdef bint for_another_process() except -1:
    """Whether it is a pickler of multiprocessing that asks: its function is the one that runs."""
    return "multiprocessing.reduction" in sys.modules \
        and sys._getframe().f_globals.get("__name__") == "multiprocessing.reduction"


cdef CDevice device_of(object x) except *:
    return (<Tensor> x).c.device() if isinstance(x, Tensor) else CDevice.Cpu


cdef extern from "Python.h":
    object PyObject_GenericGetDict(object x, void* context)
    bytes PyBytes_FromStringAndSize(const char* data, Py_ssize_t n)


cdef dict attributes_of(Tensor x):
    return <dict> PyObject_GenericGetDict(x, NULL)


cdef bint has_attributes(Tensor x) except -1:
    return len(attributes_of(x)) > 0


cdef Tensor like(Tensor x, CTensor values):
    """A new leaf of x's class around `values`."""
    cdef Tensor result = <Tensor> allocate_wrapper(type(x))
    values.impl().is_parameter_ = x.c.impl().is_parameter_
    if meta.requires_grad(x.c):
        meta.set_requires_grad(values, True)
    result.c.hold(move(values), result)
    return result


def _rebuild_tensor(cls, dtype, sizes, content, requires_grad, attributes):  # for pickle
    cdef CTensor values = core.empty(as_dims(sizes, "unpickle"),
                                     as_options(dtype, "meta" if content is None else "cpu",
                                                "unpickle"))
    cdef Py_ssize_t i, n = values.numel() * itemsize(values.dtype())
    if content is not None:
        if not isinstance(content, bytes) or len(content) != n:
            raise ZeroValueError(f"unpickle: the data do not fill the tensor; got "
                                 f"{type_name(content)}, expected {n} bytes")
        memcpy(values.data(), <char*> (<bytes> content), n)
        if values.dtype() == CDType.Bool:  # loops rely on 0 and 1
            for i in range(n):
                (<char*> values.data())[i] = (<char*> values.data())[i] != 0
    return dressed(values, cls, requires_grad, attributes)


cdef Tensor dressed(CTensor values, cls, requires_grad, attributes):
    """A new tensor as a leaf of a class."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"unpickle: not a class of tensors; got {cls!r}")
    values.impl().is_parameter_ = issubclass(cls, Parameter)
    if requires_grad:
        meta.set_requires_grad(values, True)
    cdef Tensor result = <Tensor> allocate_wrapper(cls)
    result.c.hold(move(values), result)
    if attributes:
        attributes_of(result).update(attributes)
    return result


def _dressed(Tensor values not None, cls, requires_grad, attributes):
    """The same for values that are the caller's own."""
    return dressed(inplace.detach(values.c), cls, requires_grad, attributes)


set_public_name(Tensor, b"zero.Tensor")
set_public_name(Parameter, b"zero.Parameter")
set_public_name(Generator, b"zero.Generator")
