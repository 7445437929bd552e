"""How operators are called with batches: the rules of families, and the table of who has which.

A batch has its samples along the first dimension. A rule gets the function, its arguments, in which
samples stand for batches, and the level of these; it answers with samples that stand for batches.
"""

from __future__ import annotations

import operator

import zero
from zero import Size, Tensor
from zero.func import (
    _rules_draws as draws,
    _rules_index as index,
    _rules_layers as layers,
    _rules_products as products,
)
from zero.func._batched import (
    RULES,
    Misfit,
    at,
    cannot_write,
    dim_of_batch,
    each,
    functions,
    holds,
    named,
    physical,
    refuse,
    whole,
    wrapped,
)
from zero.func._pointwise import aligned, pointwise, same_function, write_pointwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from zero.func._batched import Rule

__all__ = ["DRAWS"]


# ---- dimensions ----------------------------------------------------------------------------------
def along(*dims: str, none: str = "keep", grown: int = 0) -> Rule:
    """The rule of functions of one tensor whose arguments `dims` name dimensions.

    Args:
        *dims: the names of these arguments.
        none: what None stands for: "all" dimensions, or "flat", one of all elements; "keep" leaves
            it as it is.
        grown: how many dimensions the result has more than the input.
    """

    def rule(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
        given = named(f, args, kwargs)
        first = f.__code__.co_varnames[0]
        x = given[first]
        if sum(at(value, level) for value in given.values()) > 1 or not at(x, level):
            return each(f, args, kwargs, level)
        batch = x.physical
        if x.ndim == 0 and not grown:
            batch = batch.unsqueeze(1)
        for name in dims:
            value = given[name] if name in given else _default(f, name)
            if value is None or (isinstance(value, (tuple, list)) and not value):
                if none == "flat":
                    batch, value = batch.flatten(1), 1
                elif none == "all":
                    value = tuple(range(1, batch.ndim))
                given[name] = value
            elif isinstance(value, (tuple, list)):
                given[name] = tuple(dim_of_batch(d, x.ndim + grown) for d in value)
            else:
                given[name] = dim_of_batch(value, x.ndim + grown)
        given[first] = batch
        result = f(**given)
        if x.ndim == 0 and not grown:
            result = _without_row(result)
        return wrapped(result, level)

    return rule


def _default(f: Any, name: str) -> Any:
    code = f.__code__
    values = f.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return dict(zip(names, values, strict=True)).get(name)


def _without_row(result: Any) -> Any:
    """Results for numbers, which were rows of one element."""
    if isinstance(result, Tensor):
        return result.squeeze(1) if result.ndim == 2 else result
    kind: Any = type(result)
    return kind([_without_row(y) for y in result])


sums, rows = along("dim", none="all"), along("dim", none="flat")


def extremes(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """max and min: of all elements, along a dimension, or of two tensors."""
    given = named(f, args, kwargs)
    if "other" in given or isinstance(given.get("dim"), Tensor):
        return pointwise(f, args, kwargs, level)
    if given.get("dim") is None:
        whole_extreme = zero.amax if f is zero.max else zero.amin
        return sums(whole_extreme, (given["input"],), {}, level)
    return rows(f, args, kwargs, level)


def deviations(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """var and std, whose second argument may be `unbiased`."""
    given = named(f, args, kwargs)
    if isinstance(given.get("dim"), bool):
        given["unbiased"] = given.pop("dim")
    return sums(f, (), given, level)


def places(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """argmax, argmin and prod, which flatten for None but keep the number of dimensions."""
    given = named(f, args, kwargs)
    x = given["input"]
    if given.get("dim") is not None or not given.get("keepdim"):
        return rows(f, args, kwargs, level)
    given["keepdim"] = False
    return rows(f, (), given, level).reshape((1,) * x.ndim)


def norms(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    p = given.get("p", "fro")
    if p == "nuc" or at(p, level):
        return each(f, args, kwargs, level)
    if given.get("dim") is None:  # Frobenius: that of all elements
        given["p"] = 2 if p in ("fro", None) else p
    return sums(f, (), given, level)


def medians(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """Of all elements their gradient is another than along a dimension."""
    rule = each if named(f, args, kwargs).get("dim") is None else rows
    return rule(f, args, kwargs, level)


def rolls(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    x = given["input"]
    if given.get("dims") in (None, (), []):
        flat = x.physical.flatten(1).roll(given["shifts"], 1)
        return wrapped(flat.reshape(x.physical.shape), level)
    return along("dims")(f, args, kwargs, level)


def permutes(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """permute and flip, which take dims as one tuple or as ints."""
    x, dims = _given(args, kwargs, "input", "dims")
    dims = tuple(dim_of_batch(d, x.ndim) for d in dims)
    if f is zero.permute:
        dims = (0, *dims)
    elif x.ndim == 0:
        return wrapped(x.physical.clone(), level)
    return wrapped(f(x.physical, dims), level)


def transposes(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """t: of at most two dimensions."""
    x = (*args, *kwargs.values())[0]
    if x.ndim > 2:
        raise Misfit("no matrix")
    batch = x.physical
    return wrapped(batch.mT if x.ndim == 2 else batch.view(batch.shape), level)


def windows(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """unfold, which gives numbers a dimension."""
    x = named(f, args, kwargs)["self"]
    rule = each if x.ndim == 0 else along("dimension")
    return rule(f, args, kwargs, level)


def squeezes(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    x = given["input"]
    if given.get("dim") is None:
        dims = tuple(d + 1 for d in range(x.ndim) if x.shape[d] == 1)
    else:
        dim = given["dim"]
        dims = tuple(
            dim_of_batch(d, x.ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))
        )
        if x.ndim == 0:
            dims = ()
    return wrapped(x.physical.squeeze(dims), level)


def flattens(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    x = named(f, args, kwargs)["input"]
    if x.ndim == 0:
        return wrapped(x.physical.unsqueeze(1), level)
    if f is zero.ravel:
        return wrapped(x.physical.flatten(1), level)
    return along("start_dim", "end_dim")(f, args, kwargs, level)


def joins(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """cat and stack."""
    given = named(f, args, kwargs)
    tensors = given["tensors"]
    rank = max(x.ndim for x in tensors)
    if f is zero.cat:  # empty rows fit to anything
        tensors = [x for x in tensors if x.ndim == rank or x.shape != (0,)]
    dim = dim_of_batch(given.get("dim", 0), rank + (f is zero.stack))
    return wrapped(f([whole(x, level) for x in tensors], dim), level)


def writes_along(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """cumsum_ and cumprod_."""
    x = args[0]
    out_of_place = getattr(zero, f.__name__.rstrip("_"))
    return x.copy_(along("dim")(out_of_place, args, kwargs, level))


def fills_masked(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """masked_fill and masked_fill_, whose value is a number or a tensor without dimensions."""
    given = named(f, args, kwargs)
    x, mask, value = given["input"], given["mask"], given["value"]
    writes = f.__name__.endswith("_")
    if writes and not at(x, level):
        raise cannot_write(f.__name__)
    rank = max(x.ndim, mask.ndim)
    if writes and mask.ndim > x.ndim:
        raise Misfit("the mask has more dimensions")
    if not at(x, level):
        x = wrapped(whole(x, level), level)
    batch = aligned(x, rank)
    if at(mask, level):
        mask = aligned(mask, rank)
    if not at(value, level):
        result = f(batch, mask, value)
    else:
        result = zero.where(mask, aligned(value, rank).to(x.dtype), batch)
        if writes:
            batch.copy_(result)
    return x if writes else wrapped(result, level)


def fills(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """fill_."""
    x, value = named(f, args, kwargs).values()
    if not at(x, level):
        raise cannot_write("fill_")
    if at(value, level):
        x.physical.copy_(aligned(value, x.ndim))
    else:
        x.physical.fill_(value)
    return x


def repeats(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """repeat_interleave."""
    given = named(f, args, kwargs)
    if at(given.get("repeats"), level) or "repeats" not in given:
        raise dynamic(f.__name__)
    return rows(f, args, kwargs, level)


def triangles(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """tril and triu: of the last two dimensions."""
    x = (*args, *kwargs.values())[0]
    if x.ndim < 2:
        raise Misfit("no matrix")
    return same_function(f, args, kwargs, level)


# ---- sizes ---------------------------------------------------------------------------------------
def _given(args: tuple[Any, ...], kwargs: dict[str, Any], first: str, *names: str) -> Any:
    """The tensor, and sizes that were given as ints, as one tuple or by name."""
    rest = list(args)
    x = kwargs[first] if first in kwargs else rest.pop(0)
    if not rest:
        rest = [kwargs[name] for name in names if kwargs.get(name) is not None]
    if len(rest) == 1 and isinstance(rest[0], (tuple, list)):
        rest = list(rest[0])
    return x, tuple(rest)


def views(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """view, reshape and _unsafe_view."""
    first = "self" if f.__name__ == "view" else "input"
    x, sizes = _given(args, kwargs, first, "size", "shape", "dtype")
    batch = x.physical
    if len(sizes) == 1 and isinstance(sizes[0], zero.dtype):
        return wrapped(batch.view(sizes[0]), level)
    sizes = tuple(n.__index__() for n in sizes)
    if -1 in sizes and batch.numel() == 0:
        sizes = _inferred(x.shape, sizes)
    return wrapped(f(batch, (level.size, *sizes)), level)


def _inferred(shape: Size, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes without -1, for a batch without elements."""
    return tuple(zero.empty(shape, device="meta").view(sizes).shape)


def expands(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """expand and broadcast_to."""
    first = "self" if f.__name__ == "expand" else "input"
    kwargs = {k: v for k, v in kwargs.items() if k != "implicit"}
    x, sizes = _given(args, kwargs, first, "size")
    batch = x.physical
    missing = len(sizes) - x.ndim
    if missing > 0:
        batch = batch.reshape(level.size, *(1,) * missing, *x.shape)
        if any(n.__index__() < 0 for n in sizes[:missing]):
            raise Misfit("a new dimension has no size to keep")
    return wrapped(batch.expand(level.size, *sizes), level)


def as_others(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """view_as, reshape_as and expand_as: the same with the sizes of another tensor."""
    x, other = named(f, args, kwargs).values()
    return getattr(x, f.__name__.removesuffix("_as"))(other.shape)


def news(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """new_zeros and its like: a place for a value of each sample."""
    value: list[Any] = []
    kwargs = dict(kwargs)
    if f.__name__ == "new_full":
        args = list(args)  # type: ignore[assignment]
        value = [kwargs.pop("fill_value") if "fill_value" in kwargs else args.pop()]  # type: ignore[attr-defined]
        if isinstance(value[0], Tensor):
            raise refuse("new_full with a tensor for a number", "a number")
    x, sizes = _given(tuple(args), kwargs, "self", "size")
    kwargs.pop("size", None)
    kwargs.pop("self", None)
    return wrapped(f(physical(x, level), (level.size, *sizes), *value, **kwargs), level)


def strided(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """as_strided within a sample."""
    given = named(f, args, kwargs)
    x = given["input"]
    batch = x.physical
    offset = given.get("storage_offset")
    whole_view = batch.as_strided(
        (level.size, *given["size"]),
        (batch.stride(0), *given["stride"]),
        batch.storage_offset() + (0 if offset is None else offset),
    )
    return wrapped(whole_view, level)


# ---- refusals ------------------------------------------------------------------------------------
def dynamic(name: str) -> Exception:
    return RuntimeError(
        f"vmap: the size of the result of {name} depends on values, and differs between samples; "
        "expected operations with sizes that are the same for all, such as where"
    )


def sizes_differ(f: Any, args: Any, kwargs: Any, level: Any) -> NoReturn:
    raise dynamic(f.__name__)


def reads(f: Any, args: Any, kwargs: Any, level: Any) -> NoReturn:
    raise refuse(f.__name__)


def unsupported(f: Any, args: Any, kwargs: Any, level: Any) -> NoReturn:
    raise RuntimeError(
        f"vmap: {f.__name__} is not supported on batched tensors; it changes a tensor itself, not "
        "only its elements"
    )


def differentiates(f: Any, args: Any, kwargs: Any, level: Any) -> Any:
    """zero.autograd.grad: for a batch of vectors only."""
    given = named(f, args, kwargs)
    if f is not zero._grad or holds((given["outputs"], given["inputs"]), level):
        raise RuntimeError(
            "vmap: backward and zero.autograd.grad don't give the gradients of each sample; use "
            "zero.func.grad or zero.func.vjp, in the function or around vmap"
        )
    given["retain_graph"] = True  # for the next sample; what ends with its tensors is freed then
    return each(f, (), given, level)


def custom(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """A custom function: by its own rule, or for each sample."""
    cls, inputs = args[0], args[1]
    own = cls.vmap
    if own is zero.autograd.Function.vmap:
        return each(f, args, kwargs, level)
    in_dims = tuple(0 if at(x, level) else None for x in inputs)
    info = _Info(level.size, level.randomness)
    result, out_dims = own(info, in_dims, *(physical(x, level) for x in inputs))
    if isinstance(result, Tensor):
        return _placed(result, out_dims, level)
    dims = out_dims if isinstance(out_dims, (tuple, list)) else (out_dims,) * len(result)
    return tuple(_placed(y, d, level) for y, d in zip(result, dims, strict=True))


class _Info:
    """What a custom function's vmap is told."""

    def __init__(self, batch_size: int, randomness: str) -> None:
        self.batch_size, self.randomness = batch_size, randomness


def _placed(y: Any, dim: int | None, level: Any) -> Any:
    return y if dim is None else wrapped(y.movedim(dim, 0), level)


def casts(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """What autocast does to the arguments of composed operators: mostly nothing."""
    batches = [physical(x, level) for x in args]
    found = zip(args, batches, f(*batches), strict=True)
    return tuple(x if new is batch else wrapped(new, level) for x, batch, new in found)


def delivered(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """What ends composed operators: the result itself."""
    given = named(f, args, kwargs)
    if given["out"] is not None:
        raise RuntimeError(f"vmap: {given['op']} with out= is not supported; use what it returns")
    return given["result"]


# ---- who has which -------------------------------------------------------------------------------
_SAME = """
    clone contiguous detach to type type_as cpu float double half bfloat16 int long short bool char
    byte pin_memory empty_like zeros_like ones_like full_like
"""
_POINTWISE = """
    abs neg sign exp log sqrt tanh sigmoid relu reciprocal bitwise_not logical_not isnan isinf
    isfinite square clamp clamp_min clamp_max exp2 expm1 log2 log10 log1p rsqrt sin cos tan asin
    acos atan sinh cosh asinh acosh atanh erf erfc floor ceil trunc frac round signbit isposinf
    isneginf angle nan_to_num frexp erfinv lgamma digamma i0 sinc logit polygamma mvlgamma
    _special_unary _activation add sub mul div true_divide pow where floor_divide remainder maximum
    minimum fmod atan2 addcmul
    addcdiv lerp copysign fmax fmin heaviside nextafter hypot logaddexp logaddexp2 xlogy
    bitwise_left_shift bitwise_right_shift gcd lcm igamma igammac _special_binary eq ne lt le gt ge
    bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor isclose
"""
_WRITES = """
    abs_ neg_ sign_ exp_ log_ sqrt_ tanh_ sigmoid_ relu_ reciprocal_ bitwise_not_ logical_not_
    square_ clamp_ clamp_min_ clamp_max_ exp2_ expm1_ log2_ log10_ log1p_ rsqrt_ sin_ cos_ tan_
    asin_ acos_ atan_ sinh_ cosh_ asinh_ acosh_ atanh_ erf_ erfc_ floor_ ceil_ trunc_ frac_ round_
    nan_to_num_ erfinv_ lgamma_ digamma_ i0_ sinc_ logit_ polygamma_ mvlgamma_ add_ sub_ mul_ div_
    true_divide_ pow_ floor_divide_ remainder_ fmod_ atan2_ addcmul_ addcdiv_ lerp_ copysign_
    heaviside_ nextafter_ hypot_ xlogy_ bitwise_left_shift_ bitwise_right_shift_ gcd_ lcm_ igamma_
    igammac_ eq_ ne_ lt_ le_ gt_ ge_ bitwise_and_ bitwise_or_ bitwise_xor_ logical_and_ logical_or_
    logical_xor_ copy_ zero_ _overwrite
"""
_OPERATORS = """
    add sub mul truediv floordiv mod pow neg abs invert and_ or_ xor lshift rshift lt le eq ne gt ge
"""
_INPLACE_OPERATORS = """
    iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift
"""
_FAMILIES: dict[str, Rule] = {
    _SAME: same_function,
    _POINTWISE: pointwise,
    "masked_fill masked_fill_": fills_masked,
    "fill_": fills,
    _WRITES: write_pointwise,
    "sum mean amax amin all any nansum count_nonzero logsumexp": sums,
    "var std": deviations,
    "max min": extremes,
    "argmax argmin prod": places,
    "norm": norms,
    "median nanmedian": medians,
    "mode kthvalue cumsum cumprod cummax cummin logcumsumexp sort argsort topk softmax log_softmax "
    "_glu select narrow unbind split chunk": along("dim"),
    "cumsum_ cumprod_": writes_along,
    "msort": lambda f, args, kwargs, level: along("dim")(zero.sort, (args[0], 0), {}, level)[0],
    "transpose": along("dim0", "dim1"),
    "swapaxes": along("axis0", "axis1"),
    "diagonal": along("dim1", "dim2"),
    "unfold": windows,
    "unsqueeze": along("dim", grown=1),
    "diag_embed": along("dim1", "dim2", grown=1),
    "roll": rolls,
    "permute flip": permutes,
    "t": transposes,
    "squeeze": squeezes,
    "flatten ravel": flattens,
    "cat stack": joins,
    "repeat_interleave": repeats,
    "tril triu tril_ triu_": triangles,
    "view reshape _unsafe_view": views,
    "expand broadcast_to": expands,
    "view_as reshape_as expand_as": as_others,
    "new_zeros new_ones new_empty new_full": news,
    "as_strided": strided,
    "_deliver": delivered,
    "_autocast_float32": casts,
    "_function_apply": custom,
    "_grad _backward backward": differentiates,
    "nonzero masked_select unique unique_consecutive bincount": sizes_differ,
    "equal allclose item tolist numpy __array__ _memory_of": reads,
    "squeeze_ unsqueeze_ transpose_ swapaxes_ swapdims_ t_ as_strided_ resize_ resize_as_ set_ "
    "detach_ requires_grad_ share_memory_ register_hook register_post_accumulate_grad_hook "
    "retain_grad _optimizer_step _start_states _clip_grad_norm_ _clip_grads_with_norm_ "
    "_clip_grad_value_ _drop_grads _foreach_lerp_ _amp_foreach_non_finite_check_and_unscale_ "
    "new_empty_strided set_rng_state is_set_to": unsupported,
    **products.FAMILIES,
    **index.FAMILIES,
    **layers.FAMILIES,
}
DRAWS: list[Any] = []  # the functions that draw random numbers
for _names, _rule in _FAMILIES.items():
    for _function in functions(_names):
        RULES[_function] = _rule
for _name in _OPERATORS.split():
    RULES[getattr(operator, _name)] = pointwise
for _name in _INPLACE_OPERATORS.split():
    RULES[getattr(operator, _name)] = write_pointwise
RULES[operator.matmul] = RULES[zero.matmul]
RULES[operator.getitem], RULES[operator.setitem] = index.reads_items, index.writes_items
for _names, _rule in draws.FAMILIES.items():
    for _function in functions(_names):
        RULES[_function] = _rule
        DRAWS.append(_function)
