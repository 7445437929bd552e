# Special functions that PyTorch has beside its namespace special, and the way to the others.


def erfinv(Tensor input not None, *, out=None):
    """The inverse of :func:`zero.erf`; nan outside [-1, 1], infinite at its ends.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.erfinv(zero.tensor([0.0, 0.5, 1.0]))
        tensor([0.0000, 0.4769,    inf])

    Source: DLMF 7.17.
    """
    return wrap(ops.erfinv(input.c, target_of(out, "erfinv")))


def erfinv_(Tensor input not None):
    """`erfinv` in place: overwrites the tensor and returns it."""
    ops.erfinv(input.c, inplace.inplace(input.c))
    return input


def lgamma(Tensor input not None, *, out=None):
    """The logarithm of the absolute value of the gamma function: ``y = ln |Gamma(x)|``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.lgamma(zero.tensor([1.0, 5.0, 0.0]))
        tensor([0.0000, 3.1781,    inf])

    Source: DLMF 5.2.
    """
    return wrap(ops.lgamma(input.c, target_of(out, "lgamma")))


def lgamma_(Tensor input not None):
    """`lgamma` in place: overwrites the tensor and returns it."""
    ops.lgamma(input.c, inplace.inplace(input.c))
    return input


def digamma(Tensor input not None, *, out=None):
    """The derivative of :func:`zero.lgamma`; nan at negative integers, infinite at 0.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.digamma(zero.tensor([1.0, 0.5]))
        tensor([-0.5772, -1.9635])

    Source: DLMF 5.2.
    """
    return wrap(ops.digamma(input.c, target_of(out, "digamma")))


def digamma_(Tensor input not None):
    """`digamma` in place: overwrites the tensor and returns it."""
    ops.digamma(input.c, inplace.inplace(input.c))
    return input


def i0(Tensor input not None, *, out=None):
    """The modified Bessel function of the first kind of order 0.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.i0(zero.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])

    Source: DLMF 10.25.
    """
    return wrap(ops.i0(input.c, target_of(out, "i0")))


def i0_(Tensor input not None):
    """`i0` in place: overwrites the tensor and returns it."""
    ops.i0(input.c, inplace.inplace(input.c))
    return input


def sinc(Tensor input not None, *, out=None):
    """The normalized cardinal sine: ``y = sin(pi x) / (pi x)``, and 1 at 0.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.sinc(zero.tensor([0.0, 0.5]))
        tensor([1.0000, 0.6366])
    """
    return wrap(ops.sinc(input.c, target_of(out, "sinc")))


def sinc_(Tensor input not None):
    """`sinc` in place: overwrites the tensor and returns it."""
    ops.sinc(input.c, inplace.inplace(input.c))
    return input


def logit(Tensor input not None, eps=None, *, out=None):
    """The inverse of :func:`zero.sigmoid`: ``y = ln(x / (1 - x))``; nan outside [0, 1].

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        eps: limits `input` to [eps, 1 - eps] first; not for None.
        out: where to write the result: a tensor of its shape, or one without elements.

    Example:
        >>> import zero
        >>> zero.logit(zero.tensor([0.5, 0.75, 1.0]), eps=0.25)
        tensor([0.0000, 1.0986, 1.0986])
    """
    return wrap(ops.logit(input.c, optional_float(eps, "logit", "eps"), target_of(out, "logit")))


def logit_(Tensor input not None, eps=None):
    """`logit` in place: overwrites the tensor and returns it."""
    ops.logit(input.c, optional_float(eps, "logit_", "eps"), inplace.inplace(input.c))
    return input


def polygamma(n, Tensor input not None, *, out=None):
    """The n-th derivative of :func:`zero.digamma`.

    Args:
        n: the order, 0 or more.
        input: tensor of any shape; integers and bools give the default float dtype.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ValueError: n is negative.

    Example:
        >>> import zero
        >>> zero.polygamma(1, zero.tensor([1.0, 0.5]))
        tensor([1.6449, 4.9348])

    Source: DLMF 5.15.
    """
    return wrap(ops.polygamma(as_int(n, "polygamma", "n"), input.c, target_of(out, "polygamma")))


