# Tensors from nothing: filled, counted, random.


cdef CDims sizes_of(tuple sizes, object size, str op) except *:
    """The shape from ``zeros(2, 3)``, ``zeros((2, 3))`` or ``zeros(size=(2, 3))``."""
    if size is None:
        return as_dims(sizes, op)
    if sizes:
        raise TypeError(f"{op}: the size is given twice; got {short_repr(sizes)} and "
                        f"size={short_repr(size)}, expected one of them")
    return as_dims(size, op)


cdef CTensorOptions options_like(Tensor x, object dtype, object device, str op) except *:
    cdef CTensorOptions options = x.c.options()
    if dtype is not None:
        options.dtype = as_dtype(dtype, op)
    if device is not None:
        options.device = as_device(device, op)
    return options


cdef CTensorOptions options_for(const CScalar& value, object dtype, object device, str op) except *:
    """What a number decides where no dtype is given."""
    cdef CScalar number = value
    cdef CTensorOptions options = as_options(dtype, device, op)
    if dtype is None:
        options.dtype = number.dtype()
    return options


# With out=, dtype and device are those of the tensor to write to.
cdef CTensorOptions options_with(object dtype, object device, object out, str op) except *:
    cdef CTensorOptions options
    if out is None:
        return as_options(dtype, device, op)
    if not isinstance(out, Tensor):
        no_out(out, op)
    options = (<Tensor> out).c.options()
    if dtype is not None and as_dtype(dtype, op) != options.dtype:
        raise DTypeError(f"{op}: dtype is not that of out; got {dtype} and {out.dtype}, expected "
                         "the same")
    if device is not None and as_device(device, op) != options.device:
        raise ZeroValueError(f"{op}: device is not that of out; got {device} and {out.device}, "
                             "expected the same")
    return options


cdef Tensor finish_with(CTensor t, object out, object requires_grad, object pin_memory, str op):
    """`finish`, or what out= asks for."""
    if out is None:
        return finish(move(t), requires_grad, pin_memory)
    if pin_memory is True and not is_locked(out):
        raise ZeroValueError(f"{op}: out is not pinned; got pin_memory=True and a tensor in "
                             "ordinary memory, expected one of pin_memory()")
    result = deliver(move(t), out, op)
    if flag_of(requires_grad, "requires_grad", "the value"):
        meta.set_requires_grad(result.c, True)
    return result


def zeros(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
          pin_memory=False):
    """A tensor of zeros.

    Args:
        sizes: the shape: ints, or one tuple, list or Size.
        size: the same by name.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: a size is negative, or the number of elements does not fit in 64 bits.

    Example:
        >>> import zero
        >>> zero.zeros(2, 2).tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    only_plain(layout, pin_memory, "zeros")
    return finish_with(ops.zeros(sizes_of(sizes, size, "zeros"),
                                 options_with(dtype, device, out, "zeros")),
                       out, requires_grad, pin_memory, "zeros")


def ones(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
         pin_memory=False):
    """A tensor of ones.

    Args:
        sizes: the shape: ints, or one tuple, list or Size.
        size: the same by name.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: a size is negative, or the number of elements does not fit in 64 bits.

    Example:
        >>> import zero
        >>> zero.ones(2, 2).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    only_plain(layout, pin_memory, "ones")
    return finish_with(ops.ones(sizes_of(sizes, size, "ones"),
                                options_with(dtype, device, out, "ones")),
                       out, requires_grad, pin_memory, "ones")


def empty(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
          pin_memory=False, memory_format=None):
    """A tensor whose elements are whatever the memory held.

    Args:
        sizes: the shape: ints, or one tuple, list or Size.
        size: the same by name.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.
        memory_format: zero.channels_last for a tensor with the channels last; row-major for None.

    Raises:
        ValueError: a size is negative, or the number of elements does not fit in 64 bits.

    Example:
        >>> import zero
        >>> zero.empty(2, 3).shape
        zero.Size([2, 3])
    """
    only_plain(layout, pin_memory, "empty")
    return finish_with(empty_in_format(sizes_of(sizes, size, "empty"),
                                       options_with(dtype, device, out, "empty"),
                                       format_of(memory_format, "empty"), "empty"),
                       out, requires_grad, pin_memory, "empty")


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False,
         pin_memory=False):
    """A tensor with one value everywhere.

    Args:
        size: the shape, an int, tuple, list or Size.
        fill_value: a number, or a tensor with one element.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; for None that of the number: bool, int64 or the default
            float dtype.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: a size is negative, or the number of elements does not fit in 64 bits.

    Example:
        >>> import zero
        >>> zero.full((2, 2), 7).tolist()
        [[7, 7], [7, 7]]
    """
    only_plain(layout, pin_memory, "full")
    cdef CScalar value = as_scalar(fill_value, "full", "fill_value")
    cdef CTensorOptions options = options_for(value, dtype, device, "full") if out is None else \
        options_with(dtype, device, out, "full")
    if out is None and dtype is None and isinstance(fill_value, Tensor):
        options.dtype = (<Tensor> fill_value).c.dtype()
    return finish_with(ops.full(as_dims(size, "full"), value, options),
                       out, requires_grad, pin_memory, "full")


