"""LBFGS."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import zero
from zero import Tensor
from zero.optim.optimizer import Optimizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zero.optim.optimizer import Group, Params

    Point = tuple[float, float, Tensor, float]  # position, value, gradient, slope

__all__ = ["LBFGS"]

ARMIJO, CURVATURE = 1e-4, 0.9  # of the strong Wolfe conditions


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last gradients, for losses without noise.

    The direction is the product of the gradient with an estimate of the inverse Hessian, made of
    the last history_size differences of parameters (s) and gradients (y)::

        q = -g;  for the newest pair to the oldest:  a = (s . q) / (y . s),  q = q - a * y
        q = q * (s . y) / (y . y)   of the newest pair
        for the oldest pair to the newest:  q = q + s * (a - (y . q) / (y . s))

    One call of :meth:`step` makes up to max_iter such iterations. The state lies with the first
    parameter: "func_evals", "n_iter", "d" (the direction), "t" (the step along it), "old_dirs" (y),
    "old_stps" (s), "ro" (1 / y . s), "H_diag", "prev_flat_grad", "prev_loss" and "al" (a).

    Args:
        params: parameters, or (name, parameter) pairs; all in one group.
        lr: step along the direction; with a line search, the one that it begins with. The first
            iteration divides it by the sum of absolute gradients, if that is above 1.
        max_iter: iterations in a call of :meth:`step`.
        max_eval: evaluations of the loss in a call; 1.25 * max_iter where None.
        tolerance_grad: it ends where all gradients are as small.
        tolerance_change: it ends where neither parameters nor loss change by more.
        history_size: how many pairs are kept.
        line_search_fn: None, or 'strong_wolfe': look for a step along the direction that lowers the
            loss and its slope enough.

    Raises:
        ValueError: a negative lr, another line_search_fn, more than one group.

    Nocedal and Wright, "Numerical optimization", 2006, algorithms 7.4, 7.5 and 3.5.

    Example:
        >>> import zero
        >>> p = zero.nn.Parameter(zero.tensor([-1.0, 2.0]))
        >>> optimizer = zero.optim.LBFGS([p], line_search_fn="strong_wolfe")
        >>> def closure():  # the valley of Rosenbrock
        ...     optimizer.zero_grad()
        ...     loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        ...     loss.backward()
        ...     return loss
        >>> for _ in range(5):
        ...     loss = optimizer.step(closure)
        >>> bool(((p - 1).abs() < 1e-3).all())
        True
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        self._check(defaults)
        super().__init__(params, defaults)

    def _check(self, options: Group) -> None:
        self._check_number("lr", options["lr"])
        if options["line_search_fn"] not in (None, "strong_wolfe"):
            raise zero.errors.ValueError(
                "LBFGS: line_search_fn must be None or 'strong_wolfe'; got "
                f"{options['line_search_fn']!r}"
            )

    def add_param_group(self, param_group: Group) -> None:
        """Takes the one group that there may be.

        Args:
            param_group: {"params": …} and options.
        """
        if self.param_groups:
            raise ValueError("LBFGS: all parameters must be in one group; got another one")
        super().add_param_group(param_group)

    @zero.no_grad()
    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates all parameters, some 20 times (max_iter).

        Args:
            closure: computes the loss anew, with gradients. It is called many times.

        Returns:
            The first loss.
        """
        if closure is None:
            raise TypeError(
                "LBFGS.step: the loss is evaluated several times; got no closure, expected a "
                "function that clears gradients, computes the loss and calls backward"
            )
        group = self.param_groups[0]
        params, state = group["params"], self.state[group["params"][0]]
        lr, tolerance = float(group["lr"]), group["tolerance_change"]
        first_loss = self._evaluate(closure)
        loss, evaluations, iteration = float(first_loss), 1, 0
        state["func_evals"] = state.get("func_evals", 0) + 1
        state.setdefault("n_iter", 0)
        g = _flat_grad(params)
        done = bool(g.abs().max() <= group["tolerance_grad"])
        if done:
            return first_loss

        def value_at(t: float) -> Point:
            """Loss and gradient a step along the direction; the parameters stay."""
            before = [p.clone() for p in params]
            try:
                _move(params, d, t)
                value = float(self._evaluate(closure))
                gradient = _flat_grad(params)
            finally:
                for p, old in zip(params, before, strict=True):
                    p.copy_(old)
            return t, value, gradient, gradient.dot(d).item()

        while iteration < group["max_iter"]:
            iteration += 1
            state["n_iter"] += 1
            d = _direction(g, state, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = g.clone(), loss
            t = lr if state["n_iter"] > 1 else min(1.0, 1.0 / g.abs().sum().item()) * lr
            state["d"], state["t"] = d, t
            slope = g.dot(d).item()
            if slope > -tolerance:
                break
            spent = 0
            if group["line_search_fn"] is not None:
                left = group["max_eval"] - evaluations
                t, loss, g, spent = _line_search(value_at, t, (0.0, loss, g, slope), d, left)
                state["t"] = t
                _move(params, d, t)
                done = bool(g.abs().max() <= group["tolerance_grad"])
            else:
                _move(params, d, t)
                if iteration < group["max_iter"]:  # else nobody would look at it
                    loss, spent = float(self._evaluate(closure)), 1
                    g = _flat_grad(params)
                    done = bool(g.abs().max() <= group["tolerance_grad"])
            evaluations += spent
            state["func_evals"] += spent
            if (
                done
                or evaluations >= group["max_eval"]
                or (d.abs().max() * t).item() <= tolerance
                or abs(loss - state["prev_loss"]) < tolerance
            ):
                break
        return first_loss


def _flat_grad(params: list[Tensor]) -> Tensor:
    """All gradients in one vector; 0 where there is none."""
    return zero.cat(
        [(zero.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in params]
    )


def _move(params: list[Tensor], d: Tensor, t: float) -> None:
    for p, part in zip(params, d.split([p.numel() for p in params]), strict=True):
        p.add_(part.view_as(p), alpha=t)


def _direction(g: Tensor, state: dict[str, Any], most: int) -> Tensor:
    """Minus the product of the inverse Hessian, as far as it is known, with the gradient."""
    if state["n_iter"] == 1:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return g.neg()
    y, s = g - state["prev_flat_grad"], state["d"] * state["t"]
    ys = y.dot(s)
    if ys > 1e-10:
        for name, item in (("old_dirs", y), ("old_stps", s), ("ro", 1.0 / ys)):
            del state[name][: max(0, len(state[name]) + 1 - most)]
            state[name].append(item)
        state["H_diag"] = ys / y.dot(y)
    pairs = list(zip(state["old_dirs"], state["old_stps"], state["ro"], strict=True))
    al = state.setdefault("al", [None] * most)
    q = g.neg()
    for i in reversed(range(len(pairs))):
        y, s, ro = pairs[i]
        al[i] = s.dot(q) * ro
        q.add_(y, alpha=-al[i].item())
    q *= state["H_diag"]
    for (y, s, ro), a in zip(pairs, al, strict=False):
        q.add_(s, alpha=(a - y.dot(q) * ro).item())
    return q


def _line_search(
    value_at: Callable[[float], Point], t: float, start: Point, d: Tensor, most: int
) -> tuple[float, float, Tensor, int]:
    """A step that meets the strong Wolfe conditions, with its loss, gradient, and evaluations."""
    _, f0, _, slope0 = start
    longest = d.abs().max().item()
    before, here, tries = start, value_at(t), 1
    bracket: list[Point] = []
    while tries <= most:  # longer steps, until a good one lies between two
        t, f, _, slope = here
        if f > f0 + ARMIJO * t * slope0 or (tries > 2 and f >= before[1]):
            bracket = [before, here]
        elif abs(slope) <= -CURVATURE * slope0:
            return here[0], here[1], here[2], tries
        elif slope >= 0:
            bracket = [before, here]
        if bracket:
            break
        ahead = _cubic_minimum(before, here, t + 0.01 * (t - before[0]), t * 10)
        before, here, tries = here, value_at(ahead), tries + 1
    else:
        bracket = [start, here]
    low, high = sorted(bracket, key=lambda point: point[1])
    near_end = False
    while tries <= most:
        a, b = sorted((low[0], high[0]))
        if (b - a) * longest < 1e-9:
            break
        t = _cubic_minimum(low, high, a, b)
        margin = 0.1 * (b - a)
        if min(b - t, t - a) < margin:  # twice near an end: the middle has been left out
            if near_end or t >= b or t <= a:
                t = b - margin if abs(t - b) < abs(t - a) else a + margin
                near_end = False
            else:
                near_end = True
        else:
            near_end = False
        here, tries = value_at(t), tries + 1
        _, f, _, slope = here
        if f > f0 + ARMIJO * t * slope0 or f >= low[1]:
            high = here
            if high[1] < low[1]:
                low, high = high, low
            continue
        good = abs(slope) <= -CURVATURE * slope0
        if not good and slope * (high[0] - low[0]) >= 0:
            high = low
        low = here
        if good:
            break
    return low[0], low[1], low[2], tries


def _cubic_minimum(first: Point, second: Point, least: float, most: float) -> float:
    """Where the cubic through two points with their slopes has its minimum, within bounds."""
    (a, fa, _, ga), (b, fb, _, gb) = first, second
    s = ga + gb - 3 * (fa - fb) / (a - b)
    square = s * s - ga * gb
    if not square >= 0:
        return (least + most) / 2
    root = sqrt(square)
    if a > b:
        a, ga, b, gb = b, gb, a, ga
    width = gb - ga + 2 * root
    at = b - (b - a) * ((gb + root - s) / width) if width else a
    return min(max(at, least), most) if at == at else (least + most) / 2
