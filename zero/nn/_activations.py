"""Activation functions of :mod:`zero.nn.functional`."""

from __future__ import annotations

import warnings

import zero
from zero import Tensor, _activation, _glu, prelu
from zero.errors import DTypeError, ValueError

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanhshrink",
    "threshold",
    "threshold_",
]

celu_, rrelu_, selu_, threshold_ = zero.celu_, zero.rrelu_, zero.selu_, zero.threshold_
hardshrink = zero.hardshrink


# ---- linear in parts -----------------------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0), element by element.

    Args:
        input: any shape.
        inplace: overwrite the input and return it.

    Example:
        >>> import zero
        >>> zero.nn.functional.relu(zero.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return zero.relu_(input) if inplace else zero.relu(input)


def relu_(input: Tensor) -> Tensor:
    """:func:`relu` that overwrites its input."""
    return zero.relu_(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, negative_slope x elsewhere.

    Args:
        input: of floats, any shape.
        negative_slope: the factor of negative numbers.
        inplace: overwrite the input and return it.

    Raises:
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.nn.functional.leaky_relu(zero.tensor([-1.0, 2.0]), 0.25)
        tensor([-0.2500,  2.0000])

    Source: Maas et al., Rectifier nonlinearities improve neural network acoustic models, 2013.
    """
    return _activation("leaky_relu", input, inplace, negative_slope)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """:func:`leaky_relu` that overwrites its input."""
    return _activation("leaky_relu", input, True, negative_slope)


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """:func:`zero.rrelu`: relu with random slopes, or with their mean.

    Args:
        input: of floats, any shape.
        lower: the smallest slope.
        upper: the largest one.
        training: False takes the mean of both for all.
        inplace: overwrite the input and return it.

    Example:
        >>> import zero
        >>> zero.nn.functional.rrelu(zero.tensor([-4.0, 1.0]), 0.25, 0.75)
        tensor([-2.,  1.])
    """
    return (zero.rrelu_ if inplace else zero.rrelu)(input, lower, upper, training)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """:func:`zero.threshold`: x where it is above the threshold, else another value.

    Args:
        input: of numbers, any shape.
        threshold: the largest number that is replaced.
        value: what takes its place.
        inplace: overwrite the input and return it.

    Example:
        >>> import zero
        >>> zero.nn.functional.threshold(zero.tensor([0.5, 2.0]), 1.0, -1.0)
        tensor([-1.,  2.])
    """
    return (zero.threshold_ if inplace else zero.threshold)(input, threshold, value)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x limited to [min_val, max_val]; the gradient is 0 at the limits, too.

    Args:
        input: of numbers, any shape.
        min_val: the smallest result.
        max_val: the largest one.
        inplace: overwrite the input and return it.

    Raises:
        DTypeError: the input is bool.
        ValueError: min_val is above max_val.

    Example:
        >>> import zero
        >>> zero.nn.functional.hardtanh(zero.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError(
            f"hardtanh: min_val is above max_val; got {min_val} and {max_val}, expected "
            "min_val <= max_val"
        )
    if input.is_floating_point():
        return _activation("hardtanh", input, inplace, min_val, max_val)
    if input.dtype is zero.bool or (input.dtype is zero.uint8 and min_val < 0):
        raise DTypeError(
            f"hardtanh: not defined for this dtype; got {input.dtype} and min_val {min_val}, "
            "expected floats or signed integers"
        )
    return (input.clamp_ if inplace else input.clamp)(int(min_val), int(max_val))


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """:func:`hardtanh` that overwrites its input."""
    return hardtanh(input, min_val, max_val, True)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6), element by element.

    Args:
        input: of numbers, any shape.
        inplace: overwrite the input and return it.

    Example:
        >>> import zero
        >>> zero.nn.functional.relu6(zero.tensor([-1.0, 2.0, 7.0]))
        tensor([0., 2., 6.])

    Source: Howard et al., MobileNets, 2017.
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """A :func:`sigmoid` of three lines: min(max(x + 3, 0), 6) / 6.

    Args:
        input: of floats, any shape.
        inplace: overwrite the input and return it.

    Raises:
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.nn.functional.hardsigmoid(zero.tensor([-4.0, 0.0, 1.5]))
        tensor([0.0000, 0.5000, 0.7500])

    Source: Howard et al., Searching for MobileNetV3, 2019.
    """
    return _activation("hardsigmoid", input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x times its :func:`hardsigmoid`.

    Args:
        input: of floats, any shape.
        inplace: overwrite the input and return it.

    Raises:
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.nn.functional.hardswish(zero.tensor([-4.0, 1.5, 4.0]))
        tensor([-0.0000,  1.1250,  4.0000])

    Source: Howard et al., Searching for MobileNetV3, 2019.
    """
    return _activation("hardswish", input, inplace)


def softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """x moved towards 0 by lambd, and 0 between -lambd and lambd.

    Args:
        input: of floats, any shape.
        lambd: by how much, 0 or more.
        out: where to write the result.

    Raises:
        DTypeError: the input is not floating point.
        ValueError: lambd is negative.

    Example:
        >>> import zero
        >>> zero.nn.functional.softshrink(zero.tensor([-2.0, 0.25]))
        tensor([-1.5000,  0.0000])
    """
    if lambd < 0:
        raise ValueError(f"softshrink: lambd is negative; got {lambd}, expected 0 or more")
    return _activation("softshrink", input, False, lambd, 0.0, 0.0, out)


# ---- smooth --------------------------------------------------------------------------------------


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, alpha (e^x - 1) elsewhere.

    Args:
        input: of floats, any shape.
        alpha: minus the limit to the left.
        inplace: overwrite the input and return it.

    Raises:
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.nn.functional.elu(zero.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])

    Source: Clevert et al., Fast and accurate deep network learning by exponential linear units,
    2015.
    """
    return _activation("elu", input, inplace, alpha, 1.0, 1.0)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """:func:`elu` that overwrites its input."""
    return elu(input, alpha, True)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """:func:`zero.celu`: max(x, 0) + min(alpha (e^(x / alpha) - 1), 0).

    Args:
        input: of floats, any shape.
        alpha: minus the limit to the left.
        inplace: overwrite the input and return it.

    Example:
        >>> import zero
        >>> zero.nn.functional.celu(zero.tensor([-1.0, 2.0]), alpha=2.0)
        tensor([-0.7869,  2.0000])
    """
    return (zero.celu_ if inplace else zero.celu)(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """:func:`zero.selu`: an exponential unit that keeps mean 0 and variance 1.

    Args:
        input: of floats, any shape.
        inplace: overwrite the input and return it.

    Example:
        >>> import zero
        >>> zero.nn.functional.selu(zero.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """
    return zero.selu_(input) if inplace else zero.selu(input)


def gelu(input: Tensor, approximate: str = "none", *, out: Tensor | None = None) -> Tensor:
    """x P(x), with the distribution function P of the standard normal distribution.

    Args:
        input: of floats, any shape.
        approximate: "tanh" takes (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 for P(x).
        out: where to write the result.

    Raises:
        DTypeError: the input is not floating point.
        ValueError: `approximate` is neither "none" nor "tanh".

    Example:
        >>> import zero
        >>> zero.nn.functional.gelu(zero.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])

    Source: Hendrycks and Gimpel, Gaussian error linear units, 2016.
    """
    if approximate == "none":
        return _activation("gelu", input, False, 0.0, 0.0, 0.0, out)
    if approximate == "tanh":
        return _activation("gelu_tanh", input, False, 0.0, 0.0, 0.0, out)
    raise ValueError(f"gelu: unknown approximation; got {approximate!r}, expected 'none' or 'tanh'")


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x times its :func:`sigmoid`; also called swish.

    Args:
        input: of floats, any shape.
        inplace: overwrite the input and return it.

    Raises:
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.nn.functional.silu(zero.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])

    Source: Elfwing et al., Sigmoid-weighted linear units, 2017.
    """
    return _activation("silu", input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x times the tanh of its :func:`softplus`.

    Args:
        input: of floats, any shape.
        inplace: overwrite the input and return it.

    Raises:
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.nn.functional.mish(zero.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])

    Source: Misra, Mish: a self regularized non-monotonic activation function, 2019.
    """
    return _activation("mish", input, inplace)


def softplus(
    input: Tensor, beta: float = 1.0, threshold: float = 20.0, *, out: Tensor | None = None
) -> Tensor:
    """A smooth :func:`relu`: ln(1 + exp(beta x)) / beta.

    Args:
        input: of floats, any shape.
        beta: how sharp the bend is.
        threshold: where beta x is above it the result is x.
        out: where to write the result.

    Raises:
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.nn.functional.softplus(zero.tensor([0.0, 100.0]))
        tensor([  0.6931, 100.0000])
    """
    return _activation("softplus", input, False, beta, threshold, 0.0, out)


def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of :func:`sigmoid`, -ln(1 + exp(-x)), without overflow.

    Args:
        input: of floats, any shape.
        out: where to write the result.

    Raises:
        DTypeError: the input is not floating point.

    Example:
        >>> import zero
        >>> zero.nn.functional.logsigmoid(zero.tensor([0.0, -100.0]))
        tensor([  -0.6931, -100.0000])
    """
    return _activation("logsigmoid", input, False, 0.0, 0.0, 0.0, out)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + \\|x\\|), element by element.

    Args:
        input: any shape; integers and bools give the default float dtype.

    Example:
        >>> import zero
        >>> zero.nn.functional.softsign(zero.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x), element by element.

    Args:
        input: any shape; integers and bools give the default float dtype.

    Example:
        >>> import zero
        >>> zero.nn.functional.tanhshrink(zero.tensor([-1.0, 2.0]))
        tensor([-0.2384,  1.0360])
    """
    return input - input.tanh()


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of a dimension times the :func:`sigmoid` of the second.

    Args:
        input: of floats; its size along `dim` is even.
        dim: the dimension, which the result has half of.

    Raises:
        DTypeError: the input is not floating point.
        ShapeError: the dimension has no halves.

    Example:
        >>> import zero
        >>> zero.nn.functional.glu(zero.tensor([2.0, 4.0, 0.0, 1.0]))
        tensor([1.0000, 2.9242])

    Source: Dauphin et al., Language modeling with gated convolutional networks, 2016.
    """
    return _glu(input, dim)


# ---- softmax -------------------------------------------------------------------------------------


def _implicit_dim(op: str, input: Tensor, stacklevel: int) -> int:
    if not isinstance(input, Tensor):
        raise TypeError(f"{op}: input is not a Tensor; got {type(input).__name__}")
    ndim = input.dim()
    dim = 0 if ndim in (0, 1, 3) else 1
    warnings.warn(
        f"{op}: dim is not given; dim={dim} is taken for {ndim} dimensions. Say dim=…: the rule is "
        "kept for old programs only",
        stacklevel=stacklevel,
    )
    return dim


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: zero.dtype | None = None
) -> Tensor:
    """exp(input) divided by its sum along a dimension; large values don't overflow.

    Args:
        input: any shape.
        dim: along which results sum to 1. None takes 0 for 0, 1 and 3 dimensions, else 1, and
            warns.
        dtype: to cast the input to first.

    Example:
        >>> import zero
        >>> zero.nn.functional.softmax(zero.tensor([0.0, 0.0, 1000.0]), dim=0)
        tensor([0., 0., 1.])
    """
    if dim is None:
        dim = _implicit_dim("softmax", input, _stacklevel)
    return zero.softmax(input, dim, dtype=dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: zero.dtype | None = None
) -> Tensor:
    """:func:`softmax` of -input.

    Args:
        input: any shape.
        dim: along which results sum to 1. None: as in softmax.
        dtype: to cast the input to first.

    Example:
        >>> import zero
        >>> zero.nn.functional.softmin(zero.tensor([0.0, 0.0, 1000.0]), dim=0)
        tensor([0.5000, 0.5000, 0.0000])
    """
    if dim is None:
        dim = _implicit_dim("softmin", input, _stacklevel)
    return zero.softmax(-input, dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: zero.dtype | None = None
) -> Tensor:
    """The logarithm of :func:`softmax`, exact where the softmax itself would round to 0.

    Args:
        input: any shape.
        dim: along which exp of the results sums to 1. None: as in softmax.
        dtype: to cast the input to first.

    Example:
        >>> import zero
        >>> zero.nn.functional.log_softmax(zero.tensor([0.0, 1000.0]), dim=0)
        tensor([-1000.,     0.])
    """
    if dim is None:
        dim = _implicit_dim("log_softmax", input, _stacklevel)
    return zero.log_softmax(input, dim, dtype=dtype)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A draw of a class as probabilities with a gradient: softmax((logits + noise) / tau).

    Args:
        logits: unnormalised logarithms of probabilities, of floats, any shape.
        tau: the temperature; the smaller, the nearer the results are to 0 and 1.
        hard: whether the result is one-hot; its gradient is that of the probabilities.
        eps: has no effect; PyTorch's old argument.
        dim: along which classes lie.

    Example:
        >>> import zero
        >>> y = zero.nn.functional.gumbel_softmax(zero.zeros(3, 5), hard=True)
        >>> y.sum(-1)
        tensor([1., 1., 1.])

    Source: Jang et al., Categorical reparameterization with Gumbel-softmax, 2016; Maddison et al.,
    The concrete distribution, 2016.
    """
    if eps != 1e-10:
        warnings.warn("gumbel_softmax: eps is an old argument and has no effect", stacklevel=2)
    with zero.no_grad():
        noise = -zero.empty_like(logits).exponential_().log()
    y = zero.softmax((logits + noise) / tau, dim)
    if not hard:
        return y
    chosen = zero.zeros_like(y).scatter_(dim, y.detach().argmax(dim, True), 1.0)
    return chosen - y.detach() + y
