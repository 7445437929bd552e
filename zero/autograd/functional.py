"""Derivatives of functions: Jacobians, Hessians, and their products with vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zero import Tensor, enable_grad, stack, zeros, zeros_like
from zero.autograd.engine import grad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Tensors: TypeAlias = tuple[Tensor, ...]
    OneOrMore: TypeAlias = Tensor | Sequence[Tensor]
    Func: TypeAlias = Callable[..., Any]

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


# ---- arguments -----------------------------------------------------------------------------------
def _as_tuple(x: object, op: str, name: str) -> tuple[Tensors, bool]:
    """The tensors, and whether they came as a tuple."""
    is_tuple = isinstance(x, tuple)
    items = x if isinstance(x, tuple) else (x,)
    for i, t in enumerate(items):
        if not isinstance(t, Tensor):
            where = f"{name}[{i}]" if is_tuple else name
            raise TypeError(
                f"{op}: {where} is not a tensor; got {type(t).__name__}, expected a Tensor or a "
                "tuple of Tensors"
            )
    return items, is_tuple


def _prepared(inputs: Tensors, create_graph: bool) -> Tensors:
    """New tensors to differentiate by, with the history of the old if that is to be kept."""
    if create_graph:
        return tuple(
            t.view_as(t) if t.requires_grad else t.detach().requires_grad_() for t in inputs
        )
    return tuple(t.detach().requires_grad_() for t in inputs)


def _called(func: Func, inputs: Tensors, op: str, strict: bool) -> tuple[Tensors, bool]:
    outputs, is_tuple = _as_tuple(func(*inputs), op, "the result of func")
    if strict:
        for i, y in enumerate(outputs):
            if not y.requires_grad:
                raise RuntimeError(
                    f"{op}: output {i} does not depend on the inputs; got strict=True, expected "
                    "strict=False for zeros"
                )
    return outputs, is_tuple


def _vectors(v: object, like: Tensors, is_tuple: bool, op: str, of: str) -> Tensors:
    """The vectors of a product, one for each tensor; None stands for 1 of a single element."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"{op}: v may be left out only if {of} has a single element; got None, expected a "
                "tensor of the same shape for each"
            )
        return (like[0].detach().new_ones(like[0].shape),)
    vs, v_is_tuple = _as_tuple(v, op, "v")
    if v_is_tuple != is_tuple or len(vs) != len(like):
        raise RuntimeError(
            f"{op}: v does not fit {of}; got {len(vs)} tensors, expected {len(like)}, in a tuple "
            "if they are in one"
        )
    for i, (a, b) in enumerate(zip(vs, like, strict=True)):
        if a.shape != b.shape:
            raise RuntimeError(
                f"{op}: v[{i}] does not fit {of}; got shape {tuple(a.shape)}, expected "
                f"{tuple(b.shape)}"
            )
    return vs


def _gradients(
    outputs: Tensors, inputs: Tensors, vs: Sequence[Tensor | None], create_graph: bool
) -> tuple[Tensor | None, ...]:
    """Gradients of the outputs that have one; None where there is none."""
    pairs = [(y, v) for y, v in zip(outputs, vs, strict=True) if y.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [y for y, _ in pairs],
        inputs,
        [v for _, v in pairs],
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
    )


def _filled(
    grads: Sequence[Tensor | None], like: Tensors, op: str, strict: bool, create_graph: bool
) -> Tensors:
    """Zeros for gradients that are missing; with strict an error."""
    result = []
    for i, (g, x) in enumerate(zip(grads, like, strict=True)):
        if strict and g is None:
            raise RuntimeError(
                f"{op}: the result does not depend on input {i}; got strict=True, expected "
                "strict=False for zeros"
            )
        if strict and create_graph and g is not None and not g.requires_grad:
            raise RuntimeError(
                f"{op}: the derivative by input {i} does not depend on the inputs; got strict=True "
                "with create_graph=True, expected strict=False"
            )
        result.append(zeros_like(x) if g is None else g)
    return tuple(result)


