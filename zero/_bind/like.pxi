# Tensors of the shape of another.


cdef CTensor empty_of(Tensor x, const CTensorOptions& options, object memory_format,
                      str op) except *:
    """Not filled; in the order of x in memory, unless another is asked for."""
    cdef Format format = format_of(memory_format, op)
    if format == Format.preserved:
        return ops.empty_like(x.c, options)
    return empty_in_format(x.c.sizes(), options, format, op)


# Drawn in order of the index, whatever the strides: the same numbers for every layout.
cdef CTensor with_layout_of(Tensor x, const CTensor& drawn, object memory_format,
                            str op) except *:
    cdef CTensor values = drawn, y
    if x.c.is_contiguous() and memory_format is None:
        return values
    y = empty_of(x, values.options(), memory_format, op)
    ops.copy_(y, values)
    return y


def empty_like(Tensor input not None, *, dtype=None, layout=None, device=None, requires_grad=False,
               pin_memory=False, memory_format=None):
    """A tensor like another, whose elements are whatever the memory held.

    Args:
        input: a tensor of any shape, whose shape and order in memory the result gets.
        dtype: the element type; that of `input` for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; that of `input` for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.
        memory_format: the order in memory instead of that of `input`, such as
            zero.contiguous_format.

    Example:
        >>> import zero
        >>> zero.empty_like(zero.ones(2, 3)).shape
        zero.Size([2, 3])
    """
    only_plain(layout, pin_memory, "empty_like")
    return finish(empty_of(input, options_like(input, dtype, device, "empty_like"), memory_format,
                           "empty_like"), requires_grad, pin_memory)


def zeros_like(Tensor input not None, *, dtype=None, layout=None, device=None, requires_grad=False,
               pin_memory=False, memory_format=None):
    """A tensor of zeros, like another.

    Args:
        input: a tensor of any shape, whose shape and order in memory the result gets.
        dtype: the element type; that of `input` for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; that of `input` for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.
        memory_format: the order in memory instead of that of `input`, such as
            zero.contiguous_format.

    Example:
        >>> import zero
        >>> zero.zeros_like(zero.tensor([5.0, 6.0])).tolist()
        [0.0, 0.0]
    """
    only_plain(layout, pin_memory, "zeros_like")
    cdef CTensor y = empty_of(input, options_like(input, dtype, device, "zeros_like"),
                              memory_format, "zeros_like")
    ops.fill_number_(y, CScalar(<int64_t> 0))
    return finish(y, requires_grad, pin_memory)


def ones_like(Tensor input not None, *, dtype=None, layout=None, device=None, requires_grad=False,
              pin_memory=False, memory_format=None):
    """A tensor of ones, like another.

    Args:
        input: a tensor of any shape, whose shape and order in memory the result gets.
        dtype: the element type; that of `input` for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; that of `input` for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.
        memory_format: the order in memory instead of that of `input`, such as
            zero.contiguous_format.

    Example:
        >>> import zero
        >>> zero.ones_like(zero.tensor([5.0, 6.0])).tolist()
        [1.0, 1.0]
    """
    only_plain(layout, pin_memory, "ones_like")
    cdef CTensor y = empty_of(input, options_like(input, dtype, device, "ones_like"), memory_format,
                              "ones_like")
    ops.fill_number_(y, CScalar(<int64_t> 1))
    return finish(y, requires_grad, pin_memory)


def full_like(Tensor input not None, fill_value, *, dtype=None, layout=None, device=None,
              requires_grad=False, pin_memory=False, memory_format=None):
    """A tensor like another, with one value everywhere.

    Args:
        input: a tensor of any shape, whose shape and order in memory the result gets.
        fill_value: a number, or a tensor with one element.
        dtype: the element type; that of `input` for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; that of `input` for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.
        memory_format: the order in memory instead of that of `input`, such as
            zero.contiguous_format.

    Example:
        >>> import zero
        >>> zero.full_like(zero.ones(2), 7).tolist()
        [7.0, 7.0]
    """
    only_plain(layout, pin_memory, "full_like")
    cdef CScalar value = as_scalar(fill_value, "full_like", "fill_value")
    cdef CTensor y = empty_of(input, options_like(input, dtype, device, "full_like"), memory_format,
                              "full_like")
    ops.fill_number_(y, value)
    return finish(y, requires_grad, pin_memory)


