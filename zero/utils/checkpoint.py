"""Checkpoints of activations: what backward needs is computed again instead of kept."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from itertools import count
from weakref import ref

from zero import (
    Tensor,
    _autocast_cache,
    _autocast_state,
    _current_pass,
    _last_sequence_nr,
    _later,
    _pass_is_partial,
    empty,
    enable_grad,
    get_rng_state,
    is_grad_enabled,
    nn,
    no_grad,
    set_rng_state,
)
from zero.amp import autocast
from zero.autograd import backward
from zero.autograd.function import Function, once_differentiable
from zero.autograd.graph import saved_tensors_hooks
from zero.errors import ValueError
from zero.random import fork_rng

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]
else:
    __getattr__ = _later.missing(__name__)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]


class CheckpointError(RuntimeError):
    """The second run of a function saved other tensors than the first."""


def noop_context_fn() -> Contexts:
    """The default of ``context_fn``: two contexts that do nothing."""
    return nullcontext(), nullcontext()


# What the two context managers below set for all calls; None leaves it to each.
_early_stop: bool | None = None
_debug: bool | None = None


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Context manager: sets `early_stop` of the calls of :func:`checkpoint` in it.

    Args:
        enable: whether the second run ends as soon as all tensors are there.
    """
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Context manager: sets `debug` of the calls of :func:`checkpoint` in it.

    Args:
        enabled: as `debug`; None leaves it to each call.
    """
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors of a tuple detached, each with the requires_grad that it had.

    Args:
        inputs: tensors and other things, which stay as they are.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"detach_variable: inputs is not a tuple; got {type(inputs).__name__}, expected a tuple"
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs: Sequence[Any]) -> None:
    """Warns where no tensor among the inputs requires grad.

    Args:
        inputs: tensors and other things.
    """
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


class _Surroundings:
    """What a function computes with beside its arguments, to be set again for its second run."""

    def __init__(self, preserve_rng_state: bool) -> None:
        self.rng_state = get_rng_state() if preserve_rng_state else None
        self.autocast = (*_autocast_state("cpu"), _autocast_cache())

    @contextmanager
    def __call__(self) -> Iterator[None]:
        enabled, dtype, cache = self.autocast
        with fork_rng(enabled=self.rng_state is not None), enable_grad():
            if self.rng_state is not None:
                set_rng_state(self.rng_state)
            with autocast("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache):
                yield


# ---- the reentrant form: the whole function is a node --------------------------------------------
class CheckpointFunction(Function):
    """The operation of :func:`checkpoint` with ``use_reentrant=True``.

    Its backward runs the function again, and a backward pass of its own through that.
    """

    @staticmethod
    def forward(
        ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any
    ) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = _Surroundings(preserve_rng_state)
        ctx.constants = [None if isinstance(x, Tensor) else x for x in args]
        ctx.places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        if _pass_is_partial():
            raise RuntimeError(
                "checkpoint: use_reentrant=True is incompatible with grad() and with the `inputs` "
                "of backward(); got such a call, expected use_reentrant=False, or backward() "
                "without inputs"
            )
        args = list(ctx.constants)
        for i, x in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[i] = x
        inputs = detach_variable(tuple(args))
        with ctx.surroundings():
            outputs = ctx.run_function(*inputs)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        recorded = [
            (y, grad)
            for y, grad in zip(outputs, grads, strict=True)
            if isinstance(y, Tensor) and y.requires_grad
        ]
        if not recorded:
            raise RuntimeError(
                "checkpoint: none of output has requires_grad=True; got a function whose outputs "
                "depend on no tensor that requires grad, which needs no checkpoint"
            )
        backward([y for y, _ in recorded], [grad for _, grad in recorded])
        return None, None, *(x.grad if isinstance(x, Tensor) else None for x in inputs)


# ---- the other form: the function is recorded, but its tensors are not kept ----------------------
class _Inputs(Function):
    """Keeps the arguments of a checkpoint as saved tensors: watched for writes, and hidden in the
    checkpoint around this one, if there is one."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return empty(0)


class _Stop(BaseException):
    """Ends the second run of a function. No ``except Exception`` in it takes it for an error."""


class _Slot:
    """Stands in the graph for a saved tensor."""

    __slots__ = ("__weakref__", "number", "value")

    def __init__(self) -> None:
        self.number = _last_sequence_nr()  # of the node that saves it
        self.value: Tensor | None = None  # since the second run, until the node has used it


