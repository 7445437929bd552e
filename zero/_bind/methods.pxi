# Methods of Tensor without a function of the same name in the module. They stand in a class of
# their own and move to Tensor below, so that no file and no class body is too long.
from libc.string cimport memcpy

cdef CTensorOptions new_options(Tensor x, object dtype, object device, str op) except *:
    """Options for a new tensor; x's where None."""
    cdef CTensorOptions options = x.c.options()
    if dtype is not None:
        options.dtype = as_dtype(dtype, op)
    if device is not None:
        options.device = as_device(device, op)
    return options


cdef Format stated_order(object format, str op) except *:
    """A memory format that says an order."""
    cdef Format result = format_of(format, op)
    if result == Format.preserved:
        raise RuntimeError(f"{op}: preserving the format is no order; got {format!r}, expected "
                           "zero.contiguous_format or zero.channels_last")
    return result


class TensorMethods:
    # ---- geometry --------------------------------------------------------------------------------
    def size(Tensor self not None, dim=None):
        """The sizes, or the size of one dimension.

        Example:
            >>> import zero
            >>> zero.ones(2, 3).size(), zero.ones(2, 3).size(-1)
            (zero.Size([2, 3]), 3)
        """
        if dim is None:
            return size_of(self.c.sizes())
        return self.c.size(shapes.wrap_dim(b"size", as_int(dim, "size", "dim"), self.c.dim())) \
            if self.c.dim() else no_dimension("size")

    def stride(Tensor self not None, dim=None):
        """The steps between neighbours in elements, or that of one dimension.

        Example:
            >>> import zero
            >>> zero.ones(2, 3).stride(), zero.ones(2, 3).T.stride(0)
            ((3, 1), 1)
        """
        if dim is None:
            return tuple_of(self.c.strides())
        return self.c.stride(shapes.wrap_dim(b"stride", as_int(dim, "stride", "dim"),
                                             self.c.dim())) \
            if self.c.dim() else no_dimension("stride")

    def dim(Tensor self not None):
        """The number of dimensions."""
        return self.c.dim()

    def ndimension(Tensor self not None):
        """The number of dimensions."""
        return self.c.dim()

    def nelement(Tensor self not None):
        """The number of elements."""
        return self.c.numel()

    def element_size(Tensor self not None):
        """Bytes of one element."""
        return itemsize(self.c.dtype())

    def storage_offset(Tensor self not None):
        """Where in the memory the first element is, in elements."""
        return self.c.storage_offset()

    def data_ptr(Tensor self not None):
        """The address of the first element; 0 on the meta device."""
        return <size_t> self.c.data()

    def is_contiguous(Tensor self not None, memory_format=None):
        """Whether the elements lie in row-major order without gaps.

        Args:
            memory_format: zero.channels_last asks whether the channels lie next to each other; None
                is zero.contiguous_format.
        """
        cdef Format format = Format.row_major
        if memory_format is not None:
            format = stated_order(memory_format, "is_contiguous")
        if format == Format.row_major:
            return self.c.is_contiguous() != 0
        if self.c.dim() != (4 if format == Format.channels_last_4d else 5):
            return False
        return ops.permute(self.c, channels_order(self.c.dim(), format, False,
                                                  "is_contiguous")).is_contiguous() != 0

    def is_same_size(Tensor self not None, Tensor other not None):
        """Whether the shapes are equal."""
        return self.c.sizes() == other.c.sizes()

    # ---- values ----------------------------------------------------------------------------------
    def _repr_html_(Tensor self not None):
        """A table for notebooks, of 1 or 2 dimensions; None, which they understand, for others.

        Example:
            >>> import zero
            >>> zero.tensor([1, 2])._repr_html_()[:42]
            '<table><tr><td>1</td><td>2</td></tr></tabl'
        """
        from zero._tensor_str import tensor_html
        return tensor_html(self)

    def item(Tensor self not None):
        """The one element as a Python number.

        Raises:
            RuntimeError: there is not exactly one element.

        Example:
            >>> import zero
            >>> zero.tensor([2.5]).item()
            2.5
        """
        return scalar_object(ops.item(self.c))

    def tolist(Tensor self not None):
        """The elements as nested lists of Python numbers.

        Example:
            >>> import zero
            >>> zero.tensor([[1, 2], [3, 4]]).tolist()
            [[1, 2], [3, 4]]
        """
        return to_list(self.c)

    def numpy(Tensor self not None, *, force=False):
        """A numpy array that shares the memory.

        Args:
            force: whether a tensor that requires grad is detached instead of refused.

        Raises:
            RuntimeError: the tensor requires grad.
            TypeError: a meta tensor, or bfloat16, which numpy does not have.

        Example:
            >>> import zero
            >>> x = zero.zeros(2)
            >>> x.numpy()[0] = 3
            >>> x
            tensor([3., 0.])
        """
        return numpy_array(wrap(inplace.detach(self.c)) if force else self)

    # ---- autograd --------------------------------------------------------------------------------
    def requires_grad_(Tensor self not None, requires_grad=True):
        """Sets whether operations on this leaf are recorded; returns the tensor.

        Example:
            >>> import zero
            >>> zero.ones(2).requires_grad_()
            tensor([1., 1.], requires_grad=True)
        """
        meta.set_requires_grad(self.c, flag_of(requires_grad, "requires_grad_", "requires_grad"))
        return self

    def backward(Tensor self not None, gradient=None, retain_graph=None, create_graph=False,
                 inputs=None):
        """Adds the gradients of this tensor to the .grad of the leaves it was computed from.

        Args:
            gradient: weights of the elements, of this tensor's shape; needed unless there is one
                element.
            retain_graph: whether the graph can be gone through again; by default create_graph.
            create_graph: whether the gradients can be differentiated themselves.
            inputs: the leaves to accumulate into; all by default.

        Raises:
            RuntimeError: the tensor was not computed from one that requires grad, or the graph was
                freed.

        Example:
            >>> import zero
            >>> x = zero.tensor(3.0, requires_grad=True)
            >>> (x * x).backward()
            >>> x.grad
            tensor(6.)
        """
        cdef CTensors roots, grads, only
        if inputs is not None:
            _backward(self, None if gradient is None else (gradient,), retain_graph, create_graph,
                      inputs)
            return
        if gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError(f"backward: gradient is not a tensor; got {type_name(gradient)}, "
                            "expected a Tensor or None")
        roots.push_back(self.c)
        grads.push_back(CTensor() if gradient is None else (<Tensor> gradient).c)
        engine.backward(roots, grads, create_graph if retain_graph is None else retain_graph,
                        create_graph, only)

    def is_inference(Tensor self not None):
        """Whether the tensor was made in inference_mode.

        Example:
            >>> import zero
            >>> with zero.inference_mode():
            ...     x = zero.ones(2)
            >>> x.is_inference()
            True
        """
        return self.c.impl().is_inference_ != 0

    def register_hook(Tensor self not None, hook):
        """Calls hook(grad) when the gradient of this tensor has been computed.

        The hooks of a tensor run in the order of their registration, before its gradient is stored
        or flows on. After a write in place, the hooks of before still get the gradient of the
        values of before.

        Args:
            hook: gets the gradient, which it must not change, and may return another that takes its
                place.

        Returns:
            A handle whose remove() takes the hook away.

        Raises:
            RuntimeError: the tensor does not require grad.

        Example:
            >>> import zero
            >>> x = zero.tensor([1.0, 2.0], requires_grad=True)
            >>> handle = x.register_hook(lambda grad: grad * 10)
            >>> (x * x).sum().backward()
            >>> x.grad
            tensor([20., 40.])
            >>> handle.remove()
        """
        from collections import OrderedDict
        fresh = OrderedDict()
        return add_hook(tensor_hooks(hooks_cpp.hook_edge(b"register_hook", self.c),
                                     <PyObject*> fresh), hook, "register_hook")

    def register_post_accumulate_grad_hook(Tensor self not None, hook):
        """Calls hook(tensor) after a backward pass has added to the .grad of this leaf.

        Args:
            hook: gets the tensor and returns None. It may use and change .grad.

        Returns:
            A handle whose remove() takes the hook away.

        Raises:
            RuntimeError: the tensor is no leaf, or does not require grad.

        Example:
            >>> import zero
            >>> x = zero.tensor([1.0, 2.0], requires_grad=True)
            >>> def step(x):
            ...     x.data -= 0.1 * x.grad
            ...     x.grad = None
            >>> handle = x.register_post_accumulate_grad_hook(step)
            >>> (x * x).sum().backward()
            >>> x
            tensor([0.8000, 1.6000], requires_grad=True)
        """
        from collections import OrderedDict
        cdef CEdge edge = hooks_cpp.hook_edge(b"register_post_accumulate_grad_hook", self.c)
        if not meta.is_leaf(self.c):
            raise RuntimeError("register_post_accumulate_grad_hook: the tensor is not a leaf; got "
                               f"one made by {self.grad_fn.name()}, expected a leaf")
        fresh = OrderedDict()
        return add_hook(node_hooks(edge.node.get()[0], LEAF_HOOKS, <PyObject*> fresh), hook,
                        "register_post_accumulate_grad_hook")

    def retain_grad(Tensor self not None):
        """Lets backward() fill the .grad of this result, as it does for leaves.

        After a write in place it is the gradient of the new values.

        Raises:
            RuntimeError: the tensor does not require grad.

        Example:
            >>> import zero
            >>> x = zero.tensor([1.0, 2.0], requires_grad=True)
            >>> y = x * 3
            >>> y.retain_grad()
            >>> (y * y).sum().backward()
            >>> y.grad
            tensor([ 6., 12.])
        """
        hooks_cpp.retain_grad(self.c)

    def detach_(Tensor self not None):
        """Takes the tensor out of its graph: it becomes a leaf that requires no gradient.

        Raises:
            RuntimeError: the tensor is a view.
        """
        inplace.detach_(self.c)
        return self

    # ---- copies and conversions ------------------------------------------------------------------
    def contiguous(Tensor self not None, memory_format=None):
        """The tensor in row-major order: itself if it is, else a copy.

        Args:
            memory_format: another order, such as zero.channels_last; None is
                zero.contiguous_format.
        """
        if memory_format is None:
            return wrap(ops.contiguous(self.c))
        return wrap(in_format(self.c, stated_order(memory_format, "contiguous"), "contiguous"))

    # ---- writes ----------------------------------------------------------------------------------
    def copy_(Tensor self not None, Tensor src not None, non_blocking=False):
        """Overwrites the elements with those of src, broadcast and converted; returns the tensor.

        Args:
            src: a tensor whose shape broadcasts to this one's.
            non_blocking: no difference: the copy has ended when the call returns.

        Example:
            >>> import zero
            >>> zero.zeros(2, 2).copy_(zero.tensor([1, 2]))
            tensor([[1., 2.],
                    [1., 2.]])
        """
        flag_of(non_blocking, "copy_", "non_blocking")
        ops.copy_(self.c, src.c)
        return self

    def fill_(Tensor self not None, value):
        """Overwrites all elements with one number or 0-d tensor; returns the tensor.

        Example:
            >>> import zero
            >>> zero.zeros(2).fill_(3)
            tensor([3., 3.])
        """
        if isinstance(value, Tensor):
            ops.fill_tensor_(self.c, (<Tensor> value).c)
        else:
            ops.fill_number_(self.c, as_scalar(value, "fill_", "value"))
        return self

    def zero_(Tensor self not None):
        """Overwrites all elements with zeros; returns the tensor."""
        ops.zero_(self.c)
        return self

    # ---- new tensors of the same dtype and device ------------------------------------------------
    def new_tensor(Tensor self not None, data, *, dtype=None, layout=None, device=None,
                   requires_grad=False, pin_memory=False):
        """A copy of data, by default with this tensor's dtype and device."""
        only_plain(layout, pin_memory, "new_tensor")
        cdef CTensorOptions options = new_options(self, dtype, device, "new_tensor")
        return finish(tensor_from(data, dtype_object(options.dtype), options.device, True),
                      requires_grad, pin_memory)

    def new_empty(Tensor self not None, *sizes, size=None, dtype=None, layout=None, device=None,
                  requires_grad=False, pin_memory=False):
        """A tensor of the given sizes with undefined elements, by default of this dtype and
        device."""
        only_plain(layout, pin_memory, "new_empty")
        return finish(core.empty(sizes_of(sizes, size, "new_empty"),
                                 new_options(self, dtype, device, "new_empty")),
                      requires_grad, pin_memory)

    def new_zeros(Tensor self not None, *sizes, size=None, dtype=None, layout=None, device=None,
                  requires_grad=False, pin_memory=False):
        """Zeros of the given sizes, by default of this dtype and device."""
        only_plain(layout, pin_memory, "new_zeros")
        return finish(ops.zeros(sizes_of(sizes, size, "new_zeros"),
                                new_options(self, dtype, device, "new_zeros")),
                      requires_grad, pin_memory)

    def new_ones(Tensor self not None, *sizes, size=None, dtype=None, layout=None, device=None,
                 requires_grad=False, pin_memory=False):
        """Ones of the given sizes, by default of this dtype and device."""
        only_plain(layout, pin_memory, "new_ones")
        return finish(ops.ones(sizes_of(sizes, size, "new_ones"),
                               new_options(self, dtype, device, "new_ones")),
                      requires_grad, pin_memory)

    def new_full(Tensor self not None, size, fill_value, *, dtype=None, layout=None, device=None,
                 requires_grad=False, pin_memory=False):
        """One number at all places of the given sizes, by default of this dtype and device."""
        only_plain(layout, pin_memory, "new_full")
        return finish(ops.full(as_dims(size, "new_full"), as_scalar(fill_value, "new_full",
                                                                    "fill_value"),
                               new_options(self, dtype, device, "new_full")),
                      requires_grad, pin_memory)


