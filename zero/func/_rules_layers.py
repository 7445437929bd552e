"""Rules of what layers and losses are made of: samples become more rows, images or sequences."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.func._batched import (
    Misfit,
    at,
    cannot_write,
    each,
    named,
    physical,
    replaced,
    whole,
    wrapped,
)
from zero.func._pointwise import aligned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zero.func._batched import Rule

__all__ = ["FAMILIES", "attention", "recurrent_layers"]


def _batched_params(level: Any, *tensors: Any) -> bool:
    return any(at(x, level) for x in tensors)


def _outward(x: Tensor, dims: int, first: int, level: Any) -> Tensor:
    """A value for each channel [B, C] beside images [B, (N,) C, ...dims]."""
    batch = whole(x, level)
    return batch.reshape(level.size, *(1,) * first, -1, *(1,) * dims)


# ---- planes --------------------------------------------------------------------------------------
def planes(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """Pooling, of [N, C, …] or [C, …] with `dims` more dimensions."""
    given = named(f, args, kwargs)
    return _folded(f, given, given["dims"], level)


def _folded(f: Any, given: dict[str, Any], dims: int, level: Any) -> Any:
    x = given["input"]
    if x.ndim not in (dims + 1, dims + 2):
        raise Misfit("shapes")
    batch = whole(x, level)
    if x.ndim == dims + 1:
        given["input"] = batch
        return wrapped(f(**given), level)
    given["input"] = batch.flatten(0, 1)
    return wrapped(replaced(f(**given), lambda y: y.unflatten(0, (level.size, x.shape[0]))), level)


def pads(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    x, dims = given["input"], len(given["pad"]) // 2
    if given["mode"] != "constant":
        return _folded(f, given, dims, level)
    if dims > x.ndim or at(given["value"], level):
        return each(f, args, kwargs, level)
    given["input"] = x.physical
    return wrapped(f(**given), level)


def images(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """Resampling, of [N, C, …], and of grids [N, …]."""
    given = named(f, args, kwargs)
    n = given["input"].shape[0]
    for name in ("input", "grid"):
        if name in given:
            given[name] = whole(given[name], level).flatten(0, 1)
    return wrapped(f(**given).unflatten(0, (level.size, n)), level)


# ---- normalisation -------------------------------------------------------------------------------
def row_norms(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """layer_norm and rms_norm, of the last dimensions."""
    given = named(f, args, kwargs)
    x, weight, bias = given["input"], given.get("weight"), given.get("bias")
    own = _batched_params(level, weight, bias)
    if own:
        given["weight"] = None
        given.pop("bias", None)
    given["input"] = whole(x, level)
    y = f(**given)
    if own and weight is not None:
        y = y * (aligned(weight, x.ndim) if at(weight, level) else weight)
    if own and bias is not None:
        y = y + (aligned(bias, x.ndim) if at(bias, level) else bias)
    return wrapped(y, level)


def group_norms(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    x, weight, bias = given["input"], given.get("weight"), given.get("bias")
    if x.ndim < 2:
        raise Misfit("shapes")
    own = _batched_params(level, weight, bias)
    if own:
        given["weight"] = given["bias"] = None
    given["input"] = whole(x, level).flatten(0, 1)
    y = f(**given).unflatten(0, (level.size, x.shape[0]))
    if own and weight is not None:
        y = y * _outward(weight, x.ndim - 2, 1, level)
    if own and bias is not None:
        y = y + _outward(bias, x.ndim - 2, 1, level)
    return wrapped(y, level)


def batch_norms(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """Channels of all samples beside each other: [N, B C, …]."""
    given = named(f, args, kwargs)
    x = given["input"]
    names = ("weight", "bias", "running_mean", "running_var")
    if x.ndim < 2:
        raise Misfit("shapes")
    running = [given.get(name) for name in names[2:]]
    if given["training"] and any(y is not None and not at(y, level) for y in running):
        if at(x, level) or _batched_params(level, *running):
            raise cannot_write("batch_norm in training, with running statistics,")
        weight, bias = given["weight"], given["bias"]
        y = f(**{**given, "weight": None, "bias": None})
        if weight is not None:
            y = y * _outward(weight, x.ndim - 2, 1, level)
        return wrapped(y if bias is None else y + _outward(bias, x.ndim - 2, 1, level), level)
    if not given["training"] and not _batched_params(level, *(given.get(n) for n in names)):
        given["input"] = whole(x, level).flatten(0, 1)
        return wrapped(f(**given).unflatten(0, (level.size, x.shape[0])), level)
    given["input"] = whole(x, level).movedim(0, 1).flatten(1, 2)
    for name in names:
        if given.get(name) is not None:
            given[name] = whole(given[name], level).reshape(-1)
    y = f(**given).unflatten(1, (level.size, x.shape[1])).movedim(1, 0)
    if given["training"]:
        for own, new in zip(running, (given["running_mean"], given["running_var"]), strict=True):
            if own is not None:
                own.physical.copy_(new.reshape(own.physical.shape))
    return wrapped(y, level)


# ---- tables --------------------------------------------------------------------------------------
def embeddings(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """A table for each sample is a part of one table."""
    given = named(f, args, kwargs)
    weight, indices = given["weight"], given["indices"]
    if not at(weight, level):
        given["indices"] = indices.physical
        return wrapped(f(**given), level)
    padding = given.get("padding_idx")
    if (padding is not None and padding >= 0) or given.get("scale_grad_by_freq"):
        return each(f, args, kwargs, level)
    rows = weight.shape[0]
    if at(indices, level) or level.size == 1:
        _check_rows(physical(indices, level), rows)
    batch = whole(indices, level)
    offsets = zero.arange(0, level.size * rows, rows, dtype=batch.dtype)
    given["indices"] = batch + offsets.reshape(level.size, *(1,) * indices.ndim)
    given["weight"] = weight.physical.flatten(0, 1)
    return wrapped(f(**given), level)


def _check_rows(indices: Tensor, rows: int) -> None:
    """An index out of range must not reach into the table of another sample."""
    if type(indices) is not Tensor or indices.numel() == 0 or indices.is_meta:
        return
    if int(indices.min()) < 0 or int(indices.max()) >= rows:
        raise IndexError(
            f"embedding: an index is out of range; got {int(indices.min())} to "
            f"{int(indices.max())}, expected 0 to {rows - 1}"
        )


# ---- losses --------------------------------------------------------------------------------------
def _reduced(y: Tensor, reduction: Any) -> Tensor:
    if reduction == "none" or y.ndim == 1:
        return y
    return y.flatten(1).sum(1) if reduction == "sum" else y.flatten(1).mean(1)


def pair_losses(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """Losses of pairs of numbers."""
    given = named(f, args, kwargs)
    x, target = given["input"], given["target"]
    if x.shape != target.shape or _old_forms(given) or given.get("reduction", "mean") not in (
        "none", "sum", "mean",
    ):  # fmt: skip
        return each(f, args, kwargs, level)
    reduction = given.get("reduction", "mean")
    given.update(input=whole(x, level), target=whole(target, level), reduction="none")
    return wrapped(_reduced(f(**given), reduction), level)


def _old_forms(given: dict[str, Any]) -> bool:
    return given.get("size_average") is not None or given.get("reduce") is not None


def class_losses(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """cross_entropy and nll_loss, of [N, C, …] or [C]."""
    given = named(f, args, kwargs)
    x, target, weight = given["input"], given["target"], given.get("weight")
    reduction = given.get("reduction", "mean")
    known = reduction in ("none", "sum", "mean")
    classes = target.ndim == x.ndim - 1
    fits = x.ndim > 0 and (classes or target.shape == x.shape)
    if not known or not fits or _old_forms(given) or at(weight, level):
        return each(f, args, kwargs, level)
    if classes and target.shape != (*x.shape[:1], *x.shape[2:])[: target.ndim]:
        return each(f, args, kwargs, level)
    scores, wanted = whole(x, level), whole(target, level)
    if x.ndim > 1:
        scores, wanted = scores.flatten(0, 1), wanted.flatten(0, 1)
    given.update(input=scores, target=wanted, reduction="none")
    y = f(**given)
    if x.ndim > 1:
        y = y.unflatten(0, (level.size, x.shape[0]))
    if reduction == "mean" and classes:
        # divided by the weights of the classes that are not ignored
        ignored = given.get("ignore_index", -100)
        taken = wanted != ignored
        if weight is None:
            count = taken.to(y.dtype)
        else:
            count = zero.where(taken, weight[zero.where(taken, wanted, 0)], 0.0)
        return wrapped(_reduced(y, "sum") / _reduced(count.reshape(y.shape), "sum"), level)
    return wrapped(_reduced(y, reduction), level)


# ---- activation with a weight --------------------------------------------------------------------
def prelus(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    given = named(f, args, kwargs)
    x, weight = given["input"], given["weight"]
    if weight.ndim > 1 or (weight.numel() > 1 and x.ndim < 2):
        return each(f, args, kwargs, level)
    if not at(weight, level):
        if weight.numel() == 1:
            return wrapped(f(x.physical, weight), level)
        y = f(x.physical.flatten(0, 1), weight)
        return wrapped(y.unflatten(0, (level.size, x.shape[0])), level)
    batch = whole(x, level)
    if weight.numel() == 1:
        factor = weight.physical.reshape(level.size, *(1,) * x.ndim)
    else:
        factor = _outward(weight, x.ndim - 2, 1, level)
    return wrapped(zero.where(batch > 0, batch, factor * batch), level)


# ---- sequences -----------------------------------------------------------------------------------
def attention(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """Leading dimensions broadcast, so samples are one more."""
    given = named(f, args, kwargs)
    names = ("query", "key", "value", "attn_mask")
    tensors = [given[name] for name in names if given.get(name) is not None]
    rank = max(x.ndim for x in tensors)
    if not any(at(x, level) for x in tensors[:3]):  # a mask alone does not make the result larger
        given["query"] = wrapped(whole(given["query"], level), level)
    for name in names:
        x: Any = given.get(name)
        if at(x, level):
            given[name] = aligned(x, rank)
    return wrapped(f(**given), level)


def recurrent_layers(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """Sequences [T, N, …] or [T, …], with weights that are the same for all samples."""
    given = named(f, args, kwargs)
    packed = not isinstance(given.get("has_biases"), bool)
    if packed or _batched_params(level, *given["params"]):
        return each(f, args, kwargs, level)
    x, hx = given["input"], given["hx"]
    single = x.ndim == 2
    first = bool(given["batch_first"])

    def folded(y: Tensor, in_front: bool) -> Tensor:
        batch = whole(y, level)
        if single:
            return batch if in_front else batch.movedim(0, 1)
        return batch.flatten(0, 1) if in_front else batch.movedim(0, 1).flatten(1, 2)

    def unfolded(y: Tensor, in_front: bool) -> Tensor:
        if single:
            return y if in_front else y.movedim(1, 0)
        n = x.shape[0 if first else 1]
        place = 0 if in_front else 1
        y = y.unflatten(place, (level.size, n))
        return y if in_front else y.movedim(1, 0)

    given["input"] = folded(x, first)
    given["hx"] = replaced(hx, lambda h: folded(h, False))
    output, *states = f(**given)
    return wrapped((unfolded(output, first), *(unfolded(h, False) for h in states)), level)


def recurrent_cells(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """One step of sequences [N, …] or [ …]."""
    given = named(f, args, kwargs)
    names = ("w_ih", "w_hh", "b_ih", "b_hh")
    if _batched_params(level, *(given.get(name) for name in names)):
        return each(f, args, kwargs, level)
    x = given["input"]
    single = x.ndim == 1

    def folded(y: Tensor) -> Tensor:
        return whole(y, level) if single else whole(y, level).flatten(0, 1)

    given["input"] = folded(x)
    given["hx"] = replaced(given.get("hx"), folded)
    result = f(**given)
    if not single:
        result = replaced(result, lambda y: y.unflatten(0, (level.size, x.shape[0])))
    return wrapped(result, level)


FAMILIES: dict[str, Rule] = {
    "_max_pool _avg_pool _adaptive_max_pool _adaptive_avg_pool": planes,
    "_pad": pads,
    "_resample _grid_sample": images,
    "layer_norm rms_norm": row_norms,
    "group_norm": group_norms,
    "batch_norm": batch_norms,
    "embedding": embeddings,
    "mse_loss _pair_loss": pair_losses,
    "cross_entropy nll_loss": class_losses,
    "prelu": prelus,
    "lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell": recurrent_cells,
    "_fractional_max_pool _grid_sample_gradients embedding_bag native_batch_norm _ctc_loss": each,
}
