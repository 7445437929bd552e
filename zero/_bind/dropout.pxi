# Dropout.


cdef object dropped(Tensor input, object p, object train, bint channels, bint inplace_, str op):
    cdef double rate = as_float(p, op, "p")
    if not 0 <= rate <= 1:
        raise ZeroValueError(f"{op}: p is no probability; got {p}, expected 0 <= p <= 1")
    if not flag_of(train, op, "train") or rate == 0:
        return input
    if inplace_:
        ops.dropout(input.c, rate, channels, inplace.inplace(input.c))
        return input
    return wrap(ops.dropout(input.c, rate, channels, CTarget()))


def dropout(Tensor input not None, p, train):
    """Sets elements to 0 with probability p and divides the others by 1 - p.

    The expected value of every element stays the same. Which elements go depends on the state of
    the default generator alone, not on the number of threads.

    Args:
        input: tensor of floats, any shape.
        p: the probability.
        train: False (and p = 0) returns the input itself.

    Raises:
        ValueError: p is not in [0, 1].
        DTypeError: the elements are not floats.

    Example:
        >>> import zero
        >>> x = zero.dropout(zero.ones(1000), 0.5, train=True)
        >>> sorted(set(x.tolist()))
        [0.0, 2.0]
        >>> zero.dropout(zero.ones(2), 0.5, train=False)
        tensor([1., 1.])

    Source: Srivastava et al., Dropout: a simple way to prevent neural networks from
    overfitting, 2014.
    """
    return dropped(input, p, train, False, False, "dropout")


def dropout_(Tensor input not None, p, train):
    """`dropout` in place: overwrites the tensor and returns it."""
    return dropped(input, p, train, False, True, "dropout_")


def feature_dropout(Tensor input not None, p, train):
    """`dropout` of whole channels: all of ``input[n, c]`` is set to 0, or nothing.

    Neighbouring elements of a feature map are alike; dropping single ones would hide little.

    Args:
        input: tensor of floats, [N, C, ...].
        p: the probability.
        train: False (and p = 0) returns the input itself.

    Raises:
        ValueError: p is not in [0, 1].
        ShapeError: the tensor has less than 2 dimensions.
        DTypeError: the elements are not floats.

    Example:
        >>> import zero
        >>> x = zero.feature_dropout(zero.ones(2, 3, 4), 0.5, train=True)
        >>> all(len(set(part)) == 1 for sample in x.tolist() for part in sample)
        True

    Source: Tompson et al., Efficient object localization using convolutional networks, 2015.
    """
    return dropped(input, p, train, True, False, "feature_dropout")


def feature_dropout_(Tensor input not None, p, train):
    """`feature_dropout` in place: overwrites the tensor and returns it."""
    return dropped(input, p, train, True, True, "feature_dropout_")