cdef object no_dimension(str op):
    raise ZeroIndexError(f"{op}: a 0-d tensor has no dimensions; got a dim, expected None")


def clone(Tensor input not None, *, memory_format=None):
    """A copy with memory of its own; gradients flow through it.

    Args:
        input: tensor of any shape.
        memory_format: zero.contiguous_format for a copy in row-major order, zero.channels_last for
            one with the channels last; preserve_format, like None, keeps the order.

    Example:
        >>> import zero
        >>> x = zero.ones(2)
        >>> y = zero.clone(x)
        >>> y += 1
        >>> x
        tensor([1., 1.])
    """
    cdef Format format = format_of(memory_format, "clone")
    cdef CTensor result
    if format == Format.preserved:
        return wrap(ops.clone(input.c))
    result = in_format(input.c, format, "clone")
    return wrap(ops.clone(result) if result.is_same(input.c) else result)


def detach(Tensor input not None):
    """The same memory without history: no gradient flows through it. Writes are still noticed by
    autograd.

    Args:
        input: tensor of any shape.

    Example:
        >>> import zero
        >>> x = zero.ones(2, requires_grad=True)
        >>> zero.detach(x * 2).requires_grad
        False
    """
    return wrap(inplace.detach(input.c))


def _cast_method(str name, DTypeObject target):
    def cast(Tensor self not None, memory_format=None):
        cdef Format format = format_of(memory_format, name)
        cdef CTensor result = ops.to(self.c, target.value, self.c.device(), False)
        return wrap(in_format(result, format, name))
    cast.__name__ = name
    cast.__doc__ = f"""The tensor as {target!r}; itself if it is that already.

        Args:
            memory_format: as for :meth:`to`.
        """
    return cast


