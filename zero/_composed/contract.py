"""Sums of products over named or numbered dimensions, composed of matrix products."""

from __future__ import annotations

from collections.abc import Sequence

import zero
from zero import Tensor, _deliver
from zero._composed.arguments import attach, numpy_names, wrap_dim
from zero.errors import DTypeError, ShapeError, ValueError as ZeroValueError

__all__ = ["chain_matmul", "dist", "einsum", "tensordot", "vdot"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Labels = list[int]
    Step = Callable[[Sequence[Tensor]], Tensor]

# ---- the product of two tensors whose dimensions have labels -------------------------------------
# A plan is made once per equation and shapes: a list of functions from tensors to tensors, with all
# permutations and shapes worked out. Labels are ints.


def _moves(labels: Labels, order: Labels) -> list[int] | None:
    """The permutation that brings dimensions into an order; None if they are in it."""
    places = [labels.index(k) for k in order]
    return None if places == list(range(len(places))) else places


def _arranged(
    labels: Labels, sizes: dict[int, int], batch: Labels, rows: Labels, columns: Labels
) -> Callable[[Tensor], Tensor]:
    """A function to [*batch, rows, columns], where both ends are one dimension each."""
    permutation = _moves(labels, batch + rows + columns)
    shape = [sizes[k] for k in batch]
    for group in (rows, columns):
        n = 1
        for k in group:
            n *= sizes[k]
        shape.append(n)
    fits = len(rows) == 1 and len(columns) == 1
    if permutation is None:
        return (lambda x: x) if fits else (lambda x: x.reshape(shape))
    if fits:
        return lambda x: x.permute(permutation)
    return lambda x: x.permute(permutation).reshape(shape)


def _spread(labels: Labels, order: Labels) -> Callable[[Tensor], Tensor]:
    """A function to one dimension per label of `order`, of size 1 for those it does not have."""
    permutation = _moves(labels, [k for k in order if k in labels])
    missing = [i for i, k in enumerate(order) if k not in labels]

    def spread(x: Tensor) -> Tensor:
        if permutation is not None:
            x = x.permute(permutation)
        for i in missing:
            x = x.unsqueeze(i)
        return x

    return spread


class _Operand:
    """A tensor that is to come: its labels, with their sizes, and what is done to it before use."""

    def __init__(self, labels: Labels, sizes: Sequence[int]) -> None:
        self.labels, self.sizes = labels, dict(zip(labels, sizes, strict=True))
        self.before: list[Callable[[Tensor], Tensor]] = []

    def drop(self, labels: Labels, step: Callable[[Tensor, list[int]], Tensor]) -> None:
        """Removes dimensions by `step`, such as a sum."""
        dims = [self.labels.index(k) for k in labels]
        if dims:
            self.labels = [k for k in self.labels if k not in labels]
            self.before.append(lambda x: step(x, dims))

    def ready(self, last: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        steps = [*self.before, last]
        if len(steps) == 1:
            return last

        def run(x: Tensor) -> Tensor:
            for step in steps:
                x = step(x)
            return x

        return run


def _summed(x: Tensor, dims: list[int]) -> Tensor:
    return zero.sum(x, dims).to(x.dtype)  # integers stay what they are


def _squeezed(x: Tensor, dims: list[int]) -> Tensor:
    return x.squeeze(tuple(dims))


def _pair(a: _Operand, b: _Operand, keep: set[int]) -> tuple[Labels, list[int], Callable[..., Any]]:
    """The product of a and b, summed over the labels that are not in `keep`.

    Returns:
        Labels and sizes of the result, and the function that computes it.
    """
    for x, y in ((a, b), (b, a)):  # size 1 broadcasts: it is left out beside a larger one
        ones = [k for k in x.labels if x.sizes[k] == 1 and y.sizes.get(k, 1) != 1]
        x.drop(ones, _squeezed)
    for x, y in ((a, b), (b, a)):
        alone = [k for k in x.labels if k not in keep and k not in y.labels]
        x.drop(alone, _summed)
    sizes = a.sizes | {k: b.sizes[k] for k in b.labels}
    both = [k for k in a.labels if k in b.labels]
    # In the order of the larger operand, which so needs no copy more often.
    first = a if len(a.labels) >= len(b.labels) else b
    contract = [k for k in first.labels if k in both and k not in keep]
    if not contract:
        order = [*a.labels, *(k for k in b.labels if k not in a.labels)]
        left, right = a.ready(_spread(a.labels, order)), b.ready(_spread(b.labels, order))
        return order, [sizes[k] for k in order], lambda x, y: left(x) * right(y)
    batch = [k for k in both if k in keep]
    rows = [k for k in a.labels if k not in both]
    columns = [k for k in b.labels if k not in both]
    left = a.ready(_arranged(a.labels, sizes, batch, rows, contract))
    right = b.ready(_arranged(b.labels, sizes, batch, contract, columns))
    labels = batch + rows + columns
    shape = [sizes[k] for k in labels]
    if len(rows) == 1 and len(columns) == 1:
        return labels, shape, lambda x, y: zero.matmul(left(x), right(y))
    return labels, shape, lambda x, y: zero.matmul(left(x), right(y)).reshape(shape)


# ---- einsum --------------------------------------------------------------------------------------
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order of the output


class _Equation:
    """An equation for operands of given shapes: labels per dimension, and the output's."""

    def __init__(self, equation: str, shapes: Sequence[Sequence[int]]) -> None:
        self.text, self.shapes = equation, shapes
        left, arrow, right = equation.partition("->")
        terms = [self._term(part) for part in left.split(",")]
        if len(terms) != len(shapes):
            raise ZeroValueError(
                f"einsum: the number of operands differs; got {len(shapes)} for {equation!r}, "
                f"expected {len(terms)}"
            )
        # Dimensions of an ellipsis count from the right: the last one is label -1.
        self.inputs = [
            self._labels(i, term, len(shape))
            for i, (term, shape) in enumerate(zip(terms, shapes, strict=True))
        ]
        covered = min((k for labels in self.inputs for k in labels if k < 0), default=0)
        ellipsis = list(range(covered, 0))
        found: dict[int, int] = {}
        for labels in self.inputs:
            for k in labels:
                found[k] = found.get(k, 0) + 1
        if arrow:
            self.output: Labels = []
            for letter in self._term(right):
                self.output += ellipsis if letter is None else [letter]
        else:
            self.output = ellipsis + [k for k in sorted(found) if k >= 0 and found[k] == 1]
        for k in self.output:
            if k not in found or self.output.count(k) > 1:
                raise ZeroValueError(
                    f"einsum: the output's subscript {_LETTERS[k]!r} "
                    f"{'is repeated' if k in found else 'is of no operand'}; got {equation!r}"
                )

    def _term(self, text: str) -> list[int | None]:
        """The labels of one operand's subscripts; None for the ellipsis."""
        result: list[int | None] = []
        rest = text
        while rest:
            if rest.startswith("..."):
                if None in result:
                    raise ZeroValueError(
                        f"einsum: more than one ellipsis in {text!r}; got {self.text!r}, expected "
                        "one per operand"
                    )
                result.append(None)
                rest = rest[3:]
                continue
            if rest[0] != " ":
                label = _LETTERS.find(rest[0])
                if label < 0:
                    raise ZeroValueError(
                        f"einsum: {rest[0]!r} is no subscript; got {self.text!r}, expected letters "
                        "a to z and A to Z, '...', ',' and one '->'"
                    )
                result.append(label)
            rest = rest[1:]
        return result

    def _labels(self, i: int, term: list[int | None], ndim: int) -> Labels:
        free = ndim - len(term) + 1 if None in term else ndim - len(term)
        if free < 0 or (None not in term and free != 0):
            raise ShapeError(
                f"einsum: subscripts do not fit operand {i}; got {len(term) - (None in term)} of "
                f"them in {self.text!r} for shape {tuple(self.shapes[i])}, expected one per "
                "dimension, or '...'"
            )
        result: Labels = []
        for k in term:
            result += range(-free, 0) if k is None else [k]
        return result

    def plan(self) -> Step:
        """The function from the operands to the result."""
        sizes: dict[int, int] = {}
        for i, (labels, shape) in enumerate(zip(self.inputs, self.shapes, strict=True)):
            for k, n in zip(labels, shape, strict=True):
                if sizes.setdefault(k, n) == 1:
                    sizes[k] = n
                if n not in (1, sizes[k]):
                    name = "..." if k < 0 else _LETTERS[k]
                    raise ShapeError(
                        f"einsum: sizes of subscript {name!r} differ; got {n} in operand {i} and "
                        f"{sizes[k]} before it in {self.text!r}, expected equal sizes or 1"
                    )
        nodes = [self._operand(i) for i in range(len(self.shapes))]
        steps: list[tuple[int, int, Callable[..., Any]]] = []
        while len(nodes) > 1:
            i, j = self._cheapest(nodes, sizes)
            b, a = nodes.pop(j), nodes.pop(i)
            keep = set(self.output).union(*(n.labels for n in nodes))
            labels, shape, function = _pair(a, b, keep)
            steps.append((i, j, function))
            nodes.append(_Operand(labels, shape))
        last = self._finish(nodes[0])
        if not steps:
            return lambda operands: last(operands[0])
        if len(steps) == 1:
            product = steps[0][2]
            return lambda operands: last(product(operands[0], operands[1]))

        def run(operands: Sequence[Tensor]) -> Tensor:
            waiting = list(operands)
            for i, j, function in steps:
                b, a = waiting.pop(j), waiting.pop(i)
                waiting.append(function(a, b))
            return last(waiting[0])

        return run

    def _operand(self, i: int) -> _Operand:
        """Operand i; a subscript that it has twice takes the diagonal."""
        labels, sizes = list(self.inputs[i]), list(self.shapes[i])
        steps: list[Callable[[Tensor], Tensor]] = []
        for k in dict.fromkeys(labels):
            while labels.count(k) > 1:
                first = labels.index(k)
                second = labels.index(k, first + 1)
                if sizes[first] != sizes[second]:
                    raise ShapeError(
                        f"einsum: sizes of the repeated subscript {_LETTERS[k]!r} differ; got "
                        f"{sizes[first]} and {sizes[second]} in operand {i} of {self.text!r}, "
                        "expected equal sizes"
                    )
                steps.append(lambda x, d1=first, d2=second: x.diagonal(0, d1, d2))  # type: ignore[misc]
                labels = [n for d, n in enumerate(labels) if d not in (first, second)] + [k]
                size = sizes[first]
                sizes = [n for d, n in enumerate(sizes) if d not in (first, second)] + [size]
        node = _Operand(labels, sizes)
        node.before = steps
        return node

    def _cheapest(self, nodes: list[_Operand], sizes: dict[int, int]) -> tuple[int, int]:
        """The pair whose product adds the fewest elements to what is kept: a greedy order."""
        if len(nodes) == 2:
            return 0, 1
        best, least = (0, 1), None
        for j in range(1, len(nodes)):
            for i in range(j):
                keep = set(self.output)
                keep.update(*(n.labels for k, n in enumerate(nodes) if k not in (i, j)))
                a, b = set(nodes[i].labels), set(nodes[j].labels)
                counts = []
                for labels in ((a | b) & keep, a, b):
                    count = 1
                    for k in labels:
                        count *= sizes[k]
                    counts.append(count)
                added = counts[0] - counts[1] - counts[2]
                if least is None or added < least:
                    best, least = (i, j), added
        return best

    def _finish(self, x: _Operand) -> Callable[[Tensor], Tensor]:
        """Sums what is left over and brings the dimensions into the output's order."""
        # The sums of a single operand: of integers they are int64, as those of `sum`.
        x.drop([k for k in x.labels if k not in self.output], zero.sum)
        permutation = _moves(x.labels, self.output)
        if permutation is None:
            return x.ready(lambda y: y)
        return x.ready(lambda y: y.permute(permutation))


_plans: dict[object, Step] = {}


def _keep(key: object, plan: Step) -> Step:
    if len(_plans) >= 1000:
        _plans.clear()
    _plans[key] = plan
    return plan


def _equation_of(args: Sequence[Any]) -> tuple[str, list[Tensor]]:
    """The equation and operands of einsum(x, [0, 1], y, [1, 2], [0, 2])."""

    def subscripts(labels: Sequence[Any]) -> str:
        text = ""
        for k in labels:
            if k is Ellipsis:
                text += "..."
            elif isinstance(k, int) and 0 <= k < len(_LETTERS):
                text += _LETTERS[k]
            else:
                raise ZeroValueError(
                    f"einsum: no subscript; got {k!r} in a list, expected an int from 0 to 51 or "
                    "Ellipsis"
                )
        return text

    pairs = len(args) // 2
    equation = ",".join(subscripts(args[2 * i + 1]) for i in range(pairs))
    if len(args) % 2:
        equation += "->" + subscripts(args[-1])
    return equation, [args[2 * i] for i in range(pairs)]


def einsum(*args: Any) -> Tensor:
    """Sums of products of tensors, named by subscripts (Einstein's summation convention).

    ``einsum("ij,jk->ik", a, b)`` is ``y[i, k] = sum_j a[i, j] b[j, k]``: each operand has a letter
    per dimension, and all letters that are not in the output are summed over. A letter that one
    operand has twice takes its diagonal. ``...`` stands for any number of dimensions, which
    broadcast. Without ``->`` the output is ``...``, then the letters that occur once, in
    alphabetical order, capitals first. Sizes 1 broadcast.

    Products of two operands are matrix products. Of more, the next pair is the one whose product
    needs the least memory beyond its operands'.

    Args:
        args: the equation and the operands, one by one or as a list; or each operand followed by
            a list of its subscripts as ints from 0 to 51 or Ellipsis, and at the end that of the
            output, which may be left out.

    Raises:
        ValueError: the equation is malformed, or of another number of operands.
        ShapeError: subscripts and shapes do not fit.
        DTypeError: two operands of a sum have different dtypes.

    Example:
        >>> import zero
        >>> a = zero.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> zero.einsum("ij,jk->ik", a, a).tolist()
        [[7.0, 10.0], [15.0, 22.0]]
        >>> zero.einsum("ii", a), zero.einsum("...ij->...ji", a).tolist()
        (tensor(5.), [[1.0, 3.0], [2.0, 4.0]])
        >>> zero.einsum(a, [0, 1], a, [0, 1], [0]).tolist()
        [5.0, 25.0]
    """
    operands: Sequence[Tensor]
    if args and isinstance(args[0], str):
        equation, operands = args[0], args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = operands[0]
    elif args and isinstance(args[0], Tensor):
        equation, operands = _equation_of(args)
    else:
        raise TypeError(
            "einsum: neither an equation nor a tensor comes first; expected einsum('ij,jk', a, b) "
            "or einsum(a, [0, 1], b, [1, 2])"
        )
    if not operands:
        raise ZeroValueError("einsum: there is no operand; got an equation alone")
    for x in operands:
        if not isinstance(x, Tensor):
            raise TypeError(
                f"einsum: an operand is not a tensor; got {type(x).__name__}, expected tensors"
            )
    key = (equation, *[x.shape for x in operands])
    plan = _plans.get(key)
    if plan is None:
        plan = _keep(key, _Equation(equation, [tuple(x.shape) for x in operands]).plan())
    return plan(operands)


# ---- tensordot, chains ---------------------------------------------------------------------------
def tensordot(
    a: Tensor,
    b: Tensor,
    dims: int | Tensor | Sequence[Any] = 2,
    out: Tensor | None = None,
) -> Tensor:
    """Products summed over dimensions of two tensors; the others follow each other in the result.

    Args:
        a: the first tensor.
        b: the second.
        dims: how many: the last of `a` with the first of `b`, in order; or two lists, of
            dimensions of `a` and of those of `b` that belong to them.
        out: where to write the result.

    Raises:
        ShapeError: the sizes of two dimensions that belong together differ and none is 1.
        ValueError: there are not as many in both lists.
        DTypeError: the dtypes differ.

    Example:
        >>> import zero
        >>> a, b = zero.ones(2, 3, 4), zero.ones(4, 3, 5)
        >>> zero.tensordot(a, b, dims=([1, 2], [1, 0])).shape
        zero.Size([2, 5])
        >>> zero.tensordot(zero.ones(2, 3), zero.ones(3, 4), 1).tolist()[0]
        [3.0, 3.0, 3.0, 3.0]
    """
    if a.dtype != b.dtype:
        raise DTypeError(f"tensordot: dtypes differ; got {a.dtype} and {b.dtype}, expected one")
    pairs: int | Sequence[Any] = dims.tolist() if isinstance(dims, Tensor) else dims
    key = (a.shape, b.shape, pairs if isinstance(pairs, int) else repr(pairs))
    product = _plans.get(key)
    if product is None:
        product = _keep(key, _dots(a, b, pairs))
    return _deliver(product((a, b)), out, "tensordot")


def _dots(a: Tensor, b: Tensor, dims: int | Sequence[Any]) -> Step:
    """The function that tensordot calls for these shapes and dims."""
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise ZeroValueError(
                f"tensordot: dims is out of range; got {dims} for {tuple(a.shape)} and "
                f"{tuple(b.shape)}, expected 0 to {min(a.ndim, b.ndim)}"
            )
        of_a, of_b = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        if len(dims) != 2:
            raise ZeroValueError(f"tensordot: dims is no pair of lists; got {dims!r}")
        of_a, of_b = (
            [wrap_dim("tensordot", d, x.ndim) for d in ([ds] if isinstance(ds, int) else ds)]
            for ds, x in zip(dims, (a, b), strict=True)
        )
    if len(of_a) != len(of_b) or len(set(of_a)) != len(of_a) or len(set(of_b)) != len(of_b):
        raise ZeroValueError(
            f"tensordot: the lists of dims do not belong together; got {of_a} and {of_b}, expected "
            "as many in both, each once"
        )
    labels_a = list(range(a.ndim))
    labels_b = list(range(a.ndim, a.ndim + b.ndim))
    for i, j in zip(of_a, of_b, strict=True):
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise ShapeError(
                f"tensordot: sizes differ; got {a.shape[i]} in dimension {i} of {tuple(a.shape)} "
                f"and {b.shape[j]} in dimension {j} of {tuple(b.shape)}, expected equal sizes or 1"
            )
        labels_b[j] = i
    keep = set(labels_a).symmetric_difference(labels_b)
    _, _, product = _pair(_Operand(labels_a, a.shape), _Operand(labels_b, b.shape), keep)
    return lambda operands: product(operands[0], operands[1])


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of several matrices, in the order that takes the fewest multiplications.

    Args:
        matrices: at least one, each of shape [I, J]; their inner sizes fit.
        out: where to write the result.

    Raises:
        ValueError: there is no matrix.
        ShapeError: one is not a matrix, or inner sizes differ.

    Example:
        >>> import zero
        >>> zero.chain_matmul(zero.ones(2, 3), zero.ones(3, 4), zero.ones(4, 1)).tolist()
        [[12.0], [12.0]]

    Source: Cormen, Leiserson, Rivest, Stein, Introduction to algorithms, matrix-chain
    multiplication.
    """
    if len(matrices) == 1 and isinstance(matrices[0], (tuple, list)):
        matrices = tuple(matrices[0])
    if not matrices:
        raise ZeroValueError("chain_matmul: there is no matrix; expected at least one")
    for x in matrices:
        if x.ndim != 2:
            raise ShapeError(
                f"chain_matmul: not a matrix; got {tuple(x.shape)}, expected two dimensions"
            )
    sizes = [matrices[0].shape[0], *(x.shape[1] for x in matrices)]
    n = len(matrices)
    cost = [[0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], cut[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )

    return _deliver(_product_of(matrices, cut, 0, n - 1), out, "chain_matmul")


def _product_of(matrices: Sequence[Tensor], cut: list[list[int]], i: int, j: int) -> Tensor:
    """The product of matrices i to j, cut where cut[i][j] says."""
    if i == j:
        return matrices[i]
    k = cut[i][j]
    return zero.mm(_product_of(matrices, cut, i, k), _product_of(matrices, cut, k + 1, j))


@numpy_names
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inner product of two vectors, as `dot`: the numbers are real.

    Args:
        input: shape [K].
        other: shape [K].
        out: where to write the result.

    Example:
        >>> import zero
        >>> zero.vdot(zero.tensor([1.0, 2.0]), zero.tensor([3.0, 4.0])).item()
        11.0
    """
    return zero.dot(input, other, out=out)


@numpy_names
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of a difference: ``(sum |input - other|^p)^(1/p)``.

    Args:
        input: any shape, of floats.
        other: broadcasts with `input`.
        p: any number, inf and -inf too; 0 counts the elements that differ.

    Example:
        >>> import zero
        >>> zero.dist(zero.tensor([1.0, 2.0]), zero.tensor([4.0, 6.0])).item()
        5.0
    """
    return zero.norm(input - other, p)


attach(dist, vdot)
