# Softmax and losses.
from cpython.unicode cimport PyUnicode_AsUTF8

from warnings import warn as _warn


cdef CReduction reduction_of(object reduction, object size_average, object reduce, str op) except *:
    """The reduction by name, or by the two arguments that PyTorch had before it."""
    if size_average is not None or reduce is not None:
        if reduce is not None and not flag_of(reduce, op, "reduce"):
            reduction = "none"
        elif size_average is not None and not flag_of(size_average, op, "size_average"):
            reduction = "sum"
        else:
            reduction = "mean"
        _warn(f"{op}: size_average and reduce are old; use reduction={reduction!r} instead",
              FutureWarning, stacklevel=2)
    if reduction == "mean":
        return CReduction.Mean
    if reduction == "sum":
        return CReduction.Sum
    if reduction == "none":
        return ops.no_reduction
    raise ZeroValueError(f"{op}: unknown reduction; got {short_repr(reduction)}, expected 'none', "
                         "'mean' or 'sum'")


def softmax(Tensor input not None, dim, dtype=None, *, out=None):
    """Probabilities from scores: ``y_i = e^(x_i) / sum_j e^(x_j)`` along a dimension.

    The largest score is taken off first, so nothing overflows. A row of only -inf gives nan.

    Args:
        input: tensor of any shape, of floats unless `dtype` is given.
        dim: the dimension along which the results sum to 1.
        dtype: what the elements become first.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: the dimension is out of range.
        DTypeError: the elements are not floats.

    Example:
        >>> import zero
        >>> zero.softmax(zero.tensor([1000.0, 1000.0]), dim=0).tolist()
        [0.5, 0.5]

    Source: Bridle, Probabilistic interpretation of feedforward classification network
    outputs, 1990.
    """
    return deliver(ops.softmax(input.c, dim_of(dim, "softmax"), optional_dtype(dtype, "softmax")),
                   out, "softmax")


def log_softmax(Tensor input not None, dim, dtype=None, *, out=None):
    """The logarithm of `softmax`: ``y_i = x_i - ln(sum_j e^(x_j))`` along a dimension.

    It keeps its precision where the softmax itself would round to 0.

    Args:
        input: tensor of any shape, of floats unless `dtype` is given.
        dim: the dimension along which the exponentials of the results sum to 1.
        dtype: what the elements become first.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        IndexError: the dimension is out of range.
        DTypeError: the elements are not floats.

    Example:
        >>> import zero
        >>> zero.log_softmax(zero.tensor([0.0, 1000.0]), dim=0).tolist()
        [-1000.0, 0.0]
    """
    return deliver(ops.log_softmax(input.c, dim_of(dim, "log_softmax"),
                                   optional_dtype(dtype, "log_softmax")), out, "log_softmax")