cdef int add_methods() except -1:
    cdef object name, value
    for name, value in [*DeviceMethods.__dict__.items(), *TensorMethods.__dict__.items()]:
        if not name.startswith("__"):
            if not isinstance(value, property):
                value.__qualname__ = "Tensor." + name
            attach(name, value)
    for name in ("float", "double", "half", "bfloat16", "int", "long", "short"):
        value = _cast_method(name, globals()[name])
        value.__qualname__ = "Tensor." + name
        attach(name, value)
    for name, target in (("bool", "bool"), ("char", "int8"), ("byte", "uint8")):
        value = _cast_method(name, globals()[target])
        value.__qualname__ = "Tensor." + name
        attach(name, value)
    attach("clone", clone)
    attach("detach", detach)
    attach("numel", numel)
    attach("is_complex", is_complex)
    attach("is_floating_point", is_floating_point)
    return 0


cdef int hide_names() except -1:
    """Takes from the module what is of no use outside; nodes and modes are met as objects."""
    cdef dict names = globals()
    for name in ("TensorMethods", "DeviceMethods", "_cast_method", "ListReader", "NamedConstant",
                 "OptimizerNames"):
        del names[name]
    for name in ("Node", "GradMode", "InferenceMode", "FunctionContext"):
        names["_" + name] = names.pop(name)
    return 0


add_methods()
hide_names()
