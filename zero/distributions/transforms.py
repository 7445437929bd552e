"""Invertible functions of random variables, with the logarithm of their determinant."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

import zero
from zero import Size, Tensor
from zero.distributions import constraints
from zero.distributions.constraints import Constraint
from zero.distributions.distribution import Distribution
from zero.distributions.utils import (
    broadcast_all,
    lazy_property,
    softplus,
    sum_rightmost,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class Transform:
    """A function y = f(x), with its inverse and ``log |dy / dx|``; the base class of all.

    ``t(x)`` computes y, ``t.inv(y)`` computes x. A derived class has `domain`, `codomain`,
    `bijective`, ``_call``, ``_inverse`` and `log_abs_det_jacobian`.

    Args:
        cache_size: 1 keeps the last x and y, so that ``t.inv(t(x)) is x``; 0 keeps nothing.
    """

    bijective = False
    domain: Constraint
    codomain: Constraint

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise zero.errors.ValueError(f"{type(self).__name__}: cache_size is not 0 or 1")
        self._cache_size = cache_size
        self._inv: weakref.ref[Transform] | None = None
        self._last: tuple[Tensor, Tensor] | None = None

    @property
    def event_dim(self) -> int:
        """The dimensions of one value, where x and y have as many."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("event_dim: x and y have different dimensions; see domain and codomain")

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        inv = None if self._inv is None else self._inv()
        if inv is None:
            inv = _InverseTransform(self)
            self._inv = weakref.ref(inv)
        return inv

    @property
    def sign(self) -> Any:
        """1 where y grows with x, -1 where it falls; of bijective functions of numbers."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with another size of cache.

        Args:
            cache_size: 0 or 1.
        """
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is not Transform.__init__:
            raise NotImplementedError(f"{type(self).__name__} has no with_cache of its own")
        return type(self)(cache_size)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __getstate__(self) -> dict[str, Any]:  # a weak reference can't be pickled
        return vars(self) | {"_inv": None, "_last": None}

    def __call__(self, x: Tensor) -> Tensor:
        if self._last is not None and self._last[0] is x:
            return self._last[1]
        y = self._call(x)
        if self._cache_size:
            self._last = x, y
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._last is not None and self._last[1] is y:
            return self._last[0]
        x = self._inverse(y)
        if self._cache_size:
            self._last = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no forward function")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``log |dy / dx|``, for one value of `event_dim` dimensions the determinant's.

        Args:
            x: the argument.
            y: the transform's value there.
        """
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape: Sequence[int]) -> Size:
        """The shape of y for a shape of x.

        Args:
            shape: that of x.
        """
        return Size(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        """The shape of x for a shape of y.

        Args:
            shape: that of y.
        """
        return Size(shape)

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class _InverseTransform(Transform):
    """The inverse of a transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._of = transform

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        return self._of.codomain

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        return self._of.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self._of.bijective

    @property
    def sign(self) -> Any:
        return self._of.sign

    @property
    def inv(self) -> Transform:
        return self._of

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._of.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._of == other._of

    __hash__ = object.__hash__

    def __call__(self, x: Tensor) -> Tensor:
        return self._of._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._of(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return self._of.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{self._of!r}.inv"


class ComposeTransform(Transform):
    """Several transforms, one after the other.

    Args:
        parts: the first is applied first.
        cache_size: 0 or 1.

    Example:
        >>> import zero
        >>> from zero.distributions import AffineTransform, ComposeTransform, ExpTransform
        >>> t = ComposeTransform([AffineTransform(1.0, 2.0), ExpTransform()])
        >>> round(t(zero.tensor(0.0)).item(), 4), t.inv(t(zero.tensor(3.0))).item()
        (2.7183, 3.0)
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [p.with_cache(cache_size) for p in parts] if cache_size else list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        if not self.parts:
            return constraints.real
        domain, event_dim = self.parts[0].domain, self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim = (
                max(event_dim, part.codomain.event_dim)
                + part.domain.event_dim
                - part.codomain.event_dim
            )
        more = event_dim - domain.event_dim
        return constraints.independent(domain, more) if more > 0 else domain

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        if not self.parts:
            return constraints.real
        codomain, event_dim = self.parts[-1].codomain, self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim = (
                max(event_dim, part.domain.event_dim)
                + part.codomain.event_dim
                - part.domain.event_dim
            )
        more = event_dim - codomain.event_dim
        return constraints.independent(codomain, more) if more > 0 else codomain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(p.bijective for p in self.parts)

    @property
    def sign(self) -> Any:
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Transform:
        inv = None if self._inv is None else self._inv()
        if inv is None:
            inv = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv, inv._inv = weakref.ref(inv), weakref.ref(self)
        return inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Tensor) -> Tensor:
        return self.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return zero.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        terms = []
        event_dim = self.domain.event_dim
        for part, a, b in zip(self.parts, values[:-1], values[1:], strict=True):
            term = part.log_abs_det_jacobian(a, b)
            terms.append(sum_rightmost(term, event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def forward_shape(self, shape: Sequence[int]) -> Size:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return Size(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return Size(shape)

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts})"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dimensions become dimensions of one value.

    Args:
        base_transform: the transform.
        reinterpreted_batch_ndims: how many dimensions.
        cache_size: 0 or 1.
    """

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _check(self, value: Tensor, event_dim: int) -> Tensor:
        if value.ndim < event_dim:
            raise zero.errors.ValueError(
                f"IndependentTransform: too few dimensions; got {tuple(value.shape)}, expected at "
                f"least {event_dim}"
            )
        return value

    def _call(self, x: Tensor) -> Tensor:
        return self.base_transform(self._check(x, self.domain.event_dim))

    def _inverse(self, y: Tensor) -> Tensor:
        return self.base_transform.inv(self._check(y, self.codomain.event_dim))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        result = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(result, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Another shape of one value, of as many elements.

    Args:
        in_shape: the shape of x.
        out_shape: the shape of y.
        cache_size: 0 or 1.

    Raises:
        ValueError: the numbers of elements differ.
    """

    bijective = True

    def __init__(
        self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise zero.errors.ValueError(
                f"ReshapeTransform: the numbers of elements differ; got {tuple(in_shape)} and "
                f"{tuple(out_shape)}"
            )

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return zero.zeros(x.shape[: x.ndim - len(self.in_shape)], dtype=x.dtype, device=x.device)

    def _exchanged(self, shape: Sequence[int], old: Size, new: Size) -> Size:
        batch = len(shape) - len(old)
        if batch < 0 or tuple(shape[batch:]) != tuple(old):
            raise zero.errors.ValueError(
                f"ReshapeTransform: the shape does not end as expected; got {tuple(shape)}, "
                f"expected {tuple(old)} at the end"
            )
        return Size(shape[:batch]) + new

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return self._exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return self._exchanged(shape, self.out_shape, self.in_shape)


class _Elementwise(Transform):
    """Of single numbers, growing; all are equal that are of one class."""

    bijective = True
    domain: Constraint = constraints.real
    sign: Any = 1

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = object.__hash__


class ExpTransform(_Elementwise):
    """``y = exp(x)``."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(_Elementwise):
    """``y = x^exponent`` for x > 0.

    Args:
        exponent: a number or tensor, not 0.
        cache_size: 0 or 1.
    """

    domain = constraints.positive
    codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size)

    @lazy_property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool((self.exponent == other.exponent).all())

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return zero.broadcast_shapes(tuple(shape), self.exponent.shape)

    inverse_shape = forward_shape


class SigmoidTransform(_Elementwise):
    """``y = 1 / (1 + exp(-x))``."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        info = zero.finfo(x.dtype)
        return x.sigmoid().clamp(info.tiny, 1 - info.eps)

    def _inverse(self, y: Tensor) -> Tensor:
        info = zero.finfo(y.dtype)
        y = y.clamp(info.tiny, 1 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Elementwise):
    """``y = log(1 + exp(x))``."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Elementwise):
    """``y = tanh(x)``; near 1 the inverse is not exact, so a cache helps."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2 * (math.log(2) - x - softplus(-2 * x))  # log(1 - tanh(x)^2), also for large x


class AbsTransform(Transform):
    """``y = |x|``; of two inverses the positive one."""

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """``y = loc + scale x``.

    Args:
        loc: a number or tensor.
        scale: a number or tensor, not 0.
        event_dim: the dimensions of one value.
        cache_size: 0 or 1.

    Example:
        >>> import zero
        >>> t = zero.distributions.AffineTransform(1.0, 2.0)
        >>> t(zero.tensor(3.0)).item(), t.inv(zero.tensor(7.0)).item()
        (7.0, 3.0)
    """

    bijective = True
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        if self._event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self._event_dim)

    codomain = domain

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self._event_dim, cache_size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        same = [a == b for a, b in ((self.loc, other.loc), (self.scale, other.scale))]
        return all(bool(x.all()) if isinstance(x, Tensor) else x for x in same)

    __hash__ = object.__hash__

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            result = self.scale.abs().log()
        else:
            result = zero.full_like(x, math.log(abs(self.scale)))
        shape = zero.broadcast_shapes(result.shape, x.shape)
        return sum_rightmost(result.expand(shape), self._event_dim)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        shapes = [x.shape for x in (self.loc, self.scale) if isinstance(x, Tensor)]
        return zero.broadcast_shapes(tuple(shape), *shapes)

    inverse_shape = forward_shape


class SoftmaxTransform(Transform):
    """Softmax of a vector: to a point of the simplex. The inverse is one of many: the logarithm."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return zero.softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()


class StickBreakingTransform(Transform):
    """From K - 1 numbers to a point of the simplex of K, by breaking a stick K - 1 times.

    ``z = sigmoid(x_i - log(K - i))`` of what is left is broken off as part i.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = object.__hash__

    @staticmethod
    def _offset(n: int, like: Tensor) -> Tensor:
        return zero.arange(n, 0, -1, dtype=like.dtype, device=like.device).log()

    def _call(self, x: Tensor) -> Tensor:
        z = (x - self._offset(x.shape[-1], x)).sigmoid()
        one = zero.ones_like(z[..., :1])
        left = (1 - z).cumprod(-1)
        return zero.cat([z, one], -1) * zero.cat([one, left], -1)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = y[..., :-1]
        left = (1 - parts.cumsum(-1)).clamp(min=zero.finfo(y.dtype).tiny)
        return parts.log() - left.log() + self._offset(parts.shape[-1], y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        z = x - self._offset(x.shape[-1], x)
        return (-softplus(z) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        return Size((*shape[:-1], shape[-1] - 1))


class CorrCholeskyTransform(Transform):
    """From D (D - 1) / 2 numbers to the Cholesky factor of a D x D correlation matrix.

    ``z = tanh(x)`` are partial correlations; row i of the factor is z times what is left of its
    norm 1.

    Source: Lewandowski, Kurowicka and Joe, Generating random correlation matrices based on vines
    and extended onion method, 2009.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        z = x.tanh()
        eps = zero.finfo(z.dtype).eps
        r = vec_to_tril_matrix(z.clamp(-1 + eps, 1 - eps), diag=-1)
        left = (1 - r.square()).sqrt().cumprod(-1)  # of the norm, after each column
        n = r.shape[-1]
        r = r + zero.eye(n, dtype=r.dtype, device=r.device)
        before = zero.cat([zero.ones_like(left[..., :1]), left[..., :-1]], -1)
        return r * before

    def _inverse(self, y: Tensor) -> Tensor:
        used = y.square().cumsum(-1)
        before = zero.cat([zero.zeros_like(used[..., :1]), used[..., :-1]], -1)
        lower = tril_matrix_to_vec(y, diag=-1)
        left = tril_matrix_to_vec(1 - before, diag=-1)
        return (lower / left.sqrt()).atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        used = y.square().cumsum(-1)
        before = zero.cat([zero.zeros_like(used[..., :1]), used[..., :-1]], -1)
        left = tril_matrix_to_vec(1 - before, diag=-1)
        tanh_part = -2 * (x + softplus(-2 * x) - math.log(2))
        return 0.5 * left.log().sum(-1) + tanh_part.sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise zero.errors.ValueError(
                f"CorrCholeskyTransform: {shape[-1]} numbers make no matrix; expected D (D - 1) / 2"
            )
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        n = shape[-1]
        return Size((*shape[:-2], n * (n - 1) // 2))


class LowerCholeskyTransform(Transform):
    """From any square matrix to a lower triangular one with a positive diagonal, by exp of it."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + zero.diag_embed(x.diagonal(0, -2, -1).exp())

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + zero.diag_embed(y.diagonal(0, -2, -1).log())


class _Parts(Transform):
    """Several transforms, each of a part of one dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq]
        self.dim = dim

    def _split(self, x: Tensor) -> Sequence[Tensor]:
        raise NotImplementedError

    def _join(self, parts: Sequence[Tensor]) -> Tensor:
        raise NotImplementedError

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(t.bijective for t in self.transforms)

    def _call(self, x: Tensor) -> Tensor:
        parts = zip(self.transforms, self._split(x), strict=True)
        return self._join([t(part) for t, part in parts])

    def _inverse(self, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._split(y), strict=True)
        return self._join([t.inv(part) for t, part in parts])


class CatTransform(_Parts):
    """Transforms of consecutive parts along a dimension.

    Args:
        tseq: the transforms.
        dim: the dimension.
        lengths: of the parts; 1 each for None.
        cache_size: 0 or 1.
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """The size of the dimension."""
        return sum(self.lengths)

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _split(self, x: Tensor) -> Sequence[Tensor]:
        return x.split(self.lengths, self.dim)

    def _join(self, parts: Sequence[Tensor]) -> Tensor:
        return zero.cat(list(parts), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = []
        for t, a, b in zip(self.transforms, self._split(x), self._split(y), strict=True):
            term = t.log_abs_det_jacobian(a, b)
            terms.append(sum_rightmost(term, self.event_dim - t.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.ndim
        dim += self.event_dim
        if dim < 0:
            return zero.cat(terms, dim)
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total


class StackTransform(_Parts):
    """A transform for each index of a dimension.

    Args:
        tseq: the transforms.
        dim: the dimension.
        cache_size: 0 or 1.
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _split(self, x: Tensor) -> Sequence[Tensor]:
        return x.unbind(self.dim)

    def _join(self, parts: Sequence[Tensor]) -> Tensor:
        return zero.stack(list(parts), self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._split(x), self._split(y), strict=True)
        return self._join([t.log_abs_det_jacobian(a, b) for t, a, b in parts])


class CumulativeDistributionTransform(Transform):
    """``y = cdf(x)`` of a distribution of numbers: uniform, where x follows it.

    Args:
        distribution: one that has `cdf` and `icdf`.
        cache_size: 0 or 1.
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        support = self.distribution.support
        assert support is not None
        return support

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