def cross_entropy(Tensor input not None, Tensor target not None, Tensor weight=None,
                  size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """The cross entropy of scores against classes: ``l_n = -w_t ln(softmax(x_n)_t)``, t = target_n.

    With label smoothing s, the target is 1 - s of the class and s spread evenly over all C classes.
    The mean is weighted: ``sum_n l_n / sum_n w_(target_n)``, without the ignored ones.

    Args:
        input: scores of shape [C], [N, C] or [N, C, ...], of floats.
        target: the classes, integers of shape [], [N] or [N, ...]; or probabilities, floats of the
            shape of `input`.
        weight: a factor for each class, of shape [C].
        size_average: old form of `reduction`.
        ignore_index: a class that counts as absent.
        reduce: old form of `reduction`.
        reduction: 'mean', 'sum' or 'none', which gives the shape of the classes.
        label_smoothing: the share spread over all classes, from 0 to 1.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the dtypes do not fit.
        IndexError: a class is out of range.
        ValueError: an unknown reduction, or `label_smoothing` is not in [0, 1].

    Example:
        >>> import zero
        >>> scores, classes = zero.tensor([[0.0, 1000.0], [1000.0, 0.0]]), zero.tensor([1, 1])
        >>> zero.cross_entropy(scores, classes).item()
        500.0

    Source: Szegedy et al., Rethinking the Inception architecture, 2016 (label smoothing).
    """
    cdef CReduction how = reduction_of(reduction, size_average, reduce, "cross_entropy")
    return wrap(ops.cross_entropy(input.c, target.c, no_tensor if weight is None else weight.c,
                                  as_int(ignore_index, "cross_entropy", "ignore_index"), how,
                                  as_float(label_smoothing, "cross_entropy", "label_smoothing")))


def nll_loss(Tensor input not None, Tensor target not None, Tensor weight=None, size_average=None,
             ignore_index=-100, reduce=None, reduction="mean"):
    """The negative log likelihood of classes: ``l_n = -w_t x_(n, t)`` with ``t = target_n``.

    The mean is weighted: ``sum_n l_n / sum_n w_(target_n)``, without the ignored ones.

    Args:
        input: logarithms of probabilities of shape [C], [N, C] or [N, C, ...], of floats.
        target: the classes, integers of shape [], [N] or [N, ...].
        weight: a factor for each class, of shape [C].
        size_average: old form of `reduction`.
        ignore_index: a class that counts as absent.
        reduce: old form of `reduction`.
        reduction: 'mean', 'sum' or 'none', which gives the shape of `target`.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the dtypes do not fit.
        IndexError: a class is out of range.
        ValueError: an unknown reduction.

    Example:
        >>> import zero
        >>> zero.nll_loss(zero.tensor([[-0.5, -1.0]]), zero.tensor([1])).item()
        1.0
    """
    cdef CReduction how = reduction_of(reduction, size_average, reduce, "nll_loss")
    return wrap(ops.nll_loss(input.c, target.c, no_tensor if weight is None else weight.c,
                             as_int(ignore_index, "nll_loss", "ignore_index"), how))


def mse_loss(Tensor input not None, Tensor target not None, size_average=None, reduce=None,
             reduction="mean"):
    """The squared error: ``l = (input - target)^2``.

    Args:
        input: tensor of any shape, of floats.
        target: tensor of the same shape.
        size_average: old form of `reduction`.
        reduce: old form of `reduction`.
        reduction: 'mean', 'sum' or 'none', which gives the shape of `input`.

    Raises:
        ShapeError: the shapes do not fit.
        ValueError: an unknown reduction.

    Example:
        >>> import zero
        >>> zero.mse_loss(zero.tensor([1.0, 2.0]), zero.tensor([1.0, 4.0])).item()
        2.0
    """
    cdef CReduction how = reduction_of(reduction, size_average, reduce, "mse_loss")
    return wrap(ops.mse_loss(input.c, target.c, how))


def _pair_loss(str name not None, Tensor input not None, Tensor target not None, reduction,
               a=0.0, b=0.0):
    """A loss of pairs of numbers by its name, see kernels/loss.h for a and b."""
    return wrap(losses.pair_loss(PyUnicode_AsUTF8(name), input.c, target.c,
                                 reduction_of(reduction, None, None, name),
                                 as_float(a, name, "the option"), as_float(b, name, "the option")))


cdef CDims lengths_of(object lengths, str name) except *:
    """The lengths of sequences: a tensor of integers, or ints."""
    cdef CDims result
    if not isinstance(lengths, Tensor):
        return as_dims(lengths, "ctc_loss")
    if is_floating((<Tensor> lengths).c.dtype()) or (<Tensor> lengths).c.dim() > 1:
        raise DTypeError(f"ctc_loss: {name} is not a row of integers; got {short_repr(lengths)}")
    for length in lengths.reshape(-1).tolist():
        result.push_back(as_int(length, "ctc_loss", name))
    return result


def _ctc_loss(Tensor log_probs not None, Tensor targets not None, input_lengths, target_lengths,
              blank, reduction, zero_infinity):
    """ctc_loss of zero.nn.functional."""
    return wrap(losses.ctc_loss(
        log_probs.c, targets.c, lengths_of(input_lengths, "input_lengths"),
        lengths_of(target_lengths, "target_lengths"), as_int(blank, "ctc_loss", "blank"),
        reduction_of(reduction, None, None, "ctc_loss"),
        flag_of(zero_infinity, "ctc_loss", "zero_infinity")))


def logsumexp(Tensor input not None, dim=None, keepdim=False, *,
              out=None, axis=None, keepdims=None):
    """The logarithm of a sum of exponentials: ``y = ln sum e^x``; large values don't overflow.

    Args:
        input: any shape; integers give the default float dtype.
        dim: the dimension or dimensions to reduce; must be given.
        keepdim: whether reduced dimensions stay, with size 1.
        out: where to write the result: a tensor of its shape, or one without elements.
        axis: NumPy's name for `dim`.
        keepdims: NumPy's name for `keepdim`.

    Raises:
        IndexError: a dimension is out of range.

    Example:
        >>> import zero
        >>> zero.logsumexp(zero.tensor([1000.0, 1000.0]), 0)
        tensor(1000.6932)
    """
    if axis is not None or keepdims is not None:
        dim, keepdim = numpy_names(dim, keepdim, axis, keepdims, "logsumexp")
    if dim is None:
        raise TypeError("logsumexp: no dimension; got dim=None, expected an int or a tuple of ints")
    return deliver(ops.logsumexp(input.c, dims_of(dim, "logsumexp"),
                                 flag_of(keepdim, "logsumexp", "keepdim")), out, "logsumexp")


as_methods("""
    softmax log_softmax logsumexp
""")