def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False,
                  pin_memory=False):
    """A tensor without dimensions that holds one number.

    Args:
        s: the number.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Example:
        >>> import zero
        >>> zero.scalar_tensor(3).item()
        3.0
    """
    only_plain(layout, pin_memory, "scalar_tensor")
    return finish(ops.scalar_tensor(as_scalar(s, "scalar_tensor", "s"),
                                    as_options(dtype, device, "scalar_tensor")),
                  requires_grad, pin_memory)


def arange(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None,
           requires_grad=False, pin_memory=False):
    """Evenly spaced numbers: ``start, start + step, …``, up to but without `end`.

    There are ``ceil((end - start) / step)`` of them. ``arange(end)`` starts at 0.

    Args:
        start: the first number.
        end: the limit, which is not included.
        step: the distance; may be negative, not zero.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; for None int64 if all three are ints, else the default
            float dtype.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: `step` is 0, or leads away from `end`.

    Example:
        >>> import zero
        >>> zero.arange(4).tolist(), zero.arange(1, 0, -0.25).tolist()
        ([0, 1, 2, 3], [1.0, 0.75, 0.5, 0.25])
    """
    only_plain(layout, pin_memory, "arange")
    cdef CScalar c_start, c_end, c_step
    cdef CTensorOptions options = options_with(dtype, device, out, "arange")
    if end is None:
        start, end = 0, start
    c_start = as_scalar(start, "arange", "start")
    c_end = as_scalar(end, "arange", "end")
    c_step = as_scalar(step, "arange", "step")
    if out is None and dtype is None and not (c_start.is_float() or c_end.is_float()
                                              or c_step.is_float()):
        options.dtype = CDType.Int64
    return finish_with(ops.arange(c_start, c_end, c_step, options),
                       out, requires_grad, pin_memory, "arange")


def linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None,
             requires_grad=False, pin_memory=False):
    """Evenly spaced numbers from `start` to `end`, both included.

    ``y[i] = start + i * (end - start) / (steps - 1)``, counted from the nearer end.

    Args:
        start: the first number.
        end: the last one.
        steps: how many.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: `steps` is negative.

    Example:
        >>> import zero
        >>> zero.linspace(0, 1, 5).tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    only_plain(layout, pin_memory, "linspace")
    return finish_with(ops.linspace(as_scalar(start, "linspace", "start"),
                                    as_scalar(end, "linspace", "end"),
                                    as_int(steps, "linspace", "steps"),
                                    options_with(dtype, device, out, "linspace")),
                       out, requires_grad, pin_memory, "linspace")


def logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None,
             requires_grad=False, pin_memory=False):
    """Powers of a base whose exponents are evenly spaced: ``base ** linspace(start, end, steps)``.

    Args:
        start: the first exponent.
        end: the last one.
        steps: how many.
        base: the base.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: `steps` is negative.

    Example:
        >>> import zero
        >>> zero.logspace(0, 3, 4).tolist()
        [1.0, 10.0, 100.0, 1000.0]
    """
    only_plain(layout, pin_memory, "logspace")
    return finish_with(ops.logspace(as_scalar(start, "logspace", "start"),
                                    as_scalar(end, "logspace", "end"),
                                    as_int(steps, "logspace", "steps"),
                                    as_float(base, "logspace", "base"),
                                    options_with(dtype, device, out, "logspace")),
                       out, requires_grad, pin_memory, "logspace")


def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False,
        pin_memory=False):
    """The identity matrix: ones on the diagonal, zeros elsewhere.

    Args:
        n: rows.
        m: columns; as many as rows for None.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: a size is negative.

    Example:
        >>> import zero
        >>> zero.eye(2, 3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    only_plain(layout, pin_memory, "eye")
    cdef int64_t rows = as_int(n, "eye", "n")
    cdef int64_t columns = rows if m is None else as_int(m, "eye", "m")
    return finish_with(ops.eye(rows, columns, options_with(dtype, device, out, "eye")), out,
                       requires_grad, pin_memory, "eye")


def rand(*sizes, size=None, generator=None, out=None, dtype=None, layout=None, device=None,
         requires_grad=False, pin_memory=False):
    """Random numbers, uniform on [0, 1).

    Args:
        sizes: the shape: ints, or one tuple, list or Size.
        size: the same by name.
        generator: the source of random numbers; the default generator for None.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: a size is negative, or the number of elements does not fit in 64 bits.
        DTypeError: `dtype` is not a float dtype.

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> x = zero.rand(1000)
        >>> bool((x >= 0).all()), bool((x < 1).all())
        (True, True)

    Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011 (Philox).
    """
    only_plain(layout, pin_memory, "rand")
    return finish_with(ops.rand(sizes_of(sizes, size, "rand"),
                                options_with(dtype, device, out, "rand"),
                                as_generator(generator, "rand")),
                       out, requires_grad, pin_memory, "rand")


def randn(*sizes, size=None, generator=None, out=None, dtype=None, layout=None, device=None,
          requires_grad=False, pin_memory=False):
    """Random numbers from the normal distribution with mean 0 and variance 1.

    Args:
        sizes: the shape: ints, or one tuple, list or Size.
        size: the same by name.
        generator: the source of random numbers; the default generator for None.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; the default float dtype for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: a size is negative, or the number of elements does not fit in 64 bits.
        DTypeError: `dtype` is not a float dtype.

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> x = zero.randn(10000)
        >>> abs(x.mean().item()) < 0.05, abs(x.std().item() - 1) < 0.05
        (True, True)

    Source: Box and Muller, A note on the generation of random normal deviates, 1958.
    """
    only_plain(layout, pin_memory, "randn")
    return finish_with(ops.randn(sizes_of(sizes, size, "randn"),
                                 options_with(dtype, device, out, "randn"),
                                 as_generator(generator, "randn")),
                       out, requires_grad, pin_memory, "randn")


def randint(low=0, high=None, size=None, *, generator=None, out=None, dtype=None, layout=None,
            device=None, requires_grad=False, pin_memory=False):
    """Random integers, uniform on [low, high).

    Called as ``randint(high, size)`` or ``randint(low, high, size)``.

    Args:
        low: the least value, 0 if left out.
        high: the limit, which is not included.
        size: the shape, a tuple, list or Size.
        generator: the source of random numbers; the default generator for None.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; int64 for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: `high` is not above `low`, or a value does not fit the dtype.

    Example:
        >>> import zero
        >>> _ = zero.manual_seed(0)
        >>> x = zero.randint(3, 6, (100,))
        >>> x.min().item(), x.max().item()
        (3, 5)
    """
    only_plain(layout, pin_memory, "randint")
    if isinstance(high, (tuple, list)) and size is None:  # randint(high, size)
        low, high, size = 0, low, high
    elif high is None:  # randint(high, size=size)
        low, high = 0, low
    if size is None:
        raise TypeError("randint: no size is given; expected randint(high, size) or "
                        "randint(low, high, size)")
    cdef CTensorOptions options = options_with(dtype, device, out, "randint")
    if out is None and dtype is None:
        options.dtype = CDType.Int64
    return finish_with(ops.randint(as_int(low, "randint", "low"), as_int(high, "randint", "high"),
                                   as_dims(size, "randint"), options,
                                   as_generator(generator, "randint")),
                       out, requires_grad, pin_memory, "randint")


def randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None,
             requires_grad=False, pin_memory=False):
    """A random order of the integers 0 to ``n - 1``; every order is as likely.

    Args:
        n: how many.
        generator: the source of random numbers; the default generator for None.
        out: where to write the result: a tensor of its shape, or one without elements.
        dtype: the element type; int64 for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; the default device for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.

    Raises:
        ValueError: `n` is negative, or does not fit the dtype.

    Example:
        >>> import zero
        >>> sorted(zero.randperm(5).tolist())
        [0, 1, 2, 3, 4]
    """
    only_plain(layout, pin_memory, "randperm")
    cdef CTensorOptions options = options_with(dtype, device, out, "randperm")
    if out is None and dtype is None:
        options.dtype = CDType.Int64
    return finish_with(ops.randperm(as_int(n, "randperm", "n"), options,
                                    as_generator(generator, "randperm")),
                       out, requires_grad, pin_memory, "randperm")