def _result(tensors: Tensors, is_tuple: bool, create_graph: bool) -> Any:
    if not create_graph:
        tensors = tuple(t.detach() for t in tensors)
    return tensors if is_tuple else tensors[0]


def _is_forward(op: str, vectorize: bool, strategy: str, strict: bool) -> bool:
    """Whether the matrix is to be computed by columns."""
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(
            f"{op}: no such strategy; got {strategy!r}, expected 'reverse-mode' or 'forward-mode'"
        )
    if vectorize and strict:
        raise RuntimeError(
            f"{op}: strict=True and vectorize=True don't go together; expected one of them"
        )
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            f"{op}: forward-mode is for vectorize=True only; expected that or 'reverse-mode'"
        )
    return strategy == "forward-mode"


def _columns(func: Func, inputs: OneOrMore, create_graph: bool) -> Any:
    """A Jacobian by columns."""
    from zero.func import jacfwd

    xs, is_tuple = _as_tuple(inputs, "jacobian", "inputs")
    xs = tuple(x.view_as(x) if create_graph else x.detach() for x in xs)

    def checked(*xs: Tensor) -> Any:
        ys, ys_tuple = _called(func, xs, "jacobian", False)
        return ys if ys_tuple else ys[0]

    result = jacfwd(checked, tuple(range(len(xs))), randomness="same")(*xs)
    if is_tuple:
        return result
    return tuple(row[0] for row in result) if isinstance(result[0], tuple) else result[0]