class _Region:
    """One call of :func:`checkpoint`: fills the slots of its tensors when the first is needed.

    A slot lives as long as the graph needs it, and so do the tensors that the second run puts in.
    Where the graph is retained, those of a node go when the next one asks: nodes run by falling
    number. What is missing after all is computed once more.
    """

    def __init__(
        self,
        run: Callable[..., Any],
        inputs: Callable[[], list[Any]],
        again: AbstractContextManager[Any],
        surroundings: _Surroundings,
        determinism_check: str,
        early_stop: bool,
        debug: bool,
    ) -> None:
        self.run = run
        self.inputs = inputs
        self.again = again
        self.surroundings = surroundings
        self.checks = determinism_check == "default"
        self.early_stop = early_stop
        self.slots: list[ref[_Slot]] = []
        self.kinds: list[Any] = []
        self.sites: list[str] | None = [] if debug else None
        self.filled_for = 0  # the backward pass
        self.filled_to = 0  # higher slots are empty
        self.complete = False  # whether the first run has ended

    def pack(self, x: Tensor) -> _Slot:
        slot = _Slot()
        self.slots.append(ref(slot))
        self.kinds.append(_kind(x))
        if self.sites is not None:
            self.sites.append(_site(x))
        return slot

    def unpack(self, slot: _Slot) -> Tensor:
        number = _current_pass()
        if slot.value is None or number == 0 or number != self.filled_for:
            self.fill()
            self.filled_for = number
        while self.filled_to > 0:
            above = self.slots[self.filled_to - 1]()
            if above is not None:
                if above.number <= slot.number:
                    break
                above.value = None
            self.filled_to -= 1
        if slot.value is None:
            raise CheckpointError(self.explain("a saved tensor was not computed again"))
        return slot.value

    def fill(self) -> None:
        """The second run."""
        places = count()
        sites: list[str] = []
        total = len(self.slots)
        different: list[str] = []

        def keep(x: Tensor) -> Tensor:
            place = next(places)
            if self.sites is not None:
                sites.append(_site(x))
            if place >= total:
                return x
            kind = _kind(x)
            if self.checks and kind != self.kinds[place]:
                different.append(f"tensor {place}: {self.kinds[place]} first, then {kind}")
            slot = self.slots[place]()
            if slot is not None:
                slot.value = x.detach()
            if self.early_stop and place + 1 == total:
                raise _Stop
            return x

        self.filled_to = total
        try:
            with ExitStack() as stack:
                stack.enter_context(self.surroundings())
                stack.enter_context(self.again)
                args = self.inputs()
                stack.enter_context(saved_tensors_hooks(keep, _same))
                self.run(*args)
        except _Stop:
            pass
        found = next(places)
        # A backward pass in the first run itself comes before all tensors are known.
        if self.complete and found != total:
            raise CheckpointError(
                self.explain(
                    "A different number of tensors was saved during the original forward and "
                    f"recomputation; got {found} in the second run, expected {total}",
                    sites,
                )
            )
        if different:
            raise CheckpointError(
                self.explain(
                    "Recomputed values for the following tensors have different metadata than "
                    "during the forward pass: " + "; ".join(different),
                    sites,
                )
            )

    def explain(self, problem: str, sites: Sequence[str] = ()) -> str:
        text = f"checkpoint: {problem}"
        if self.sites is None:
            return text + "; checkpoint(…, debug=True) shows where each tensor was saved"
        first, second = ("".join(f"\n  {line}" for line in lines) for lines in (self.sites, sites))
        return f"{text}\nsaved in the first run:{first}\nsaved in the second run:{second}"


def _same(x: Tensor) -> Tensor:
    return x


def _kind(x: Tensor) -> tuple[Any, ...]:
    return tuple(x.shape), x.dtype, x.device


def _site(x: Tensor) -> str:
    """The line of the user's program that saves a tensor."""
    from os.path import dirname
    from traceback import extract_stack

    own = dirname(dirname(__file__))
    lines = [frame for frame in extract_stack() if not frame.filename.startswith(own)]
    where = f"{lines[-1].filename}:{lines[-1].lineno}: {lines[-1].line}" if lines else "?"
    return f"{tuple(x.shape)} {x.dtype}  {where}"


def _recorded(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    context_fn: Callable[[], Contexts],
    determinism_check: str,
    debug: bool,
    early_stop: bool,
    preserve_rng_state: bool,
) -> Any:
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"checkpoint: no such determinism_check; got {determinism_check!r}, expected 'default' "
            "or 'none'"
        )
    if not is_grad_enabled():
        return function(*args, **kwargs)
    forward_context, again = context_fn()
    places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
    constants = [None if isinstance(x, Tensor) else x for x in args]
    anchor = _Inputs.apply(empty(0).requires_grad_(), *(args[i] for i in places))

    def inputs() -> list[Any]:
        found = list(constants)
        for i, x in zip(places, anchor.grad_fn.saved_tensors, strict=True):
            found[i] = x
        return found

    region = _Region(
        lambda *args: function(*args, **kwargs),
        inputs,
        again,
        _Surroundings(preserve_rng_state),
        determinism_check,
        early_stop if _early_stop is None else _early_stop,
        debug if _debug is None else _debug,
    )
    with saved_tensors_hooks(region.pack, region.unpack), forward_context:
        result = function(*args, **kwargs)
        region.complete = True
    if not region.complete:
        raise RuntimeError(
            "checkpoint: the forward context of context_fn suppressed an error of the function, "
            "so there is no result to return"
        )
    return result


