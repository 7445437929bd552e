"""Covariances and correlations."""

from __future__ import annotations

import zero
from zero import Tensor
from zero._composed.arguments import attach
from zero.errors import DTypeError, ShapeError, ValueError

__all__ = ["corrcoef", "cov"]


def _check_weights(name: str, weights: Tensor, count: int) -> None:
    if weights.ndim > 1 or weights.numel() != count:
        raise ShapeError(
            f"cov: {name} don't fit; got {tuple(weights.shape)}, expected one for each of {count} "
            "observations"
        )
    if weights.numel() and bool((weights < 0).any()):
        raise ValueError(f"cov: {name} are negative; got {weights.amin().item()}, expected >= 0")


def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariances of variables: ``C[i, j] = sum_k w_k (x_ik - mean_i) (x_jk - mean_j) / d``.

    Means are weighted, too. With W the sum of the weights, d is ``W - correction``; with `aweights`
    a it is ``W - correction * sum(w a) / W``.

    Args:
        input: a variable in each row, an observation in each column; or one variable.
        correction: 1 for sample covariances, 0 for those of a population.
        fweights: integers, how often each observation was made.
        aweights: how much each observation counts.

    Returns:
        A matrix; of one variable a tensor without dimensions.

    Raises:
        ShapeError: there are more than two dimensions, or weights don't fit.
        DTypeError: the input is of bools, `fweights` are no integers or `aweights` no floats.
        ValueError: weights are negative.

    Example:
        >>> import zero
        >>> zero.cov(zero.tensor([[0.0, 2.0, 4.0], [3.0, 1.0, 2.0]])).tolist()
        [[4.0, -1.0], [-1.0, 1.0]]
    """
    if input.ndim > 2:
        raise ShapeError(
            f"cov: too many dimensions; got {tuple(input.shape)}, expected at most two"
        )
    if input.dtype is zero.bool:
        raise DTypeError("cov: not defined for bool; got bool, expected numbers")
    x = input if input.ndim == 2 else input.reshape(1, -1)
    count = x.shape[1]
    weights = None
    if fweights is not None:
        _check_weights("fweights", fweights, count)
        if fweights.is_floating_point() or fweights.dtype is zero.bool:
            raise DTypeError(f"cov: fweights are no integers; got {fweights.dtype}")
        weights = fweights.reshape(-1)
    if aweights is not None:
        _check_weights("aweights", aweights, count)
        if not aweights.is_floating_point():
            raise DTypeError(f"cov: aweights are no floats; got {aweights.dtype}")
        weights = aweights.reshape(-1) if weights is None else weights * aweights.reshape(-1)
    if not x.is_floating_point():
        x = x.to(zero.get_default_dtype())
    total: float | Tensor = count
    if weights is not None:
        total = weights.sum()
        if count and not bool(total != 0):
            raise ValueError("cov: the weights are all 0; got a sum of 0, expected a larger one")
    mean = (x if weights is None else x * weights).sum(1) / total
    d: float | Tensor
    if correction == 0:
        d = total
    elif aweights is None:
        d = total - correction
    else:
        assert weights is not None
        d = total - correction * (weights * aweights.reshape(-1)).sum() / total
    if not isinstance(d, Tensor):
        d = x.new_full((), d)
    centered = x - mean.unsqueeze(1)
    other = centered if weights is None else centered * weights
    y = centered @ other.t().to(centered.dtype) / d.clamp(min=0)
    return y.squeeze() if y.numel() == 1 else y


def corrcoef(input: Tensor) -> Tensor:
    """Pearson's correlations of variables: covariances over both deviations, in [-1, 1].

    Args:
        input: a variable in each row, an observation in each column; or one variable.

    Returns:
        A matrix; of one variable a tensor without dimensions.

    Raises:
        ShapeError: there are more than two dimensions.

    Example:
        >>> import zero
        >>> zero.corrcoef(zero.tensor([[0.0, 2.0, 4.0], [3.0, 2.0, 1.0]])).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
    """
    if input.ndim > 2:
        raise ShapeError(
            f"corrcoef: too many dimensions; got {tuple(input.shape)}, expected at most two"
        )
    c = cov(input)
    if c.ndim == 0:
        return c / c  # 1, or NaN
    deviation = c.diagonal().sqrt()
    return (c / deviation.unsqueeze(1) / deviation).clamp(-1, 1)


attach(cov, corrcoef)
