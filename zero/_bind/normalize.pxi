# Normalisation of rows: layer_norm, rms_norm, group_norm.


def layer_norm(Tensor input not None, normalized_shape, Tensor weight=None, Tensor bias=None,
               eps=1e-5, cudnn_enable=True):
    """Brings the last dimensions to mean 0 and variance 1: ``y = (x - E[x]) / sqrt(Var[x] + eps)``.

    Then y is multiplied by `weight` and `bias` is added. The variance is that of all elements
    (divided by n), from differences to the mean in float64: rows far from 0 keep their digits.

    Args:
        input: of floats; its last sizes are `normalized_shape`.
        normalized_shape: the sizes of the last dimensions, an int or a tuple of ints.
        weight: of shape `normalized_shape`, or None.
        bias: likewise.
        eps: is added to the variance.
        cudnn_enable: has no meaning here; PyTorch's argument.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the input is not floating point, or the dtypes differ.

    Example:
        >>> import zero
        >>> zero.layer_norm(zero.tensor([[1.0, 3.0], [10.0, 30.0]]), (2,), eps=0).tolist()
        [[-1.0, 1.0], [-1.0, 1.0]]

    Source: Ba, Kiros and Hinton, Layer normalization, 2016.
    """
    return wrap(ops.layer_norm(input.c, as_dims(normalized_shape, "layer_norm"),
                               no_tensor if weight is None else weight.c,
                               no_tensor if bias is None else bias.c,
                               as_float(eps, "layer_norm", "eps")))


def rms_norm(Tensor input not None, normalized_shape, Tensor weight=None, eps=None):
    """Divides the last dimensions by their root mean square: ``y = x / sqrt(E[x^2] + eps)``.

    Then y is multiplied by `weight`.

    Args:
        input: of floats; its last sizes are `normalized_shape`.
        normalized_shape: the sizes of the last dimensions, an int or a tuple of ints.
        weight: of shape `normalized_shape`, or None.
        eps: is added to the mean square; None is the dtype's machine epsilon.

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the input is not floating point, or the dtypes differ.

    Example:
        >>> import zero
        >>> zero.rms_norm(zero.tensor([[3.0, 3.0], [-5.0, 5.0]]), (2,), eps=0).tolist()
        [[1.0, 1.0], [-1.0, 1.0]]

    Source: Zhang and Sennrich, Root mean square layer normalization, 2019.
    """
    cdef optional[double] given
    if eps is not None:
        given = as_float(eps, "rms_norm", "eps")
    return wrap(ops.rms_norm(input.c, as_dims(normalized_shape, "rms_norm"),
                             no_tensor if weight is None else weight.c, given))


def group_norm(Tensor input not None, num_groups, Tensor weight=None, Tensor bias=None, eps=1e-5,
               cudnn_enabled=True):
    """Brings each group of channels of a sample to mean 0 and variance 1, as `layer_norm` does.

    Then each channel is multiplied by its weight and its bias is added.

    Args:
        input: shape [N, C, ...], of floats.
        num_groups: how many groups the channels make; a divisor of C.
        weight: of shape [C], or None.
        bias: likewise.
        eps: is added to the variance.
        cudnn_enabled: has no meaning here; PyTorch's argument.

    Raises:
        ShapeError: the shapes do not fit, or the channels do not divide into groups.
        DTypeError: the input is not floating point, or the dtypes differ.

    Example:
        >>> import zero
        >>> x = zero.tensor([[[1.0], [3.0], [10.0], [30.0]]])
        >>> zero.group_norm(x, 2, eps=0).flatten().tolist()
        [-1.0, 1.0, -1.0, 1.0]

    Source: Wu and He, Group normalization, 2018.
    """
    return wrap(ops.group_norm(input.c, as_int(num_groups, "group_norm", "num_groups"),
                               no_tensor if weight is None else weight.c,
                               no_tensor if bias is None else bias.c,
                               as_float(eps, "group_norm", "eps")))
