"""Gradients of functions, and products of their Jacobians with vectors."""

from __future__ import annotations

from functools import wraps

from zero import Tensor, is_grad_enabled, ones_like
from zero.errors import ShapeError, ValueError
from zero.func._record import (
    Record,
    chosen,
    for_each,
    later_sizes,
    plain,
    shown,
    tensors_of,
    with_chosen,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from zero.func._record import ArgNums
    from zero.utils._pytree import TreeSpec

__all__ = ["grad", "grad_and_value", "jvp", "linearize", "vjp"]


def grad(func: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False) -> Any:
    """A function that computes the gradient of another: the derivatives of its one number.

    It can be differentiated again, by this or another transform. Whatever tensors the function
    uses beside its arguments are constants to it, but not to autograd around it.

    Args:
        func: returns a tensor without dimensions; with `has_aux` a pair of that and anything else.
        argnums: which positional argument or arguments to differentiate by, trees of tensors.
        has_aux: whether `func` returns such a pair.

    Returns:
        A function of the same arguments that returns a tree like the chosen argument, a tuple of
        such for a tuple `argnums`; with `has_aux` a pair of that and the rest.

    Raises:
        RuntimeError: when called: `func` returned no tensor without dimensions, or `argnums` names
            no argument.

    Example:
        >>> import zero
        >>> from zero.func import grad
        >>> f = lambda x: x**3
        >>> x = zero.tensor(2.0)
        >>> grad(f)(x), grad(grad(f))(x)
        (tensor(12.), tensor(12.))
    """
    both = _grad_and_value("grad", func, argnums, has_aux)

    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        gradients, values = both(*args, **kwargs)
        return (gradients, values[1]) if has_aux else gradients

    return gradient


def grad_and_value(func: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False) -> Any:
    """As :func:`grad`, but the new function returns the value, too.

    Args:
        func: returns a tensor without dimensions; with `has_aux` a pair of that and anything else.
        argnums: which positional argument or arguments to differentiate by, trees of tensors.
        has_aux: whether `func` returns such a pair.

    Returns:
        A function that returns a pair of the gradient and what `func` returns.

    Raises:
        RuntimeError: when called: `func` returned no tensor without dimensions, or `argnums` names
            no argument.

    Example:
        >>> import zero
        >>> zero.func.grad_and_value(lambda x: x**3)(zero.tensor(2.0))
        (tensor(12.), tensor(8.))
    """
    return wraps(func)(_grad_and_value("grad_and_value", func, argnums, has_aux))


def _grad_and_value(
    op: str, func: Callable[..., Any], argnums: ArgNums, has_aux: bool
) -> Callable[..., Any]:
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        record = Record(
            op,
            chosen(args, argnums, op),
            lambda new: func(*with_chosen(args, argnums, new), **kwargs),
            has_aux,
        )
        if len(record.outputs) != 1 or record.outputs_spec.num_nodes != 1:
            raise RuntimeError(
                f"{op}: func must return one tensor; got {len(record.outputs)} in a tree, expected "
                "a tensor without dimensions, or has_aux=True"
            )
        (y,) = record.shown
        if y.ndim > 0:
            raise RuntimeError(
                f"{op}: func must return a single number; got a tensor of shape {tuple(y.shape)}, "
                "expected one without dimensions; vjp and jacrev take others"
            )
        found = record.pull(
            [ones_like(record.outputs[0])], retain=record.depends, create=record.depends
        )
        gradients = record.inputs_spec.unflatten(map(shown, found))
        value = record.result()
        return gradients, (value, record.auxiliary()) if has_aux else value

    return gradient_and_value


def _vectors(
    record: Record, tree: Any, spec: TreeSpec, like: Sequence[Tensor], what: str
) -> list[Tensor]:
    """Vectors for the tensors `like`, plain ones in a tree of structure `spec`."""
    op, dims = record.op, record.dims
    vectors, given = tensors_of(tree, op, what)
    if given != spec:
        raise RuntimeError(f"{op}: {what} have another structure; got {given}, expected {spec}")
    result = []
    for i, (v, x) in enumerate(zip(vectors, like, strict=True)):
        own = x.shape[dims:]
        if v.shape != own:
            raise ShapeError(
                f"{op}: {what} have another shape; got {tuple(v.shape)} for tensor {i}, expected "
                f"{tuple(own)}"
            )
        v = plain(v)
        result.append(v if v.dtype == x.dtype else v.to(x.dtype))
    return result


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Calls a function, and gives another that multiplies vectors with its Jacobian.

    Args:
        func: takes `primals` and returns tensors, in any tree; with `has_aux` a pair of those and
            anything else.
        *primals: trees of tensors to differentiate by.
        has_aux: whether `func` returns such a pair.

    Returns:
        The outputs, and a function that takes a vector for each of them in the same tree, and
        returns a tuple of trees like `primals`: sum over i of v_i df_i/dx_j. It can be called
        often. With `has_aux` the rest comes third.

    Raises:
        RuntimeError: `func` returned no tensors, or there are no primals; of the function that is
            returned: the vectors don't have the structure of the outputs.
        ShapeError: of that function: a vector has another shape than its output.

    Example:
        >>> import zero
        >>> y, product = zero.func.vjp(zero.sin, zero.zeros(2))
        >>> product(zero.tensor([1.0, 2.0]))
        (tensor([1., 2.]),)
    """
    record = _recorded("vjp", func, primals, has_aux)
    outputs = record.outputs
    tidy = record.outputs_spec

    def product(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> Any:
        vectors = _vectors(record, cotangents, tidy, outputs, "vectors for the outputs")
        later = bool(later_sizes(record))
        if create_graph is None:
            create_graph = _outer(record, vectors)
        found = for_each(
            record, vectors, lambda vs: record.pull(vs, retain_graph or later, create_graph)
        )
        return record.inputs_spec.unflatten(map(shown, found))

    value = record.result()
    return (value, product, record.auxiliary()) if has_aux else (value, product)


def _recorded(op: str, func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool) -> Record:
    if not primals:
        raise RuntimeError(f"{op}: there is nothing to differentiate by; got no primals")
    record = Record(op, primals, lambda new: func(*new), has_aux)
    if not record.outputs:
        raise RuntimeError(f"{op}: func returned no tensors; expected at least one")
    return record


def _outer(record: Record, vectors: Sequence[Tensor]) -> bool:
    """Whether a product is to be recorded in its turn."""
    return is_grad_enabled() and (record.depends or any(v.requires_grad for v in vectors))


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Calls a function, and multiplies its Jacobian with vectors: its derivative along them.

    The map u -> u J is linear, and is differentiated by u: two backward passes in place of one
    forward mode.

    Args:
        func: takes `primals` and returns tensors, in any tree; with `has_aux` a pair of those and
            anything else.
        primals: a tuple of trees of tensors.
        tangents: a vector for each tensor of `primals`, in the same tree.
        strict: raise, instead of giving zeros, where an output does not depend on the primals.
        has_aux: whether `func` returns such a pair.

    Returns:
        The outputs, and a tree of the same structure: sum over j of df_i/dx_j v_j. With `has_aux`
        the rest comes third.

    Raises:
        RuntimeError: the structures differ, or `strict`.
        ShapeError: a vector has another shape than its primal.

    Example:
        >>> import zero
        >>> zero.func.jvp(zero.sin, (zero.zeros(2),), (zero.tensor([1.0, 2.0]),))
        (tensor([0., 0.]), tensor([1., 2.]))
    """
    for tree, name in ((primals, "primals"), (tangents, "tangents")):
        if not isinstance(tree, tuple):
            raise ValueError(f"jvp: {name} is no tuple; got {type(tree).__name__}")
    record = _recorded("jvp", func, primals, has_aux)
    vectors = _vectors(record, tangents, record.inputs_spec, record.inputs, "tangents")
    for i, y in enumerate(record.outputs):
        if strict and not y.requires_grad:
            raise RuntimeError(
                f"jvp: output {i} does not depend on the primals; got strict=True, expected "
                "strict=False for zeros"
            )
    create = _outer(record, vectors)
    found = record.linear().push(vectors, retain=create, create=create)
    result = record.result(), record.outputs_spec.unflatten(map(shown, found))
    return (*result, record.auxiliary()) if has_aux else result


def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """The outputs of a function, and its derivative there as a function of vectors.

    As :func:`jvp`, but the function is called once for many vectors.

    Args:
        func: takes `primals` and returns tensors, in any tree.
        *primals: trees of tensors.

    Returns:
        The outputs, and a function that takes a vector for each tensor of `primals`, in the same
        trees, and returns a tree like the outputs.

    Raises:
        RuntimeError: `func` returned no tensors, or there are no primals.

    Example:
        >>> import zero
        >>> y, derivative = zero.func.linearize(zero.sin, zero.zeros(2))
        >>> derivative(zero.tensor([1.0, 2.0]))
        tensor([1., 2.])
    """
    record = _recorded("linearize", func, primals, False)
    linear = record.linear()

    def derivative(*tangents: Any) -> Any:
        vectors = _vectors(record, tangents, record.inputs_spec, record.inputs, "tangents")
        create = _outer(record, vectors)
        found = for_each(record, vectors, lambda vs: linear.push(vs, retain=True, create=create))
        return record.outputs_spec.unflatten(map(shown, found))

    return record.result(), derivative
