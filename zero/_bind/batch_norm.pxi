# Batch normalisation.


cdef inline const CTensor* given_or_none(Tensor x) noexcept:
    return &no_tensor if x is None else &x.c


def batch_norm(Tensor input not None, Tensor weight, Tensor bias, Tensor running_mean,
               Tensor running_var, training, momentum, eps, cudnn_enabled=True):
    """Normalises each channel: ``y = (x - m) / sqrt(v + eps) * weight + bias``.

    In training m and v are the mean and the variance (divided by n) of the channel's elements in
    `input`, and gradients flow through them. The running mean and variance, where they are given,
    move towards them in place: ``running = (1 - momentum) * running + momentum * new``, the
    variance divided by n - 1. Otherwise m and v are the running ones.

    Args:
        input: shape [N, C, ...], of floats.
        weight: of shape [C], or None.
        bias: likewise.
        running_mean: likewise; None only in training.
        running_var: likewise.
        training: a bool.
        momentum: the share of the new values.
        eps: is added to the variance.
        cudnn_enabled: has no meaning here; PyTorch's argument.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the input is not floating point, or the dtypes differ.
        ValueError: there is no running mean or variance, and it is not training.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 10.0], [3.0, 30.0]])
        >>> zero.batch_norm(x, None, None, None, None, True, 0.1, 0.0).tolist()
        [[-1.0, -1.0], [1.0, 1.0]]

    Source: Ioffe and Szegedy, Batch normalization, 2015.
    """
    return wrap(batch_norms.batch_norm(
        input.c, given_or_none(weight)[0], given_or_none(bias)[0], given_or_none(running_mean)[0],
        given_or_none(running_var)[0], flag_of(training, "batch_norm", "training"),
        as_float(momentum, "batch_norm", "momentum"), as_float(eps, "batch_norm", "eps")))


def native_batch_norm(Tensor input not None, Tensor weight, Tensor bias, Tensor running_mean,
                      Tensor running_var, training, momentum, eps):
    """`batch_norm` with what it computed of each channel: (y, mean, 1 / sqrt(variance + eps)).

    The last two are empty unless in training. Gradients flow through y only.

    Args:
        input: shape [N, C, ...], of floats.
        weight: of shape [C], or None.
        bias: likewise.
        running_mean: likewise; None only in training.
        running_var: likewise.
        training: a bool.
        momentum: the share of the new values.
        eps: is added to the variance.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the input is not floating point, or the dtypes differ.
        ValueError: there is no running mean or variance, and it is not training.

    Example:
        >>> import zero
        >>> x = zero.tensor([[1.0, 10.0], [5.0, 30.0]])
        >>> y, mean, rstd = zero.native_batch_norm(x, None, None, None, None, True, 0.1, 0.0)
        >>> mean.tolist(), rstd.tolist()
        ([3.0, 20.0], [0.5, 0.10000000149011612])
    """
    cdef CTensors results = batch_norms.native_batch_norm(
        input.c, given_or_none(weight)[0], given_or_none(bias)[0], given_or_none(running_mean)[0],
        given_or_none(running_var)[0], flag_of(training, "native_batch_norm", "training"),
        as_float(momentum, "native_batch_norm", "momentum"),
        as_float(eps, "native_batch_norm", "eps"))
    return wrap_all(results)
