# Convolutions and transposed convolutions.
from zero._cpp cimport convolution as convolutions
from zero._cpp.convolution cimport CConvolution


cdef CDims spatial(object x, Py_ssize_t n, str op, str name) except *:
    """A number for each of n dimensions: one for all, or a sequence of them."""
    cdef CDims result
    cdef Py_ssize_t i
    if isinstance(x, (tuple, list)):
        if len(x) != n and len(x) != 1:
            raise ShapeError(f"{op}: {name} has a wrong length; got {short_repr(x)}, expected an "
                             f"int or {n} of them")
        for i in range(n):
            result.push_back(as_int(x[i if len(x) == n else 0], op, name))
        return result
    for i in range(n):
        result.push_back(as_int(x, op, name))
    return result


cdef int pad_by_name(CConvolution* options, Tensor weight, str padding, str op) except -1:
    """padding='valid' is none, 'same' as much as makes the output as large as the input."""
    cdef int64_t i, n = options.stride.size(), total
    if padding not in ("same", "valid"):
        raise ZeroValueError(f"{op}: padding is unknown; got {padding!r}, expected 'same', 'valid' "
                             "or ints")
    options.padding = spatial(0, n, op, "padding")
    options.padding_after = options.padding
    if padding == "valid" or weight.c.dim() != n + 2:
        return 0
    for i in range(n):
        if options.stride[i] != 1:
            raise ZeroValueError(f"{op}: padding='same' with a stride; got stride "
                                 f"{options.stride[i]}, expected 1")
        total = options.dilation[i] * (weight.c.size(i + 2) - 1)
        options.padding[i] = total // 2
        options.padding_after[i] = total - total // 2
    return 0


cdef object convolved(str op, Py_ssize_t n, Tensor input, Tensor weight, Tensor bias,
                      object stride, object padding, object dilation, object groups,
                      object output_padding):
    """output_padding: None for a convolution that is not transposed."""
    cdef CConvolution options
    cdef bytes name = op.encode()
    options.stride = spatial(stride, n, op, "stride")
    options.dilation = spatial(dilation, n, op, "dilation")
    options.groups = as_int(groups, op, "groups")
    if output_padding is not None:
        options.transposed = True
        options.output_padding = spatial(output_padding, n, op, "output_padding")
    if isinstance(padding, str) and output_padding is None:
        pad_by_name(&options, weight, padding, op)
    else:
        options.padding = spatial(padding, n, op, "padding")
        options.padding_after = options.padding
    return wrap(convolutions.convolution(name, input.c, weight.c,
                                         no_tensor if bias is None else bias.c, options))


def conv1d(Tensor input not None, Tensor weight not None, Tensor bias=None, stride=1, padding=0,
           dilation=1, groups=1):
    """Slides a kernel along sequences, and takes the sum of products at each place.

    It is a cross-correlation: the kernel is not mirrored. Outside of the input there are zeros.

    Args:
        input: shape [N, C, L], or [C, L] without a batch; of floats or integers.
        weight: shape [K, C / groups, kL], of the same dtype.
        bias: shape [K], added to each output channel; none for None.
        stride: steps of the kernel, an int or 1 of them.
        padding: zeros on both sides, an int or 1 of them; 'valid' for none, 'same' for as many as
            make the output as large as the input (the odd one at the end).
        dilation: steps between elements of the kernel, an int or 1 of them.
        groups: parts of the channels that are convolved apart; divides C and K.

    Returns:
        [N, K, out_L] with
        ``out_L = (L + 2 padding - dilation (kL - 1) - 1) // stride + 1``.

    Raises:
        ShapeError: the sizes do not fit, or the kernel is larger than the padded input.
        ValueError: an option is out of its range.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> x, w = zero.tensor([[1.0, 2.0, 4.0, 8.0]]), zero.tensor([[[1.0, -1.0]]])
        >>> zero.conv1d(x, w).tolist()
        [[-1.0, -2.0, -4.0]]
    """
    return convolved("conv1d", 1, input, weight, bias, stride, padding, dilation, groups, None)


