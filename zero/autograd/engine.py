"""Backward passes: gradients into leaves, or as a result."""

from __future__ import annotations

from collections.abc import Sequence

from zero import Tensor, _backward, _grad

__all__ = ["backward", "grad"]


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Adds the gradients of the tensors to the ``.grad`` of the leaves they were computed from.

    Args:
        tensors: where to start.
        grad_tensors: a gradient for each of them, of its shape. None stands for 1 and is for
            tensors with one element only.
        retain_graph: keep the graph for another backward pass; None means create_graph.
        create_graph: record the backward pass itself, for derivatives of gradients.
        grad_variables: the old name of grad_tensors.
        inputs: the only leaves to give a gradient to.

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
    _backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
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
        outputs: what to differentiate.
        inputs: by what; leaves or results.
        grad_outputs: a gradient for each output, of its shape. None stands for 1 and is for outputs
            with one element only.
        retain_graph: keep the graph for another backward pass; None means create_graph.
        create_graph: record the backward pass itself, for derivatives of gradients.
        only_inputs: must be True; :func:`backward` changes ``.grad``.
        allow_unused: an input that the outputs don't depend on gets None instead of an error; None
            means materialize_grads.
        is_grads_batched: must be False; there is no vmap.
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
    if is_grads_batched:
        raise NotImplementedError("grad: is_grads_batched=True is not supported")
    return _grad(
        outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
    )
