"""Backward passes: gradients into leaves, or as a result."""

from __future__ import annotations

from zero import Tensor, _backward, _grad, _stand_in, stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zero.autograd.graph import GradientEdge

__all__ = ["backward", "grad"]


def _tensors(given: Any, leaves: bool = False) -> Any:
    """Tensors for the gradient edges among them, which must lead to leaves if that is said."""
    from zero.autograd.graph import GradientEdge

    if isinstance(given, GradientEdge):
        x = _stand_in(given.node, given.output_nr)
        if leaves and not x.is_leaf:
            raise NotImplementedError(
                "backward: inputs holds the gradient edge of a result, which has no .grad; got "
                f"{given}, expected that of a leaf, or the tensor"
            )
        return x
    if isinstance(given, (tuple, list)) and any(isinstance(x, GradientEdge) for x in given):
        return [_tensors(x, leaves) for x in given]
    return given


def backward(
    tensors: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | None = None,
) -> None:
    """Adds the gradients of the tensors to the ``.grad`` of the leaves they were computed from.

    Args:
        tensors: where to start: tensors or gradient edges.
        grad_tensors: a gradient for each of them, of its shape. None stands for 1 and is for
            tensors with one element only.
        retain_graph: keep the graph for another backward pass; None means create_graph.
        create_graph: record the backward pass itself, for derivatives of gradients.
        grad_variables: the old name of grad_tensors.
        inputs: the only leaves to give a gradient to. Results keep theirs, as after
            :meth:`Tensor.retain_grad`.

    Raises:
        RuntimeError: a tensor needs no gradient, the graph was freed, or a gradient is missing.
        ShapeError: a gradient has another shape than its tensor.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0], requires_grad=True)
        >>> zero.autograd.backward([(x * x).sum(), x.sum()])
        >>> x.grad
        tensor([3., 5.])
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise ValueError(
                "backward: grad_variables is the old name of grad_tensors; give only one"
            )
        grad_tensors = grad_variables
    roots: Any = tensors if isinstance(tensors, Tensor) else _tensors(tensors)
    only: Any = inputs
    if inputs is not None and not isinstance(inputs, Tensor):
        only = _tensors(inputs, leaves=True)
    _backward(roots, grad_tensors, retain_graph, create_graph, only)


def grad(
    outputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of the sum of the outputs with respect to the inputs; no ``.grad`` changes.

    Args:
        outputs: what to differentiate: tensors or gradient edges.
        inputs: by what; leaves or results, or their gradient edges.
        grad_outputs: a gradient for each output, of its shape. None stands for 1 and is for outputs
            with one element only.
        retain_graph: keep the graph for another backward pass; None means create_graph.
        create_graph: record the backward pass itself, for derivatives of gradients.
        only_inputs: must be True; :func:`backward` changes ``.grad``.
        allow_unused: an input that the outputs don't depend on gets None instead of an error; None
            means materialize_grads.
        is_grads_batched: whether grad_outputs have a further dimension in front, for several passes
            over one graph; the results then have it, too.
        materialize_grads: zeros instead of None.

    Returns:
        One gradient for each input.

    Raises:
        RuntimeError: an output needs no gradient, the graph was freed, or an input is not used.
        ShapeError: a gradient has another shape than its output.

    Example:
        >>> import zero
        >>> x = zero.tensor(3.0, requires_grad=True)
        >>> (first,) = zero.autograd.grad(x**3, x, create_graph=True)
        >>> (second,) = zero.autograd.grad(first, x)
        >>> first.item(), second.item()
        (27.0, 18.0)
    """
    if not only_inputs:
        raise NotImplementedError("grad: only_inputs=False is not supported; use backward")
    roots: Any = outputs if isinstance(outputs, Tensor) else _tensors(outputs)
    wanted: Any = inputs if isinstance(inputs, Tensor) else _tensors(inputs)
    options = create_graph, allow_unused, materialize_grads
    if not is_grads_batched:
        return _grad(roots, wanted, grad_outputs, retain_graph, *options)
    vectors: list[Any]
    vectors = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs or ())
    sizes = {v.shape[0] if v is not None and v.ndim > 0 else None for v in vectors}
    if len(sizes) != 1 or None in sizes or 0 in sizes:
        raise ValueError(
            "grad: is_grads_batched=True is for grad_outputs with a dimension in front; got sizes "
            f"{sorted(map(str, sizes))} there, expected one size, of at least 1"
        )
    n = int(vectors[0].shape[0])
    passes = []
    for i in range(n):
        retain = True if i + 1 < n else retain_graph
        passes.append(_grad(roots, wanted, [v[i] for v in vectors], retain, *options))
    return tuple(None if gs[0] is None else stack(gs) for gs in zip(*passes, strict=True))