def _explicit(op: str, use_reentrant: bool | None) -> bool:
    if use_reentrant is not None:
        return use_reentrant
    warnings.warn(
        f"{op}: the use_reentrant parameter should be passed explicitly; got None, which is True "
        "for now. use_reentrant=False is recommended",
        stacklevel=3,
    )
    return True


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Calls a function without keeping the tensors that its gradient needs.

    A backward pass calls it a second time and keeps them for as long as it needs them: less memory
    for the price of another forward pass. The second run has the autocast state of the first and,
    unless told otherwise, its random numbers, so that dropout drops the same elements.

    With ``use_reentrant=False`` everything works as without a checkpoint:
    :func:`zero.autograd.grad`, gradients of gradients, checkpoints in checkpoints, tensors anywhere
    in arguments and results. With ``use_reentrant=True`` the function is one node of the graph,
    whose backward runs a backward pass of its own. It goes with ``backward()`` without `inputs`
    only, has no gradient of its gradient, and one of the positional arguments must require grad.

    Args:
        function: what to compute; it must do the same in both runs.
        *args: its arguments.
        use_reentrant: which form, see above. None is True, with a warning, as in PyTorch.
        context_fn: returns two context managers, for the first and for the second run; only with
            ``use_reentrant=False``.
        determinism_check: "default" compares shapes, dtypes and devices of what both runs save;
            "none" does not.
        debug: whether errors list the lines at which both runs saved tensors; only with
            ``use_reentrant=False``.
        early_stop: whether the second run ends as soon as all tensors are there. The reentrant
            form has no use for it.
        **kwargs: keyword arguments of the function (with ``use_reentrant=False``), and
            ``preserve_rng_state=True``: whether the second run gets the random numbers of the
            first.

    Returns:
        What the function returns.

    Raises:
        zero.utils.checkpoint.CheckpointError: in backward: the second run saved other tensors than
            the first.
        ValueError: arguments that the reentrant form doesn't have.

    Example:
        >>> import zero
        >>> from zero.utils.checkpoint import checkpoint
        >>> x = zero.tensor([0.0, 1.0], requires_grad=True)
        >>> y = checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
        >>> y.sum().backward()
        >>> x.grad
        tensor([ 0.5403, -2.4783])

    Source: Chen et al., Training deep nets with sublinear memory cost, 2016.
    """
    use_reentrant = _explicit("checkpoint", use_reentrant)
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _recorded(
            function, args, kwargs, context_fn, determinism_check, debug, early_stop, preserve
        )
    if kwargs:
        raise ValueError(
            f"checkpoint: unexpected keyword arguments; got {', '.join(kwargs)}, expected none, or "
            "use_reentrant=False"
        )
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError(
            "checkpoint: context_fn and debug are for use_reentrant=False; got use_reentrant=True"
        )
    return CheckpointFunction.apply(function, preserve, *args)


def checkpoint_sequential(
    functions: nn.Sequential | Sequence[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Calls modules one after the other, all segments of them but the last as checkpoints.

    Args:
        functions: a Sequential, or a list of modules and functions.
        segments: into how many parts of about the same length they are divided.
        input: of the first of them.
        use_reentrant: as for :func:`checkpoint`.
        **kwargs: ``preserve_rng_state=True``.

    Returns:
        What the last function returns.

    Example:
        >>> import zero
        >>> from zero import nn
        >>> from zero.utils.checkpoint import checkpoint_sequential
        >>> model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1), nn.Tanh())
        >>> y = checkpoint_sequential(model, 2, zero.ones(3, 2), use_reentrant=False)
        >>> y.sum().backward()
        >>> model[0].weight.grad.shape
        zero.Size([4, 2])
    """
    use_reentrant = _explicit("checkpoint_sequential", use_reentrant)
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(
            f"checkpoint_sequential: unexpected keyword arguments; got {', '.join(kwargs)}, "
            "expected preserve_rng_state at most"
        )
    steps = list(functions.children()) if isinstance(functions, nn.Sequential) else list(functions)
    if not 1 <= segments <= max(len(steps), 1):
        raise ValueError(
            f"checkpoint_sequential: too few or too many segments; got {segments} for "
            f"{len(steps)} functions, expected 1 to {len(steps)}"
        )

    def run(part: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
        def call(x: Any) -> Any:
            for step in part:
                x = step(x)
            return x

        return call

    length = len(steps) // segments
    last = length * (segments - 1)
    for start in range(0, last, max(length, 1)):
        input = checkpoint(
            run(steps[start : start + length]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return run(steps[last:])(input)
