"""Rules of functions that draw random numbers, which vmap calls even without batches."""

from __future__ import annotations

import zero
from zero import Tensor
from zero.func import _rules_layers as layers
from zero.func._batched import at, cannot_write, each, functions, holds, named, whole, wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zero.func._batched import Rule

__all__ = ["FAMILIES"]


def _may_draw(f: Any, level: Any) -> None:
    if level.randomness == "error":
        raise RuntimeError(
            f"vmap: {f.__name__.lstrip('_')} draws random numbers; got randomness='error', "
            "expected 'same' or 'different' in the call of vmap, or numbers drawn outside of it"
        )


def draws_of_sizes(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """rand, randn, randint and normal of sizes: new tensors."""
    _may_draw(f, level)
    if holds((args, kwargs), level):
        return draws(f, args, kwargs, level)
    if level.randomness == "same":
        return f(*args, **kwargs)
    if f in (zero.rand, zero.randn):
        kwargs = dict(kwargs)
        sizes = kwargs.pop("size", None)
        if sizes is None:
            sizes = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        return wrapped(f(level.size, *sizes, **kwargs), level)
    given = named(f, args, kwargs)
    if f is zero.randint:
        if "size" not in given:  # randint(high, size)
            given = {**given, "low": 0, "high": given["low"], "size": given["high"]}
        return wrapped(f(**{**given, "size": (level.size, *given["size"])}), level)
    if given.get("size") is not None:
        return wrapped(f(**{**given, "size": (level.size, *given["size"])}), level)
    return wrapped(zero.stack([f(*args, **kwargs) for _ in range(level.size)]), level)


def draws(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """Random numbers with the shape of a tensor, or from its values."""
    if f.__name__.startswith(("dropout", "feature_dropout")):
        given = named(f, args, kwargs)
        if not given["train"] or given["p"] == 0:
            return given["input"]
    _may_draw(f, level)
    writes = f.__name__.endswith("_")
    first = args[0] if args else next(iter(kwargs.values()))
    if writes and not at(first, level):
        if level.randomness == "different" or any(at(x, level) for x in args[1:]):
            raise cannot_write(f.__name__)
        return f(*args, **kwargs)
    if level.randomness == "same":
        return _same_draws(f, args, kwargs, level)
    if f in _ELEMENTWISE:
        new = tuple(whole(x, level) if isinstance(x, Tensor) else x for x in args)
        named_too = {k: whole(x, level) if isinstance(x, Tensor) else x for k, x in kwargs.items()}
        result = f(*new, **named_too)
        return first if writes else wrapped(result, level)
    return each(f, args, kwargs, level)


def draws_if(drawing: Callable[[dict[str, Any]], bool], rule: Rule) -> Rule:
    """The rule of functions that draw only with some options, and have another else."""

    def either(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
        if drawing(named(f, args, kwargs)):
            return draws(f, args, kwargs, level)
        return rule(f, args, kwargs, level) if holds((args, kwargs), level) else f(*args, **kwargs)

    return either


def _same_draws(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], level: Any) -> Any:
    """One state of the generator for all samples."""
    if not holds((args, kwargs), level):
        return f(*args, **kwargs)
    generator = kwargs.get("generator") or zero.default_generator
    state = generator.get_state()

    def again(*args: Any, **kwargs: Any) -> Any:
        generator.set_state(state)
        return f(*args, **kwargs)

    again.__name__ = f.__name__
    return each(again, args, kwargs, level)


# With a number, or several, for each element of their tensors.
_ELEMENTWISE = set(
    functions(
        """
        rand_like randn_like randint_like uniform_ normal_ random_ exponential_ cauchy_ log_normal_
        geometric_ poisson _standard_gamma dropout dropout_
        """
    )
)
FAMILIES: dict[str, Rule] = {
    "rand randn randint randperm normal": draws_of_sizes,
    "rand_like randn_like randint_like uniform_ normal_ random_ exponential_ cauchy_ log_normal_ "
    "geometric_ bernoulli_ bernoulli poisson binomial _standard_gamma multinomial dropout dropout_ "
    "feature_dropout feature_dropout_": draws,
    "_scaled_dot_product_attention": draws_if(
        lambda given: 0 < given["dropout_p"] < 1, layers.attention
    ),
    "lstm gru rnn_tanh rnn_relu": draws_if(
        lambda given: bool(given.get("dropout")) and given.get("train") is not False,
        layers.recurrent_layers,
    ),
}