def rand_like(Tensor input not None, *, generator=None, dtype=None, layout=None, device=None,
              requires_grad=False, pin_memory=False, memory_format=None):
    """Random numbers uniform on [0, 1), in a tensor like another.

    Args:
        input: a tensor of any shape, whose shape and order in memory the result gets.
        generator: the source of random numbers; the default generator for None.
        dtype: the element type; that of `input` for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; that of `input` for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.
        memory_format: the order in memory instead of that of `input`, such as
            zero.contiguous_format.

    Raises:
        DTypeError: the dtype is not a float dtype.

    Example:
        >>> import zero
        >>> zero.rand_like(zero.ones(2, 3)).shape
        zero.Size([2, 3])
    """
    only_plain(layout, pin_memory, "rand_like")
    cdef CTensor y = ops.rand(input.c.sizes(), options_like(input, dtype, device, "rand_like"),
                              as_generator(generator, "rand_like"))
    return finish(with_layout_of(input, y, memory_format, "rand_like"), requires_grad, pin_memory)


def randn_like(Tensor input not None, *, generator=None, dtype=None, layout=None, device=None,
               requires_grad=False, pin_memory=False, memory_format=None):
    """Normally distributed random numbers, of mean 0 and variance 1, in a tensor like another.

    Args:
        input: a tensor of any shape, whose shape and order in memory the result gets.
        generator: the source of random numbers; the default generator for None.
        dtype: the element type; that of `input` for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; that of `input` for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.
        memory_format: the order in memory instead of that of `input`, such as
            zero.contiguous_format.

    Raises:
        DTypeError: the dtype is not a float dtype.

    Example:
        >>> import zero
        >>> zero.randn_like(zero.ones(2, 3)).shape
        zero.Size([2, 3])
    """
    only_plain(layout, pin_memory, "randn_like")
    cdef CTensor y = ops.randn(input.c.sizes(), options_like(input, dtype, device, "randn_like"),
                               as_generator(generator, "randn_like"))
    return finish(with_layout_of(input, y, memory_format, "randn_like"), requires_grad, pin_memory)


def randint_like(Tensor input not None, low=0, high=None, *, generator=None, dtype=None,
                 layout=None, device=None, requires_grad=False, pin_memory=False,
                 memory_format=None):
    """Random integers, uniform on [low, high), in a tensor like another.

    Called as ``randint_like(input, high)`` or ``randint_like(input, low, high)``.

    Args:
        input: a tensor of any shape, whose shape and order in memory the result gets.
        low: the least value, 0 if left out.
        high: the limit, which is not included.
        generator: the source of random numbers; the default generator for None.
        dtype: the element type; that of `input` for None.
        layout: None or zero.strided.
        device: 'cpu' or 'meta'; that of `input` for None.
        requires_grad: whether operations on the result are recorded.
        pin_memory: whether the memory is pinned, see :meth:`zero.Tensor.pin_memory`.
        memory_format: the order in memory instead of that of `input`, such as
            zero.contiguous_format.

    Raises:
        ValueError: `high` is not above `low`, or a value does not fit the dtype.

    Example:
        >>> import zero
        >>> zero.randint_like(zero.ones(2, 3), 5).shape
        zero.Size([2, 3])
    """
    only_plain(layout, pin_memory, "randint_like")
    if high is None:
        low, high = 0, low
    cdef CTensorOptions options = options_like(input, dtype, device, "randint_like")
    cdef CTensor y = ops.randint(as_int(low, "randint_like", "low"),
                                 as_int(high, "randint_like", "high"), input.c.sizes(), options,
                                 as_generator(generator, "randint_like"))
    return finish(with_layout_of(input, y, memory_format, "randint_like"),
                  requires_grad, pin_memory)
