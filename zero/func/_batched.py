"""Batched tensors: what a function sees under vmap of a batch, and how its operators are called.

While a vmap runs, every operator that gets a batched tensor comes to :func:`call` instead. It finds
the rule of the operator (:mod:`zero.func._rules` and its like), which calls it with the batches
themselves. An operator without a rule is called for each sample.
"""

from __future__ import annotations

import operator

import zero
from zero import Size, Tensor, _batched, empty_strided, stack
from zero.errors import IndexError, ShapeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, NoReturn, TypeAlias

    # (function, args, kwargs, level); such a call is to be answered with batched tensors.
    Rule: TypeAlias = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any], Any], Any]

__all__ = ["BatchedTensor", "call", "each", "whole"]


# ---- the class -----------------------------------------------------------------------------------
def refuse(
    what: str, instead: str = "tensor operations that keep the values of all samples"
) -> Any:
    """The error for what would need the numbers of one sample."""
    return RuntimeError(
        f"vmap: {what} needs the value of one sample; got a tensor that stands for a batch, "
        f"expected {instead}"
    )


def _refusing(name: str, what: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise refuse(what)

    method.__name__ = name
    return method


class BatchedTensor(Tensor):
    """A sample that stands for all samples of a vmap.

    Attributes:
        physical: the batch, along its first dimension. Of a vmap inside of another this is a
            BatchedTensor of the outer one, if it differs between its samples.
        level: the vmap it belongs to.
    """

    __slots__ = ("level", "physical")
    physical: Tensor
    level: Any

    # To C++ the tensor has no memory: what is not answered here, and reads numbers, raises there.
    device = property(lambda self: self.physical.device)
    requires_grad = property(lambda self: self.physical.requires_grad)
    is_leaf = property(lambda self: self.physical.is_leaf)
    grad_fn = property(lambda self: self.physical.grad_fn)
    data = property(lambda self: self.detach())
    is_cpu = property(lambda self: self.physical.is_cpu)
    is_meta = property(lambda self: self.physical.is_meta)
    _version = property(lambda self: self.physical._version)
    T = property(lambda self: self.permute(tuple(reversed(range(self.ndim)))))
    mT = property(lambda self: self.transpose(-2, -1))

    @property  # type: ignore[misc]  # it cannot be set
    def grad(self) -> Tensor | None:
        """The gradient of the batch, as that of a sample."""
        found = self.physical.grad
        return None if found is None else _batched(found, self.level)

    def stride(self, dim: Any = None) -> Any:
        """The steps between the elements of a sample."""
        strides = self.physical.stride()[1:]
        return strides if dim is None else strides[dim]

    def is_contiguous(self, memory_format: object = None) -> bool:
        """Whether the elements of a sample lie in order."""
        return bool(_like_a_sample(self).is_contiguous())

    def storage_offset(self) -> int:
        """Where a sample begins in its own memory."""
        return 0

    def __iter__(self) -> Any:
        return iter(self.unbind(0))

    def __pos__(self) -> Any:
        return self

    def __copy__(self) -> Any:
        return self.detach()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        memo[id(self)] = copy = self.detach().clone()
        return copy

    def __repr__(self) -> str:
        return f"BatchedTensor(depth={self.level.depth}, batch={self.physical!r})"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Is an error: zero.func.grad differentiates inside of vmap."""
        raise RuntimeError(
            "vmap: requires_grad_ does not give the gradients of each sample; use zero.func.grad "
            "or zero.func.vjp, in the function or around vmap"
        )


for _name, _what in {
    "__bool__": "the truth value of a tensor (if, while, and, or)",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "a tensor for an int, or in a slice,",
    "__contains__": "'in'",
    "__array__": "NumPy",
    "__reduce_ex__": "pickle",
    "item": "item()",
    "tolist": "tolist()",
    "numpy": "numpy()",
    "data_ptr": "data_ptr()",
    "storage": "storage()",
    "untyped_storage": "untyped_storage()",
    "is_set_to": "is_set_to()",
    "__dlpack__": "DLPack",
}.items():
    setattr(BatchedTensor, _name, _refusing(_name, _what))


def _by_operator(name: str, function: Any, reflected: bool) -> Any:
    def method(self: Any, other: Any) -> Any:
        return function(other, self) if reflected else function(self, other)

    method.__name__ = name
    return method


# Operators that are called by these names; expressions come to Tensor's slots.
for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    _function = getattr(operator, _name + "_" * (_name in ("and", "or")))
    _in_place = getattr(operator, "i" + _name)
    for _prefix, _f in (("", _function), ("r", _function), ("i", _in_place)):
        _dunder = f"__{_prefix}{_name}__"
        setattr(BatchedTensor, _dunder, _by_operator(_dunder, _f, _prefix == "r"))


def _like_a_sample(x: BatchedTensor) -> Tensor:
    """A tensor with the sizes and strides of one, without memory."""
    return empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")


# ---- helpers of rules ----------------------------------------------------------------------------
def at(x: object, level: Any) -> bool:
    """Whether x is a batch of this level."""
    return type(x) is BatchedTensor and x.level is level


def physical(x: Any, level: Any) -> Any:
    """The batch that x stands for; x itself where it is the same for all samples."""
    return x.physical if type(x) is BatchedTensor and x.level is level else x


def whole(x: Tensor, level: Any) -> Tensor:
    """A batch in any case: what is the same for all samples is expanded, without a copy."""
    if type(x) is BatchedTensor and x.level is level:
        return x.physical
    size: int = level.size
    return x.unsqueeze(0).expand(size, *x.shape)


def spread(x: Tensor, values: Sequence[Any], level: Any) -> Tensor:
    """A copy of x that is a batch of all levels that it or a value is one of, up to this one."""
    if level is None:
        return x.clone()
    if not any(at(value, level) for value in (x, *values)):
        return spread(x, values, level.outer)
    inner = spread(whole(x, level), [physical(value, level) for value in values], level.outer)
    return _batched(inner, level)


def wrapped(result: Any, level: Any) -> Any:
    """Batches as samples, also in tuples and lists."""
    if isinstance(result, Tensor):
        return _batched(result, level)
    if isinstance(result, (tuple, list)) and not isinstance(result, Size):
        kind: Any = type(result)
        return kind([wrapped(y, level) for y in result])
    return result


def named(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, as far as they were given."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    if len(args) > len(names):
        raise TypeError(f"{function.__name__}() takes {len(names)} positional arguments")
    result = dict(zip(names, args, strict=False))
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name, value in kwargs.items():
        own = name if name in known else OTHER_NAMES.get(name, name)
        if own in result:
            raise TypeError(f"{function.__name__}() got two values for {own!r}")
        result[own] = value
    return result


# NumPy's names of arguments, which all functions take.
OTHER_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input",
               "x2": "other"}  # fmt: skip


def dim_of_batch(dim: Any, rank: int) -> int:
    """A dimension of a sample as one of the batch."""
    rank = rank or 1
    dim = dim.__index__()
    if not -rank <= dim < rank:
        raise IndexError(f"vmap: dim is out of range; got {dim} for {rank} dimensions")
    return int(dim % rank + 1)


def replaced(tree: Any, change: Callable[[Any], Any]) -> Any:
    """A value, or a list, tuple or dict of values, with each tensor changed."""
    if isinstance(tree, Tensor):
        return change(tree)
    if isinstance(tree, (tuple, list)) and not isinstance(tree, Size):
        kind: Any = type(tree)
        return kind([replaced(x, change) for x in tree])
    if isinstance(tree, dict):
        return {key: replaced(x, change) for key, x in tree.items()}
    return tree


def holds(tree: Any, level: Any) -> bool:
    """Whether there is a batch of this level in a value, or in lists, tuples or dicts of values."""
    if isinstance(tree, Tensor):
        return at(tree, level)
    if isinstance(tree, dict):
        tree = tree.values()
    elif not isinstance(tree, (tuple, list)):
        return False
    return any(holds(x, level) for x in tree)


# ---- calls ---------------------------------------------------------------------------------------
def each(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """The rule of operators without a rule: one call for each sample.

    What the function writes to reaches the batch, as samples are views of it.
    """
    name = function.__name__
    writes = name.endswith("_") and not name.endswith("__")
    first = args[0] if args else next(iter(kwargs.values()))
    if writes and not at(first, level):
        raise cannot_write(name)
    results = []
    for i in range(level.size):
        sample = lambda x: x.physical[i] if at(x, level) else x  # noqa: B023
        results.append(function(*replaced(args, sample), **replaced(kwargs, sample)))
    return first if writes else wrapped(joined(name, results), level)


def joined(name: str, results: list[Any]) -> Any:
    """The results for all samples as one."""
    first = results[0]
    if isinstance(first, Tensor):
        if any(y.shape != first.shape for y in results):
            raise RuntimeError(
                f"vmap: {name} gives results of different sizes for different samples; expected "
                "one shape for all"
            )
        return stack(results)
    if isinstance(first, (tuple, list)):
        if any(len(y) != len(first) for y in results):
            raise RuntimeError(f"vmap: {name} gives different numbers of results for samples")
        kind: Any = type(first)
        return kind([joined(name, list(parts)) for parts in zip(*results, strict=True)])
    if first is None:
        return None
    raise refuse(f"{name}, whose result is no tensor,")


def cannot_write(name: str) -> Exception:
    return RuntimeError(
        f"vmap: {name} would write a value for each sample to a tensor that is the same for all; "
        "expected a batched tensor to write to, such as one made by new_zeros, zeros_like or clone "
        "of a batched one, or an operation that is not in place"
    )


RULES: dict[Any, Rule] = {}


def functions(names: str) -> Iterator[Any]:
    """The compiled functions and methods of these names."""
    kind = type(zero.add)
    for name in names.split():
        found = [f for f in (vars(zero).get(name), Tensor.__dict__.get(name)) if type(f) is kind]
        if not found:
            raise RuntimeError(f"vmap: there is no operator {name!r} for a rule")
        yield from found


class Misfit(ShapeError):
    """Samples of shapes that a function refuses: it is called for its own error."""

    def __init__(self, what: str) -> None:
        super().__init__(f"vmap: the arguments do not fit together for a sample: {what}")


def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """A call of an operator with batched tensors among its arguments."""
    try:
        if kwargs.get("out") is not None:
            raise RuntimeError(
                f"vmap: {function.__name__} with out= is not supported; use what it returns"
            )
        rule: Rule = RULES.get(function, each)
        return rule(function, args, kwargs, level)
    except Exception as error:
        plainer = _of_a_sample(function, args, kwargs, error)
        if plainer is None:
            raise
        raise plainer from None


def _of_a_sample(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Exception | None:
    """The error that such a call has for tensors of a sample's shape, if it has one."""
    if str(error).startswith("vmap: ") and not isinstance(error, (IndexError, Misfit)):
        return None
    stand_in = lambda x: Tensor.to(_sized(x), "meta")
    try:
        function(*replaced(args, stand_in), **replaced(kwargs, stand_in))
    except Exception as own:
        return own if "meta" not in str(own) else None
    return None


def _sized(x: Tensor) -> Tensor:
    while type(x) is BatchedTensor:
        x = _like_a_sample(x)
    return x.detach()