def polygamma_method(Tensor self not None, n, *, out=None):
    """The n-th derivative of :func:`zero.digamma`: ``x.polygamma(n)``.

    Args:
        n: the order, 0 or more.
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.tensor([1.0]).polygamma(1)
        tensor([1.6449])
    """
    return wrap(ops.polygamma(as_int(n, "polygamma", "n"), self.c, target_of(out, "polygamma")))


def polygamma_(Tensor input not None, n):
    """`polygamma` in place: overwrites the tensor and returns it."""
    ops.polygamma(as_int(n, "polygamma_", "n"), input.c, inplace.inplace(input.c))
    return input


def mvlgamma(Tensor input not None, p, *, out=None):
    """The logarithm of the multivariate gamma function, the normalizer of Wishart's distribution:
    ``y = p (p - 1) / 4 ln(pi) + sum over i < p of ln |Gamma(x - i / 2)|``.

    Args:
        input: tensor of any shape; integers and bools give the default float dtype.
        p: the dimension, 1 or more.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ValueError: p is less than 1.

    Example:
        >>> import zero
        >>> zero.mvlgamma(zero.tensor([1.0, 2.0]), 2)
        tensor([1.1447, 0.4516])

    Source: DLMF 35.3.
    """
    return wrap(ops.mvlgamma(input.c, as_int(p, "mvlgamma", "p"), target_of(out, "mvlgamma")))


def mvlgamma_(Tensor input not None, p):
    """`mvlgamma` in place: overwrites the tensor and returns it."""
    ops.mvlgamma(input.c, as_int(p, "mvlgamma_", "p"), inplace.inplace(input.c))
    return input


def igamma(Tensor input not None, Tensor other not None, *, out=None):
    """The regularized lower incomplete gamma function:
    ``P(a, x) = 1 / Gamma(a) integral from 0 to x of t^(a - 1) e^-t dt``.

    Only `other` has a gradient, as in PyTorch.

    Args:
        input: the orders a, a tensor of floats that are not negative.
        other: the bounds x, not negative, of a shape that broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: both are integers or bool.

    Example:
        >>> import zero
        >>> zero.igamma(zero.tensor([1.0]), zero.tensor([0.0, 1.0]))
        tensor([0.0000, 0.6321])

    Source: DLMF 8.2.
    """
    return binary(ops.igamma, input, other, "igamma", out)


def igamma_(Tensor input not None, Tensor other not None):
    """`igamma` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.igamma, input, other, "igamma_")


def igammac(Tensor input not None, Tensor other not None, *, out=None):
    """The regularized upper incomplete gamma function:
    ``Q(a, x) = 1 / Gamma(a) integral from x to infinity of t^(a - 1) e^-t dt``.

    Only `other` has a gradient, as in PyTorch.

    Args:
        input: the orders a, a tensor of floats that are not negative.
        other: the bounds x, not negative, of a shape that broadcasts with that of `input`.
        out: where to write the result: a tensor of its shape, or one without elements.

    Raises:
        ShapeError: the shapes do not broadcast.
        DTypeError: both are integers or bool.

    Example:
        >>> import zero
        >>> zero.igammac(zero.tensor([1.0]), zero.tensor([0.0, 1.0]))
        tensor([1.0000, 0.3679])

    Source: DLMF 8.2.
    """
    return binary(ops.igammac, input, other, "igammac", out)


def igammac_(Tensor input not None, Tensor other not None):
    """`igammac` in place: overwrites the tensor, whose shape stays, and returns it."""
    return binary_in_place(ops.igammac, input, other, "igammac_")


def _special_unary(str name not None, Tensor input not None, out=None):
    """A function of zero.special by its name."""
    return wrap(ops.special_unary(name.encode(), input.c, target_of(out, name)))


def _special_binary(str name not None, input, other, out=None):
    """A function of zero.special of two tensors or numbers by its name."""
    need_tensor(input, other, name)
    return wrap(ops.special_binary(name.encode(), as_operand(input, name, "input"),
                                   as_operand(other, name, "other"), target_of(out, name)))


as_methods("""
    erfinv lgamma digamma i0 i0_ sinc sinc_ logit logit_ mvlgamma igamma igammac
""")
as_methods_only("""
    erfinv_ lgamma_ digamma_ polygamma_ mvlgamma_ igamma_ igammac_
""")
as_method("polygamma", polygamma_method)
