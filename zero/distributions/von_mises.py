"""The von Mises distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.distribution import Distribution
from zero.distributions.utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Von Mises distributions of angles, of density ``~ exp(k cos(x - loc))``.

    Draws lie in [-pi, pi); values may be any angles.

    Args:
        loc: means, in radians.
        concentration: k, above 0; both are numbers or tensors and broadcast.
        validate_args: whether parameters and values are checked; None for the default.

    Raises:
        ValueError: a parameter is outside its set.

    Example:
        >>> import zero
        >>> d = zero.distributions.VonMises(zero.tensor(0.0), zero.tensor(4.0))
        >>> round(d.log_prob(zero.tensor(0.0)).item(), 4), d.sample((3,)).shape
        (-0.2628, zero.Size([3]))

    Source: Best and Fisher, Efficient simulation of the von Mises distribution, 1979 (draws).
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> VonMises:
        return self._expanded(VonMises, batch_shape, _instance, ("loc", "concentration"))

    @property
    def mean(self) -> Tensor:
        """The mean direction."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """That of directions, 1 minus the length of their mean: ``1 - I_1(k) / I_0(k)``."""
        return 1 - self._mean_length

    @property
    def _mean_length(self) -> Tensor:
        k = self.concentration
        return zero.special.i1e(k) / zero.special.i0e(k)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        # k cos - log I_0(k), where I_0(k) = i0e(k) exp(k): cos - 1 = -2 sin^2(x / 2)
        bend = -2 * k * ((value - self.loc) / 2).sin().square()
        return bend - zero.special.i0e(k).log() - math.log(2 * math.pi)

    def entropy(self) -> Tensor:
        k = self.concentration
        return zero.special.i0e(k).log() + k * self.variance + math.log(2 * math.pi)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008 - a constant
        shape = self._extended_shape(sample_shape)
        with zero.no_grad():
            # In float64: with few digits nothing is accepted for small k.
            loc, k = self.loc.double(), self.concentration.double().expand(shape)
            tau = 1 + (1 + 4 * k.square()).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            r = zero.where(k < 1e-5, 1 / k + k, (1 + rho.square()) / (2 * rho))
            x = zero.zeros_like(k)
            waiting = zero.ones_like(k, dtype=zero.bool)
            while waiting.any():
                u1, u2, u3 = zero.rand((3, *shape), dtype=zero.float64).unbind()
                z = zero.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accepted = (c * (2 - c) > u2) | ((c / u2).log() + 1 - c >= 0)
                angle = (u3 - 0.5).sign() * f.clamp(-1, 1).acos()
                x = zero.where(waiting & accepted, angle, x)
                waiting = waiting & ~accepted
            turned = (x + math.pi + loc) % (2 * math.pi) - math.pi
            return turned.to(self.loc.dtype)
