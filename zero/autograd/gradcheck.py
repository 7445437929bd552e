"""Checks of gradients against finite differences."""

from __future__ import annotations

import warnings
from math import isnan

import zero
from zero import Tensor
from zero.autograd.engine import grad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """Raised by gradcheck and gradgradcheck for a wrong gradient."""


def gradcheck(
    func: Callable[..., object],
    inputs: Tensor | Sequence[object],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compares the gradients of a function with central differences.

    For every element of an input, ``d = (func(x + eps) - func(x - eps)) / (2 * eps)`` must agree
    with what backward gives: ``|backward - d| <= atol + rtol * |d|``. The defaults suit float64.

    Args:
        func: takes the inputs, returns a Tensor or a sequence with Tensors in it.
        inputs: arguments of func. Those that require gradients are checked; they must not share
            elements.
        eps: step of the differences.
        atol: absolute tolerance.
        rtol: relative tolerance.
        raise_exception: raise what is found instead of returning False.
        nondet_tol: how much two backward passes may differ.
        check_undefined_grad: with several outputs, check that leaving some out of a backward pass
            is the same as a gradient of zeros for them.
        check_grad_dtypes: check that gradients have the dtype of their inputs (shapes always are).
        check_backward_ad: must be True.
        check_batched_grad, check_batched_forward_grad, check_forward_ad, fast_mode, masked: must be
            off; vmap, forward mode, the check in one random direction and sparse tensors don't
            exist here.

    Returns:
        True if all is right.

    Raises:
        GradcheckError: a gradient is wrong; the message names output, input and element.
        ValueError: no input requires a gradient, or no output does though it depends on an input.
        NotImplementedError: one of the arguments that must be off is on.

    Example:
        >>> import zero
        >>> x = zero.tensor([[0.5, -1.0]], dtype=zero.float64, requires_grad=True)
        >>> zero.autograd.gradcheck(lambda x: (x * x).exp(), (x,))
        True
    """
    unsupported = {
        "check_batched_grad": check_batched_grad,
        "check_batched_forward_grad": check_batched_forward_grad,
        "check_forward_ad": check_forward_ad,
        "check_backward_ad=False": not check_backward_ad,
        "fast_mode": fast_mode,
        "masked": masked,
    }
    _refuse("gradcheck", unsupported)
    points = _as_tuple("gradcheck", inputs)
    _check_inputs(points)
    try:
        check = _Gradcheck(func, points, eps, atol, rtol)
        check.jacobians(nondet_tol)
        check.gradients(check_grad_dtypes)
        if check_undefined_grad:
            check.undefined_gradients()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., object],
    inputs: Tensor | Sequence[object],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compares second derivatives with central differences: gradcheck of the backward pass of a
    function.

    Args:
        func, inputs, eps, atol, rtol: as in :func:`gradcheck`.
        raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes: as in
            :func:`gradcheck`.
        grad_outputs: gradients of the outputs of func to start from; random ones if None.
        gen_non_contig_grad_outputs: make those random ones non-contiguous.
        check_rev_over_rev: must be True.
        check_batched_grad, check_fwd_over_rev, fast_mode, masked: must be off.

    Returns:
        True if all is right.

    Raises: as :func:`gradcheck`.

    Example:
        >>> import zero
        >>> x = zero.tensor([0.5, -1.0], dtype=zero.float64, requires_grad=True)
        >>> zero.autograd.gradgradcheck(lambda x: x.tanh(), (x,))
        True
    """
    unsupported = {
        "check_batched_grad": check_batched_grad,
        "check_fwd_over_rev": check_fwd_over_rev,
        "check_rev_over_rev=False": not check_rev_over_rev,
        "fast_mode": fast_mode,
        "masked": masked,
    }
    _refuse("gradgradcheck", unsupported)
    points = _as_tuple("gradgradcheck", inputs)
    _check_inputs(points)
    if grad_outputs is None:
        outputs = _differentiable(_outputs(func(*points)))
        seeds = tuple(_random_like(y, gen_non_contig_grad_outputs) for y in outputs)
    else:
        seeds = _as_tuple("gradgradcheck", grad_outputs)

    def backward(*args: Tensor) -> tuple[Tensor, ...]:
        inputs, grads = args[: len(args) - len(seeds)], args[len(args) - len(seeds) :]
        outputs = _differentiable(_outputs(func(*inputs)))
        wanted = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
        found = grad(outputs, wanted, grads, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        backward,
        points + seeds,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
    )


class _Gradcheck:
    """A function at a point: its outputs, and the inputs and outputs that take part."""

    def __init__(
        self,
        func: Callable[..., object],
        inputs: tuple[object, ...],
        eps: float,
        atol: float,
        rtol: float,
    ) -> None:
        self.func, self.args, self.eps, self.atol, self.rtol = func, inputs, eps, atol, rtol
        self.outputs = _outputs(func(*inputs))
        self.inputs = [
            (i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad
        ]
        self.wanted = [x for _, x in self.inputs]
        self.checked = [(j, y) for j, y in enumerate(self.outputs) if y.requires_grad]

    def jacobians(self, nondet_tol: float) -> None:
        numerical = [self.differences(x) for x in self.wanted]
        if not self.checked:
            for jacobian in numerical:
                if any(abs(d) > self.atol for row in jacobian for column in row for d in column):
                    raise ValueError(
                        "gradcheck: no output requires a gradient, but they change with the inputs"
                    )
            return
        for j, y in self.checked:
            seed = zero.zeros_like(y)
            for k, index in enumerate(_indices(y)):
                seed[index] = 1
                found = self.backward([y], [seed])
                again = self.backward([y], [seed])
                for n, (i, x) in enumerate(self.inputs):
                    elements = _elements(found[n], x)
                    self.repeatable(elements, _elements(again[n], x), nondet_tol, j, i)
                    expected = [row[j][k] for row in numerical[n]]
                    self.compare(elements, expected, j, index, i, x)
                seed[index] = 0  # not earlier: a gradient may be this very memory

    def backward(self, outputs: list[Tensor], seeds: list[Tensor]) -> tuple[Tensor | None, ...]:
        return grad(outputs, self.wanted, seeds, retain_graph=True, allow_unused=True)

    def differences(self, x: Tensor) -> list[list[list[float]]]:
        """For each element of x, the derivatives of all elements of all outputs as lists."""
        data, rows = x.data, []  # its writes don't count as changes of x
        for index in _indices(x):
            middle = data[index].item()
            sides = []
            for value in (middle + self.eps, middle - self.eps):
                data[index] = value
                try:
                    outputs = _outputs(self.func(*self.args))
                    sides.append([y.detach().reshape(-1).tolist() for y in outputs])
                finally:
                    data[index] = middle
            step = 2 * self.eps
            rows.append(
                [
                    [(a - b) / step for a, b in zip(*pair, strict=True)]
                    for pair in zip(*sides, strict=True)
                ]
            )
        return rows

    def compare(
        self,
        found: list[float],
        expected: list[float],
        j: int,
        at: tuple[int, ...],
        i: int,
        x: Tensor,
    ) -> None:
        for a, n, index in zip(found, expected, _indices(x), strict=True):
            if a == n or abs(a - n) <= self.atol + self.rtol * abs(n):
                continue
            raise GradcheckError(
                f"gradcheck: the gradient of output {j} at {at} for input {i} at {index} is wrong; "
                f"backward gives {a:.10g}, differences give {n:.10g}"
            )

    def repeatable(self, a: list[float], b: list[float], tolerance: float, j: int, i: int) -> None:
        for u, v in zip(a, b, strict=True):
            if not (abs(u - v) <= tolerance or u == v or (isnan(u) and isnan(v))):
                raise GradcheckError(
                    f"gradcheck: two backward passes differ in the gradient of output {j} for "
                    f"input {i}; got {u!r} and {v!r}; nondet_tol allows a difference"
                )

    def gradients(self, check_dtypes: bool) -> None:
        """Shapes and dtypes, and that a gradient of zeros gives zeros."""
        if not self.checked:
            return
        outputs = [y for _, y in self.checked]
        found = self.backward(outputs, [zero.zeros_like(y) for y in outputs])
        for (i, x), g in zip(self.inputs, found, strict=True):
            if g is None:
                continue
            if g.shape != x.shape:
                raise GradcheckError(
                    f"gradcheck: the gradient of input {i} has shape {tuple(g.shape)}, "
                    f"expected {tuple(x.shape)}"
                )
            if check_dtypes and g.dtype != x.dtype:
                raise GradcheckError(
                    f"gradcheck: the gradient of input {i} has dtype {g.dtype}, expected {x.dtype}"
                )
            if any(value != 0 for value in _elements(g, x)):
                raise GradcheckError(
                    f"gradcheck: the gradient of input {i} is not proportional to that of the "
                    "outputs; zeros give something else"
                )

    def undefined_gradients(self) -> None:
        """Each output alone must give the same as with zeros for the others."""
        outputs = [y for _, y in self.checked]
        if len(outputs) < 2:
            return
        for n, (j, y) in enumerate(self.checked):
            seeds = [zero.zeros_like(other) for other in outputs]
            seeds[n] = zero.ones_like(y)
            alone = self.backward([y], [seeds[n]])
            together = self.backward(outputs, seeds)
            for (i, x), a, b in zip(self.inputs, alone, together, strict=True):
                for u, v in zip(_elements(a, x), _elements(b, x), strict=True):
                    if not (u == v or abs(u - v) <= self.atol or (isnan(u) and isnan(v))):
                        raise GradcheckError(
                            f"gradcheck: output {j} alone gives another gradient for input {i} "
                            f"than with zeros for the other outputs; got {u!r} and {v!r}"
                        )


def _refuse(op: str, arguments: Mapping[str, object]) -> None:
    for name, on in arguments.items():
        if on:
            raise NotImplementedError(f"{op}: {name} is not supported")


def _as_tuple(op: str, inputs: object) -> tuple[Any, ...]:
    if isinstance(inputs, Tensor):
        return (inputs,)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"{op}: expected a Tensor or a sequence; got {type(inputs).__name__}")
    return tuple(inputs)


def _check_inputs(inputs: tuple[object, ...]) -> None:
    wanted = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not wanted:
        raise ValueError("gradcheck: no input requires a gradient")
    for i, x in wanted:
        if x.dtype != zero.float64:
            warnings.warn(
                f"gradcheck: input {i} is {x.dtype}; differences are hardly exact below float64",
                stacklevel=3,
            )
        if any(stride == 0 and size > 1 for size, stride in zip(x.shape, x.stride(), strict=True)):
            raise ValueError(
                f"gradcheck: elements of input {i} share memory, so they can't be changed one at a "
                "time; clone() it"
            )


def _outputs(result: object) -> list[Tensor]:
    if isinstance(result, Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [y for y in result if isinstance(y, Tensor)]
    raise TypeError(
        f"gradcheck: func must return a Tensor or a sequence of them; got {type(result).__name__}"
    )


def _differentiable(outputs: list[Tensor]) -> list[Tensor]:
    return [y for y in outputs if y.requires_grad]


def _random_like(y: Tensor, non_contiguous: bool) -> Tensor:
    shape = (*y.shape, 2) if non_contiguous else tuple(y.shape)
    values = zero.rand(shape, dtype=y.dtype, device=y.device) * 2 - 1
    if non_contiguous:
        values = values.select(-1, 0)
    return values.requires_grad_()


def _elements(grad: Tensor | None, x: Tensor) -> list[float]:
    return [0.0] * x.numel() if grad is None else grad.detach().reshape(-1).tolist()


def _indices(x: Tensor) -> list[tuple[int, ...]]:
    """The indices of all elements, the last dimension first."""
    indices: list[tuple[int, ...]] = [()]
    for size in x.shape:
        indices = [(*index, i) for index in indices for i in range(size)]
    return indices