def conv2d(Tensor input not None, Tensor weight not None, Tensor bias=None, stride=1, padding=0,
           dilation=1, groups=1):
    """Slides a kernel over images, and takes the sum of products at each place.

    It is a cross-correlation: the kernel is not mirrored. Outside of the input there are zeros.

    Args:
        input: shape [N, C, H, W], or [C, H, W] without a batch; of floats or integers.
        weight: shape [K, C / groups, kH, kW], of the same dtype.
        bias: shape [K], added to each output channel; none for None.
        stride: steps of the kernel, an int or 2 of them.
        padding: zeros on both sides, an int or 2 of them; 'valid' for none, 'same' for as many as
            make the output as large as the input (the odd one at the end).
        dilation: steps between elements of the kernel, an int or 2 of them.
        groups: parts of the channels that are convolved apart; divides C and K.

    Returns:
        [N, K, out_H, out_W] with
        ``out_W = (W + 2 padding - dilation (kW - 1) - 1) // stride + 1``.

    Raises:
        ShapeError: the sizes do not fit, or the kernel is larger than the padded input.
        ValueError: an option is out of its range.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> x = zero.arange(9.0).reshape(1, 1, 3, 3)
        >>> zero.conv2d(x, zero.ones(1, 1, 2, 2)).tolist()
        [[[[8.0, 12.0], [20.0, 24.0]]]]
        >>> zero.conv2d(x, zero.ones(5, 1, 3, 3), padding="same").shape
        zero.Size([1, 5, 3, 3])
    """
    return convolved("conv2d", 2, input, weight, bias, stride, padding, dilation, groups, None)


def conv3d(Tensor input not None, Tensor weight not None, Tensor bias=None, stride=1, padding=0,
           dilation=1, groups=1):
    """Slides a kernel over volumes, and takes the sum of products at each place.

    It is a cross-correlation: the kernel is not mirrored. Outside of the input there are zeros.

    Args:
        input: shape [N, C, D, H, W], or [C, D, H, W] without a batch; of floats or integers.
        weight: shape [K, C / groups, kD, kH, kW], of the same dtype.
        bias: shape [K], added to each output channel; none for None.
        stride: steps of the kernel, an int or 3 of them.
        padding: zeros on both sides, an int or 3 of them; 'valid' for none, 'same' for as many as
            make the output as large as the input (the odd one at the end).
        dilation: steps between elements of the kernel, an int or 3 of them.
        groups: parts of the channels that are convolved apart; divides C and K.

    Returns:
        [N, K, out_D, out_H, out_W] with
        ``out_W = (W + 2 padding - dilation (kW - 1) - 1) // stride + 1``.

    Raises:
        ShapeError: the sizes do not fit, or the kernel is larger than the padded input.
        ValueError: an option is out of its range.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> x = zero.ones(1, 2, 4, 4, 4)
        >>> zero.conv3d(x, zero.ones(3, 2, 2, 2, 2), stride=2).shape
        zero.Size([1, 3, 2, 2, 2])
    """
    return convolved("conv3d", 3, input, weight, bias, stride, padding, dilation, groups, None)