# ---- products with vectors -----------------------------------------------------------------------
def vjp(
    func: Func,
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """A vector times the Jacobian: sum over i of v_i df_i/dx_j.

    Args:
        func: takes the inputs, returns a tensor or a tuple of them.
        inputs: a tensor or a tuple of them.
        v: a tensor for each output, of its shape; may be left out for one output of one element.
        create_graph: whether the results can be differentiated.
        strict: raise, instead of giving zeros, where an output does not depend on an input.

    Returns:
        The outputs, and a tensor for each input.

    Raises:
        RuntimeError: v does not fit, or strict.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0])
        >>> y, product = zero.autograd.functional.vjp(lambda x: x * x, x, zero.ones(2))
        >>> product
        tensor([2., 4.])
    """
    with enable_grad():
        xs, is_tuple = _as_tuple(inputs, "vjp", "inputs")
        xs = _prepared(xs, create_graph)
        ys, ys_tuple = _called(func, xs, "vjp", strict)
        vs = _vectors(v, ys, ys_tuple, "vjp", "the output of func")
        found = _gradients(ys, xs, vs, create_graph)
        products = _filled(found, xs, "vjp", strict, create_graph)
    return _result(ys, ys_tuple, create_graph), _result(products, is_tuple, create_graph)


def jvp(
    func: Func,
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The Jacobian times a vector: sum over j of df_i/dx_j v_j.

    It differentiates u -> u J, which is linear, by u: two backward passes instead of one in forward
    mode.

    Args:
        func: takes the inputs, returns a tensor or a tuple of them.
        inputs: a tensor or a tuple of them.
        v: a tensor for each input, of its shape; may be left out for one input of one element.
        create_graph: whether the results can be differentiated.
        strict: raise, instead of giving zeros, where an output does not depend on an input.

    Returns:
        The outputs, and a tensor for each of them.

    Raises:
        RuntimeError: v does not fit, or strict.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0])
        >>> y, product = zero.autograd.functional.jvp(lambda x: x * x, x, zero.ones(2))
        >>> product
        tensor([2., 4.])
    """
    with enable_grad():
        xs, is_tuple = _as_tuple(inputs, "jvp", "inputs")
        vs = _vectors(v, xs, is_tuple, "jvp", "the input of func")
        xs = _prepared(xs, create_graph)
        ys, ys_tuple = _called(func, xs, "jvp", strict)
        us = tuple(zeros_like(y).requires_grad_() for y in ys)
        rows = _filled(_gradients(ys, xs, us, True), xs, "jvp", strict, False)
        found = _gradients(rows, us, vs, create_graph)
        products = _filled(found, ys, "jvp", strict, create_graph)
    return _result(ys, ys_tuple, create_graph), _result(products, ys_tuple, create_graph)


def _scalar(func: Func, xs: Tensors, op: str, strict: bool) -> Tensor:
    ys, ys_tuple = _called(func, xs, op, strict)
    if ys_tuple or ys[0].numel() != 1:
        got = f"a tuple of {len(ys)}" if ys_tuple else f"shape {tuple(ys[0].shape)}"
        raise RuntimeError(
            f"{op}: func must return one tensor of one element; got {got}, expected a scalar loss"
        )
    return ys[0]


def vhp(
    func: Func,
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """A vector times the Hessian of a function with one element: the gradient of (df/dx . v).

    Args:
        func: takes the inputs, returns a tensor of one element.
        inputs: a tensor or a tuple of them.
        v: a tensor for each input, of its shape; may be left out for one input of one element.
        create_graph: whether the results can be differentiated.
        strict: raise, instead of giving zeros, where a derivative does not depend on an input.

    Returns:
        The output, and a tensor for each input.

    Raises:
        RuntimeError: func returned several elements, v does not fit, or strict.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0])
        >>> y, product = zero.autograd.functional.vhp(lambda x: (x**3).sum(), x, zero.ones(2))
        >>> product
        tensor([ 6., 12.])
    """
    with enable_grad():
        xs, is_tuple = _as_tuple(inputs, "vhp", "inputs")
        vs = _vectors(v, xs, is_tuple, "vhp", "the input of func")
        xs = _prepared(xs, create_graph)
        y = _scalar(func, xs, "vhp", strict)
        first = _filled(_gradients((y,), xs, (None,), True), xs, "vhp", strict, True)
        products = _filled(_gradients(first, xs, vs, create_graph), xs, "vhp", strict, create_graph)
    return _result((y,), False, create_graph), _result(products, is_tuple, create_graph)


def hvp(
    func: Func,
    inputs: OneOrMore,
    v: OneOrMore | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The Hessian of a function with one element times a vector.

    The same numbers as :func:`vhp`, which needs one backward pass less: the Hessian is symmetric
    where its entries are continuous. This one differentiates u -> u H by u.

    Args:
        func: takes the inputs, returns a tensor of one element.
        inputs: a tensor or a tuple of them.
        v: a tensor for each input, of its shape; may be left out for one input of one element.
        create_graph: whether the results can be differentiated.
        strict: raise, instead of giving zeros, where a derivative does not depend on an input.

    Returns:
        The output, and a tensor for each input.

    Raises:
        RuntimeError: func returned several elements, v does not fit, or strict.

    Example:
        >>> import zero
        >>> x = zero.tensor([1.0, 2.0])
        >>> y, product = zero.autograd.functional.hvp(lambda x: (x**3).sum(), x, zero.ones(2))
        >>> product
        tensor([ 6., 12.])
    """
    with enable_grad():
        xs, is_tuple = _as_tuple(inputs, "hvp", "inputs")
        vs = _vectors(v, xs, is_tuple, "hvp", "the input of func")
        xs = _prepared(xs, create_graph)
        y = _scalar(func, xs, "hvp", strict)
        first = _filled(_gradients((y,), xs, (None,), True), xs, "hvp", strict, True)
        us = tuple(zeros_like(x).requires_grad_() for x in xs)
        rows = _filled(_gradients(first, xs, us, True), xs, "hvp", strict, False)
        products = _filled(_gradients(rows, us, vs, create_graph), xs, "hvp", strict, create_graph)
    return _result((y,), False, create_graph), _result(products, is_tuple, create_graph)


