"""Ways to fill parameters before training. Each overwrites a tensor and returns it."""

from __future__ import annotations

import math
import warnings

import zero
from zero import Generator, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

_LINEAR = frozenset(
    {
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "sigmoid",
    }
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which an activation function makes signals smaller, so that weights make up.

    1 for linear functions and sigmoid, 5/3 for tanh, sqrt(2) for relu, sqrt(2 / (1 + slope²)) for
    leaky_relu, 3/4 for selu.

    Args:
        nonlinearity: the name of the function in nn.functional.
        param: the negative slope of leaky_relu; 0.01 if None.

    Raises:
        ValueError: the name is unknown, or param is no number.

    Example:
        >>> import zero
        >>> zero.nn.init.calculate_gain("relu") == 2**0.5
        True
    """
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity == "tanh":
        return 5 / 3
    if nonlinearity == "relu":
        return math.sqrt(2)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(
                f"calculate_gain: the slope must be a number; got {type(slope).__name__}"
            )
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity == "selu":
        return 0.75
    raise ValueError(
        f"calculate_gain: unknown nonlinearity; got {nonlinearity!r}, expected 'tanh', 'relu', "
        f"'leaky_relu', 'selu', {', '.join(map(repr, sorted(_LINEAR)))}"
    )


@zero.no_grad()
def _fill(tensor: Tensor, values: Tensor) -> Tensor:
    return tensor.copy_(values)


def _uniform(like: Tensor, a: float, b: float, generator: Generator | None) -> Tensor:
    u = zero.rand(like.shape, generator=generator, dtype=like.dtype, device=like.device)
    return u.mul_(b - a).add_(a)


def _normal(like: Tensor, mean: float, std: float, generator: Generator | None) -> Tensor:
    z = zero.randn(like.shape, generator=generator, dtype=like.dtype, device=like.device)
    return z.mul_(std).add_(mean)


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fills with draws from U(a, b).

    Args:
        tensor: of floats, any shape.
        a: lower bound.
        b: upper bound.
        generator: the source of random numbers; the default generator if None.

    Example:
        >>> import zero
        >>> w = zero.nn.init.uniform_(zero.empty(100), -1.0, 1.0)
        >>> bool(((w >= -1) & (w <= 1)).all())
        True
    """
    return _fill(tensor, _uniform(tensor, a, b, generator))


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fills with draws from the normal distribution N(mean, std²).

    Args:
        tensor: of floats, any shape.
        mean: of the distribution.
        std: its standard deviation.
        generator: the source of random numbers; the default generator if None.

    Raises:
        ValueError: std is negative.

    Example:
        >>> import zero
        >>> zero.nn.init.normal_(zero.empty(2, 3), std=0.02).shape
        zero.Size([2, 3])
    """
    if not std >= 0:
        raise ValueError(f"normal_: std is negative; got {std}, expected std >= 0")
    return _fill(tensor, _normal(tensor, mean, std, generator))


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fills with draws from N(mean, std²), those outside of [a, b] drawn again.

    Where less than a third of the draws would be inside, points of U(a, b) are kept with a
    probability in proportion to the density there.

    Args:
        tensor: of floats, any shape.
        mean: of the whole normal distribution.
        std: its standard deviation.
        a: smallest value.
        b: largest value.
        generator: the source of random numbers; the default generator if None.

    Raises:
        ValueError: std is not positive, or a >= b.

    Example:
        >>> import zero
        >>> w = zero.nn.init.trunc_normal_(zero.empty(1000), std=0.02, a=-0.04, b=0.04)
        >>> bool((w.abs() <= 0.04).all())
        True

    Source: Robert, Simulation of truncated normal variables, 1995.
    """
    if not (std > 0 and a < b):
        raise ValueError(
            f"trunc_normal_: got std {std}, a {a} and b {b}, expected std > 0 and a < b"
        )
    if tensor.device.type == "meta":
        return tensor
    inside = 0.5 * (
        math.erf((b - mean) / (std * math.sqrt(2))) - math.erf((a - mean) / (std * math.sqrt(2)))
    )
    like = zero.empty(tensor.shape, dtype=zero.float64)  # bounds and densities are exact in it
    top = ((min(max(mean, a), b) - mean) / std) ** 2  # at the highest point of the density

    def draw() -> tuple[Tensor, Tensor]:
        if inside > 1 / 3:
            x = _normal(like, mean, std, generator)
            return x, (x >= a) & (x <= b)
        x = _uniform(like, a, b, generator)
        density = (((x - mean) / std).square() - top).mul_(-0.5).exp()
        return x, _uniform(like, 0.0, 1.0, generator) <= density

    with zero.no_grad():
        values, done = draw()
        while not done.all().item():
            others, good = draw()
            values = zero.where(done, values, others)
            done = done | good
    low, high = (zero.tensor(bound, dtype=tensor.dtype).item() for bound in (a, b))
    return _fill(tensor, values.to(tensor.dtype).clamp_(low, high))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fills with one value.

    Example:
        >>> import zero
        >>> zero.nn.init.constant_(zero.empty(3), 0.5)
        tensor([0.5000, 0.5000, 0.5000])
    """
    with zero.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fills with 1.

    Example:
        >>> import zero
        >>> zero.nn.init.ones_(zero.empty(2))
        tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fills with 0.

    Example:
        >>> import zero
        >>> zero.nn.init.zeros_(zero.empty(2))
        tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


def _check_dims(op: str, tensor: Tensor, least: int, most: int | None = None) -> None:
    if tensor.dim() < least or (most is not None and tensor.dim() > most):
        expected = f"at least {least}" if most is None else f"{least} to {most}"
        if least == most:
            expected = str(least)
        raise zero.errors.ShapeError(
            f"{op}: got a tensor of shape {tuple(tensor.shape)}, expected {expected} dimensions"
        )


def eye_(tensor: Tensor) -> Tensor:
    """Fills with the identity matrix, so that a linear layer passes on what it gets.

    Args:
        tensor: [n, m].

    Raises:
        ShapeError: the tensor has not two dimensions.

    Example:
        >>> import zero
        >>> zero.nn.init.eye_(zero.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    _check_dims("eye_", tensor, 2, 2)
    return _fill(tensor, zero.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fills the weight of a convolution so that it passes on as many channels as possible.

    Args:
        tensor: [out, in / groups, …] with one to three dimensions of the kernel.
        groups: of the convolution.

    Raises:
        ShapeError: the tensor has not three to five dimensions.
        ValueError: out is no multiple of groups.

    Example:
        >>> import zero
        >>> zero.nn.init.dirac_(zero.empty(2, 2, 3)).tolist()
        [[[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    """
    _check_dims("dirac_", tensor, 3, 5)
    if tensor.shape[0] % groups != 0:
        raise ValueError(
            f"dirac_: got {tensor.shape[0]} channels and {groups} groups, expected a multiple"
        )
    outs = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    with zero.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(outs, tensor.shape[1])):
                index = (group * outs + channel, channel, *middle)
                tensor[index] = 1.0
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor, op: str = "fan_in, fan_out") -> tuple[int, int]:
    """How many inputs an output of the layer depends on, and how many outputs on an input."""
    _check_dims(op, tensor, 2)
    kernel = math.prod(tensor.shape[2:])
    return tensor.shape[1] * kernel, tensor.shape[0] * kernel


def _calculate_correct_fan(tensor: Tensor, mode: str, op: str = "fan") -> int:
    if not isinstance(mode, str) or mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"{op}: unknown mode; got {mode!r}, expected 'fan_in' or 'fan_out'")
    return _calculate_fan_in_and_fan_out(tensor, op)[mode.lower() == "fan_out"]


def _xavier_std(op: str, tensor: Tensor, gain: float) -> float:
    fans = sum(_calculate_fan_in_and_fan_out(tensor, op))
    return gain * math.sqrt(2 / fans) if fans else 0.0


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fills with U(-a, a), ``a = gain * sqrt(6 / (fan_in + fan_out))``.

    That keeps the variance of signals and of gradients about the same from layer to layer.

    Args:
        tensor: [out, in, …].
        gain: see :func:`calculate_gain`.
        generator: the source of random numbers; the default generator if None.

    Raises:
        ShapeError: the tensor has less than two dimensions.

    Example:
        >>> import zero
        >>> w = zero.nn.init.xavier_uniform_(zero.empty(3, 3))
        >>> bool((w.abs() <= 1).all())
        True

    Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural
    networks, 2010.
    """
    bound = math.sqrt(3) * _xavier_std("xavier_uniform_", tensor, gain)
    return _fill(tensor, _uniform(tensor, -bound, bound, generator))


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills with N(0, std²), ``std = gain * sqrt(2 / (fan_in + fan_out))``.

    The arguments, errors and source are those of :func:`xavier_uniform_`.

    Example:
        >>> import zero
        >>> zero.nn.init.xavier_normal_(zero.empty(3, 5)).shape
        zero.Size([3, 5])
    """
    std = _xavier_std("xavier_normal_", tensor, gain)
    return _fill(tensor, _normal(tensor, 0.0, std, generator))


def _kaiming_std(op: str, tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        warnings.warn(f"{op}: the tensor has no elements to be filled", stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode, op)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fills with U(-bound, bound), ``bound = gain * sqrt(3 / fan)``.

    That keeps the variance of signals (or, with fan_out, of gradients) from layer to layer.

    Args:
        tensor: [out, in, …].
        a: the negative slope of leaky_relu.
        mode: "fan_in" or "fan_out".
        nonlinearity: the activation function that follows, see :func:`calculate_gain`.
        generator: the source of random numbers; the default generator if None.

    Raises:
        ShapeError: the tensor has less than two dimensions.
        ValueError: mode or nonlinearity is unknown.

    Example:
        >>> import zero
        >>> w = zero.nn.init.kaiming_uniform_(zero.empty(4, 6), nonlinearity="relu")
        >>> bool((w.abs() <= 1).all())
        True

    Source: He et al., Delving deep into rectifiers, 2015.
    """
    std = _kaiming_std("kaiming_uniform_", tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3) * std
    return _fill(tensor, _uniform(tensor, -bound, bound, generator))


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fills with N(0, std²), ``std = gain / sqrt(fan)``.

    The arguments, errors and source are those of :func:`kaiming_uniform_`.

    Example:
        >>> import zero
        >>> zero.nn.init.kaiming_normal_(zero.empty(3, 5), mode="fan_out").shape
        zero.Size([3, 5])
    """
    std = _kaiming_std("kaiming_normal_", tensor, a, mode, nonlinearity)
    return tensor if std is None else _fill(tensor, _normal(tensor, 0.0, std, generator))


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fills with a random matrix whose rows or columns, the fewer of both, are orthonormal.

    Normal vectors are made orthogonal one after the other (Gram and Schmidt, in float64, each
    twice), which gives every orthogonal matrix the same chance.

    Args:
        tensor: [n, …]; the dimensions after the first count as one.
        gain: a factor.
        generator: the source of random numbers; the default generator if None.

    Raises:
        ShapeError: the tensor has less than two dimensions.

    Example:
        >>> import zero
        >>> w = zero.nn.init.orthogonal_(zero.empty(2, 3))
        >>> bool(zero.allclose(w @ w.T, zero.eye(2), atol=1e-6))
        True

    Source: Saxe et al., Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks, 2014; Giraud et al., Rounding error analysis of the classical Gram-Schmidt
    orthogonalization process, 2005.
    """
    _check_dims("orthogonal_", tensor, 2)
    if tensor.numel() == 0 or tensor.device.type == "meta":
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    n, m = min(rows, columns), max(rows, columns)
    with zero.no_grad():
        q = zero.randn(n, m, generator=generator, dtype=zero.float64)
        for i in range(n):
            v, before = q[i], q[:i]
            for _ in range(2 if i else 0):
                v.sub_(before.t().mv(before.mv(v)))
            v.div_(v.dot(v).sqrt())
        values = q if rows <= columns else q.t()
        return tensor.copy_(values.mul(gain).reshape(tensor.shape))


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Fills with N(0, std²), and sets a part of each column to 0.

    Args:
        tensor: [n, m].
        sparsity: the part of each column that is 0, rounded up.
        std: standard deviation of the rest.
        generator: the source of random numbers; the default generator if None.

    Raises:
        ShapeError: the tensor has not two dimensions.

    Example:
        >>> import zero
        >>> w = zero.nn.init.sparse_(zero.empty(4, 3), sparsity=0.5)
        >>> (w == 0).sum(0).tolist()
        [2, 2, 2]

    Source: Martens, Deep learning via Hessian-free optimization, 2010.
    """
    _check_dims("sparse_", tensor, 2, 2)
    if tensor.device.type == "meta":
        return tensor
    rows, columns = tensor.shape
    zeros = min(math.ceil(sparsity * rows), rows)
    values = _normal(tensor, 0.0, std, generator)
    for column in range(columns):
        for row in zero.randperm(rows, generator=generator)[:zeros].tolist():
            values[row, column] = 0.0
    return _fill(tensor, values)


def _old(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The name that a function had before PyTorch 0.4, without the underscore; it warns."""
    new = function.__name__
    name = new.rstrip("_")

    def renamed(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(f"nn.init.{name} is the old name of {new}", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = name
    renamed.__doc__ = f"The old name of :func:`{new}`; warns."
    return renamed


constant = _old(constant_)
dirac = _old(dirac_)
eye = _old(eye_)
kaiming_normal = _old(kaiming_normal_)
kaiming_uniform = _old(kaiming_uniform_)
normal = _old(normal_)
orthogonal = _old(orthogonal_)
sparse = _old(sparse_)
uniform = _old(uniform_)
xavier_normal = _old(xavier_normal_)
xavier_uniform = _old(xavier_uniform_)