def conv_transpose1d(Tensor input not None, Tensor weight not None, Tensor bias=None, stride=1,
                     padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of :func:`conv1d`: the gradient of that by its input.

    Each element of the input adds its multiple of the kernel to the output, `stride` apart.

    Args:
        input: shape [N, C, L], or [C, L] without a batch; of floats or integers.
        weight: shape [C, K / groups, kL], of the same dtype.
        bias: shape [K], added to each output channel; none for None.
        stride: the distance between places that neighbours add to, an int or 1 of them.
        padding: elements taken off on both sides, an int or 1 of them.
        output_padding: elements added at the end, less than the stride or the dilation.
        groups: parts of the channels that are convolved apart; divides C and K.
        dilation: steps between elements of the kernel, an int or 1 of them.

    Returns:
        [N, K, out_L] with
        ``out_L = (L - 1) stride - 2 padding + dilation (kL - 1) + output_padding + 1``.

    Raises:
        ShapeError: the sizes do not fit, or the result would have no elements.
        ValueError: an option is out of its range.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> x, w = zero.tensor([[1.0, 2.0]]), zero.tensor([[[1.0, 10.0, 100.0]]])
        >>> zero.conv_transpose1d(x, w).tolist()
        [[1.0, 12.0, 120.0, 200.0]]

    Source: Zeiler et al., Deconvolutional networks, 2010.
    """
    return convolved("conv_transpose1d", 1, input, weight, bias, stride, padding, dilation, groups,
                     output_padding)


def conv_transpose2d(Tensor input not None, Tensor weight not None, Tensor bias=None, stride=1,
                     padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of :func:`conv2d`: the gradient of that by its input.

    Each element of the input adds its multiple of the kernel to the output, `stride` apart.

    Args:
        input: shape [N, C, H, W], or [C, H, W] without a batch; of floats or integers.
        weight: shape [C, K / groups, kH, kW], of the same dtype.
        bias: shape [K], added to each output channel; none for None.
        stride: the distance between places that neighbours add to, an int or 2 of them.
        padding: elements taken off on both sides, an int or 2 of them.
        output_padding: elements added at the end, less than the stride or the dilation.
        groups: parts of the channels that are convolved apart; divides C and K.
        dilation: steps between elements of the kernel, an int or 2 of them.

    Returns:
        [N, K, out_H, out_W] with
        ``out_W = (W - 1) stride - 2 padding + dilation (kW - 1) + output_padding + 1``.

    Raises:
        ShapeError: the sizes do not fit, or the result would have no elements.
        ValueError: an option is out of its range.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> x = zero.tensor([[[1.0, 2.0]]])
        >>> zero.conv_transpose2d(x, zero.ones(1, 1, 1, 2), stride=2).tolist()
        [[[1.0, 1.0, 2.0, 2.0]]]

    Source: Zeiler et al., Deconvolutional networks, 2010.
    """
    return convolved("conv_transpose2d", 2, input, weight, bias, stride, padding, dilation, groups,
                     output_padding)


def conv_transpose3d(Tensor input not None, Tensor weight not None, Tensor bias=None, stride=1,
                     padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of :func:`conv3d`: the gradient of that by its input.

    Each element of the input adds its multiple of the kernel to the output, `stride` apart.

    Args:
        input: shape [N, C, D, H, W], or [C, D, H, W] without a batch; of floats or integers.
        weight: shape [C, K / groups, kD, kH, kW], of the same dtype.
        bias: shape [K], added to each output channel; none for None.
        stride: the distance between places that neighbours add to, an int or 3 of them.
        padding: elements taken off on both sides, an int or 3 of them.
        output_padding: elements added at the end, less than the stride or the dilation.
        groups: parts of the channels that are convolved apart; divides C and K.
        dilation: steps between elements of the kernel, an int or 3 of them.

    Returns:
        [N, K, out_D, out_H, out_W] with
        ``out_W = (W - 1) stride - 2 padding + dilation (kW - 1) + output_padding + 1``.

    Raises:
        ShapeError: the sizes do not fit, or the result would have no elements.
        ValueError: an option is out of its range.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> x = zero.ones(1, 2, 4, 4, 4)
        >>> zero.conv_transpose3d(x, zero.ones(2, 3, 2, 2, 2), stride=2).shape
        zero.Size([1, 3, 8, 8, 8])

    Source: Zeiler et al., Deconvolutional networks, 2010.
    """
    return convolved("conv_transpose3d", 3, input, weight, bias, stride, padding, dilation, groups,
                     output_padding)


def convolution(Tensor input not None, Tensor weight not None, Tensor bias, stride, padding,
                dilation, transposed, output_padding, groups):
    """What :func:`conv2d` and its kin are, for any of 1, 2 or 3 dimensions after the channels.

    Args:
        input: shape [N, C, ...].
        weight: shape [K, C / groups, ...], or [C, K / groups, ...] if transposed.
        bias: shape [K], or None.
        stride: a number for each dimension, likewise padding, dilation and output_padding.
        padding: zeros on both sides.
        dilation: steps between elements of the kernel.
        transposed: whether it is the transposed convolution.
        output_padding: elements added at the end, if it is transposed.
        groups: parts of the channels that are convolved apart.

    Raises:
        ShapeError: the sizes do not fit.
        ValueError: an option is out of its range.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> x, w = zero.ones(1, 2, 5), zero.ones(3, 2, 2)
        >>> zero.convolution(x, w, None, [1], [0], [1], False, [0], 1).shape
        zero.Size([1, 3, 4])
    """
    cdef int64_t n = weight.c.dim() - 2
    if not 1 <= n <= 3:
        raise ShapeError(f"convolution: the weight has a wrong number of dimensions; got "
                         f"{n + 2}, expected 3, 4 or 5")
    return convolved("convolution", n, input, weight, bias, stride, padding, dilation, groups,
                     output_padding if flag_of(transposed, "convolution", "transposed") else None)


def conv_tbc(Tensor input not None, Tensor weight not None, Tensor bias not None, pad=0):
    """:func:`conv1d` of sequences whose first dimension is time.

    Args:
        input: shape [T, B, C].
        weight: shape [k, C, K].
        bias: shape [K].
        pad: zeros on both sides.

    Raises:
        ShapeError: the sizes do not fit.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> zero.conv_tbc(zero.ones(5, 2, 3), zero.ones(2, 3, 4), zero.zeros(4)).shape
        zero.Size([4, 2, 4])
    """
    if input.c.dim() != 3 or weight.c.dim() != 3:
        raise ShapeError(f"conv_tbc: a wrong number of dimensions; got input {input.c.dim()} and "
                         f"weight {weight.c.dim()}, expected 3 each")
    return convolved("conv_tbc", 1, input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad,
                     1, 1, None).permute(2, 0, 1)


def _winograd_enabled():
    """Whether convolutions may take Winograd's algorithm."""
    return convolutions.winograd_enabled() != 0


def _enable_winograd(enabled):
    """Sets that."""
    convolutions.enable_winograd(flag_of(enabled, "backends.winograd", "enabled"))