# ---- matrices ------------------------------------------------------------------------------------
def jacobian(
    func: Func,
    inputs: OneOrMore,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """All derivatives J[i][j] = df_i/dx_j, by one backward pass for each element of the outputs.

    Args:
        func: takes the inputs, returns a tensor or a tuple of them.
        inputs: a tensor or a tuple of them.
        create_graph: whether the result can be differentiated.
        strict: raise, instead of giving zeros, where an output does not depend on an input.
        vectorize: allows for "forward-mode", and is of no other meaning: rows and columns are
            computed one by one in any case.
        strategy: "reverse-mode", one backward pass for each element of the outputs; or
            "forward-mode", two of them and one for each element of the inputs.

    Returns:
        For one output and one input a tensor of shape (\\*output.shape, \\*input.shape); otherwise
        tuples of these, by output, then by input.

    Raises:
        NotImplementedError: forward mode without vectorize.
        RuntimeError: strict.

    Example:
        >>> import zero
        >>> zero.autograd.functional.jacobian(lambda x: x * x, zero.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if _is_forward("jacobian", vectorize, strategy, strict):
        return _columns(func, inputs, create_graph)
    with enable_grad():
        xs, is_tuple = _as_tuple(inputs, "jacobian", "inputs")
        xs = _prepared(xs, create_graph)
        ys, ys_tuple = _called(func, xs, "jacobian", strict)
        result = tuple(_rows(y, xs, strict, create_graph) for y in ys)
    if not create_graph:
        result = tuple(tuple(t.detach() for t in row) for row in result)
    if not is_tuple:
        flat = tuple(row[0] for row in result)
        return flat if ys_tuple else flat[0]
    return result if ys_tuple else result[0]


def _rows(y: Tensor, xs: Tensors, strict: bool, create_graph: bool) -> Tensors:
    """The derivatives of one output, by input."""
    flat = y.reshape(-1)
    rows: list[list[Tensor]] = [[] for _ in xs]
    for i in range(flat.numel()):
        found = _gradients((flat[i],), xs, (None,), create_graph)
        for row, g in zip(rows, _filled(found, xs, "jacobian", strict, create_graph), strict=True):
            row.append(g)
    return tuple(
        stack(row).reshape(*y.shape, *x.shape)
        if row
        else zeros(*y.shape, *x.shape, dtype=x.dtype, device=x.device)
        for row, x in zip(rows, xs, strict=True)
    )


def hessian(
    func: Func,
    inputs: OneOrMore,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """All second derivatives of a function with one element.

    Args:
        func: takes the inputs, returns a tensor of one element.
        inputs: a tensor or a tuple of them.
        create_graph: whether the result can be differentiated.
        strict: raise, instead of giving zeros, where a derivative does not depend on an input.
        vectorize: allows for "forward-mode", and is of no other meaning.
        outer_jacobian_strategy: how the gradient is differentiated, as for :func:`jacobian`.

    Returns:
        For one input a tensor of shape (\\*input.shape, \\*input.shape); for a tuple of inputs a
        tuple of tuples of such, by the inputs that are differentiated by.

    Raises:
        NotImplementedError: forward mode without vectorize.
        RuntimeError: func returned several elements, or strict.

    Example:
        >>> import zero
        >>> zero.autograd.functional.hessian(lambda x: (x**3).sum(), zero.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    forward = _is_forward("hessian", vectorize, outer_jacobian_strategy, strict)
    _, is_tuple = _as_tuple(inputs, "hessian", "inputs")

    def gradient(*xs: Tensor) -> Tensors:
        y = _scalar(func, xs, "hessian", strict)
        first = _gradients((y,), xs, (None,), True)
        return _filled(first, xs, "hessian", strict, True)

    if forward:
        result = _columns(gradient, inputs, create_graph)
    else:
        result = jacobian(gradient, inputs, create_graph=create_graph, strict=strict)
    return result if is_tuple else result[0]
