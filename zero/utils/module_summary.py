"""summary: the layers of a model with shapes, parameters and operations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import zero
from zero import Parameter, Tensor, nn
from zero.nn.lazy import is_lazy
from zero.utils._pytree import tree_leaves, tree_map_only
from zero.utils.text_table import number, shape_text, text_table

__all__ = ["Row", "Summary", "summary"]

FlopRule = Callable[[Any, tuple[Any, ...], Any], int]


def _elements(count: int) -> FlopRule:
    """So many operations for each element of the output."""
    return lambda layer, args, output: count * output.numel()


def _norm(count: int) -> FlopRule:
    """And one more for each of weight and bias."""
    return lambda layer, args, output: (
        output.numel() * (count + sum(1 for _ in layer.parameters(recurse=False)))
    )


def _transposed(layer: Any, args: tuple[Any, ...], output: Any) -> int:
    """Each element of the input is multiplied by its part of the weight."""
    products: int = args[0].numel() * layer.weight[0].numel()
    return 2 * products


def _attention(layer: Any, args: tuple[Any, ...], output: Any) -> int:
    """Projections, scores and the mean of values; softmax as in nn.Softmax. Masks spare nothing."""
    query, key = args[:2]
    length, keys = query[..., 0].numel(), key[..., 0].numel()  # of all sequences together
    batch = 1
    if query.dim() == 3:
        batch = query.shape[0 if layer.batch_first else 1]
    width = layer.embed_dim
    projections: int = 2 * width * (2 * length * width + keys * (layer.kdim + layer.vdim))
    each: int = keys // max(batch, 1) + (layer.bias_k is not None) + layer.add_zero_attn
    pairs: int = length * each * (4 * width + 5 * layer.num_heads)
    return projections + pairs


# For each unit and step, beside the products: activations, products and sums of gates.
_GATE_FLOPS = {"LSTM": 9, "GRU": 9, "RNN_TANH": 1, "RNN_RELU": 1}


def _recurrent(layer: Any, args: tuple[Any, ...], output: Any) -> int:
    directions = 2 if layer.bidirectional else 1
    y = output[0].data  # of a tensor, or packed
    rows: int = y.numel() // (directions * (layer.proj_size or layer.hidden_size))
    products: int = sum(w.numel() for w in layer._flat_weights if w.dim() == 2)
    units: int = layer.num_layers * directions * layer.hidden_size
    return rows * (2 * products + _GATE_FLOPS[layer.mode] * units)


def _cell(gates: int, flops: int) -> FlopRule:
    def rule(layer: Any, args: tuple[Any, ...], output: Any) -> int:
        h = output if isinstance(output, Tensor) else output[0]
        products = 2 * (layer.weight_ih.shape[1] + layer.weight_hh.shape[1])
        count: int = h.numel() * (gates * products + flops)
        return count

    return rule


# A sum of n products is counted as n multiplications and n additions: in Linear the bias takes the
# place of the first one. Softmax: maximum, difference, exponential, sum and quotient.
FLOPS: dict[type, FlopRule] = {
    nn.Linear: lambda layer, args, output: 2 * layer.in_features * output.numel(),
    **dict.fromkeys(
        (nn.Conv1d, nn.Conv2d, nn.Conv3d),
        lambda layer, args, output: 2 * layer.weight[0].numel() * output.numel(),
    ),
    **dict.fromkeys((nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d), _transposed),
    **dict.fromkeys(
        (
            nn.CELU,
            nn.ELU,
            nn.GELU,
            nn.Hardshrink,
            nn.Hardsigmoid,
            nn.Hardswish,
            nn.Hardtanh,
            nn.LeakyReLU,
            nn.LogSigmoid,
            nn.Mish,
            nn.PReLU,
            nn.RReLU,
            nn.ReLU,
            nn.ReLU6,
            nn.SELU,
            nn.SiLU,
            nn.Sigmoid,
            nn.Softplus,
            nn.Softshrink,
            nn.Softsign,
            nn.Tanh,
            nn.Tanhshrink,
            nn.Threshold,
        ),
        _elements(1),
    ),
    nn.GLU: _elements(2),
    **dict.fromkeys((nn.LogSoftmax, nn.Softmax, nn.Softmax2d), _elements(5)),
    nn.Softmin: _elements(6),
    nn.Identity: _elements(0),
    nn.Flatten: _elements(0),
    nn.Unflatten: _elements(0),
    nn.LayerNorm: _norm(5),
    nn.GroupNorm: _norm(5),
    nn.RMSNorm: _norm(3),
    **dict.fromkeys(
        (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d),
        lambda layer, args, output: _norm(5 if layer.training else 2)(layer, args, output),
    ),
    **dict.fromkeys((nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d), _norm(5)),
    nn.MultiheadAttention: _attention,
    nn.Embedding: _elements(0),
    nn.Bilinear: lambda layer, args, output: (
        2 * output.numel() * (layer.in1_features + 1) * layer.in2_features
    ),
    **dict.fromkeys((nn.RNN, nn.LSTM, nn.GRU), _recurrent),
    nn.RNNCell: _cell(1, 1),
    nn.LSTMCell: _cell(4, 9),
    nn.GRUCell: _cell(3, 9),
    **dict.fromkeys(
        (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d),
        lambda layer, args, output: output.numel() if layer.training else 0,
    ),
}


def _rule(layer: nn.Module, rules: dict[type, FlopRule]) -> FlopRule | None:
    """That of the class, or of a base class whose forward the class uses unchanged."""
    cls = type(layer)
    if cls in rules:
        return rules[cls]
    for base in cls.__mro__:
        if base in rules and getattr(base, "forward", None) is cls.forward:
            return rules[base]
    return None


class Row(NamedTuple):
    """A line of the table: one module.

    Attributes:
        path: as :meth:`Module.named_modules` gives it; "" for the model.
        class_name: of the module.
        output_shapes: of the tensors in the result of its first call; None if it wasn't called.
        parameters: numbers in its parameters and in those of all modules below it.
        trainable: those of them that require grad.
        flops: operations of all its calls and of the modules below it; None if unknown.
        calls: how often it was called.
    """

    path: str
    class_name: str
    output_shapes: list[tuple[int, ...]] | None
    parameters: int
    trainable: int
    flops: int | None
    calls: int

    @property
    def depth(self) -> int:
        """How far below the model it is."""
        return self.path.count(".") + 1 if self.path else 0


class Summary:
    """What :func:`summary` found. ``str()`` of it is the table.

    Attributes:
        rows: a :class:`Row` for each module down to the depth asked for, parents first.
        total_parameters: numbers in all parameters; shared ones count once.
        trainable_parameters: those that require grad.
        total_flops: known operations of the call.
        uncounted: paths of called layers whose operations are unknown, at any depth.
    """

    def __init__(self, rows: list[Row], uncounted: list[str], depth: int | None) -> None:
        self.total_parameters = rows[0].parameters
        self.trainable_parameters = rows[0].trainable
        self.total_flops = rows[0].flops or 0
        self.uncounted = uncounted
        self.rows = [row for row in rows if depth is None or row.depth <= depth]

    def __str__(self) -> str:
        header = ["Layer", "Path", "Output shape", "Parameters", "Trainable", "FLOPs"]
        lines = [
            [
                "  " * row.depth + row.class_name,
                row.path,
                shape_text(row.output_shapes),
                number(row.parameters),
                number(row.trainable),
                number(row.flops),
            ]
            for row in self.rows
        ]
        fixed = self.total_parameters - self.trainable_parameters
        text = text_table(header, lines, left=3)
        text += f"\n\nParameters: {self.total_parameters:,}"
        text += f" ({self.trainable_parameters:,} trainable, {fixed:,} not)"
        text += f"\nFLOPs: {self.total_flops:,}"
        if self.uncounted:
            shown = ", ".join(path or "the model itself" for path in self.uncounted[:5])
            more = len(self.uncounted) - 5
            text += f", without those of {shown}" + (f" and {more} more" if more > 0 else "")
        return text

    __repr__ = __str__


def _is_size(value: object) -> bool:
    return isinstance(value, tuple | list) and all(type(size) is int for size in value)


def _meta_inputs(model: nn.Module, inputs: Any) -> list[Any]:
    """The arguments of the call; sizes become tensors of the parameters' floating dtype."""
    if isinstance(inputs, Tensor) or _is_size(inputs):
        inputs = [inputs]
    elif not isinstance(inputs, tuple | list):
        raise TypeError(
            "summary: input is no tensor, size or sequence of them; "
            f"got {type(inputs).__name__}, expected for example (32, 784)"
        )
    floats = (p.dtype for p in model.parameters() if p.dtype.is_floating_point)
    dtype = next(floats, zero.get_default_dtype())

    def on_meta(value: Any) -> Any:
        if _is_size(value):
            return zero.empty(tuple(value), dtype=dtype, device="meta")
        return tree_map_only(Tensor, lambda t: zero.empty_like(t, device="meta"), value)

    return [on_meta(value) for value in inputs]


@contextmanager
def _on_meta(modules: Iterable[nn.Module]) -> Iterator[None]:
    """Modules whose tensors have shapes but no values; afterwards they are as they were.

    All attributes are put back, so that what forward() stores doesn't stay either.
    """
    twins: dict[int, Tensor] = {}

    def twin(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if id(value) not in twins:
            other = zero.empty_like(value, device="meta")
            if isinstance(value, Parameter):
                other = Parameter(other, requires_grad=value.requires_grad)
            twins[id(value)] = other
        return twins[id(value)]

    saved = [(module.__dict__, dict(module.__dict__)) for module in modules]
    random_state = zero.get_rng_state()
    try:
        for state, before in saved:
            for name, value in before.items():
                if name in ("_parameters", "_buffers", "_modules"):
                    state[name] = {key: twin(member) for key, member in value.items()}
                else:
                    state[name] = twin(value)
        with zero.device("meta"), zero.no_grad():
            yield
    finally:
        for state, before in saved:
            state.clear()
            state.update(before)
        zero.set_rng_state(random_state)


def _run(
    modules: dict[str, nn.Module], inputs: list[Any], rules: dict[type, FlopRule]
) -> tuple[dict[int, list[Any]], dict[int, int | None]]:
    """Calls the model; for each module by its id the shapes of each call, and its operations."""
    shapes: dict[int, list[Any]] = {id(module): [] for module in modules.values()}
    flops: dict[int, int | None] = {}

    def count(
        module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> None:
        tensors = [leaf for leaf in tree_leaves(output) if isinstance(leaf, Tensor)]
        shapes[id(module)].append([tuple(t.shape) for t in tensors])
        rule = _rule(module, rules)
        if rule is None:
            flops[id(module)] = None
        else:
            if kwargs:  # a rule gets them in forward's order
                bound = inspect.signature(module.forward).bind(*args, **kwargs)
                bound.apply_defaults()
                args = bound.args
            before = flops.get(id(module)) or 0
            flops[id(module)] = before + rule(module, args, output)

    with _on_meta(modules.values()):
        handles = [
            module.register_forward_hook(count, with_kwargs=True) for module in modules.values()
        ]
        try:
            modules[""](*inputs)
        except Exception as error:
            # A mistake in the model, or the price of running it without values?
            where = " on the meta device, where tensors have shapes but no values"
            raise RuntimeError(
                f"summary: forward failed{where if 'meta' in str(error) else ''}; got "
                f"{type(error).__name__}: {error}"
            ) from error
        finally:
            for handle in handles:
                handle.remove()
    return shapes, flops


def summary(
    model: nn.Module,
    input: Tensor | Sequence[Any],
    *,
    depth: int | None = None,
    flops: dict[type, FlopRule] | None = None,
) -> Summary:
    """The layers of a model as a table: output shapes, parameters, operations.

    The model is called once with tensors on the meta device, which have shapes but no values: a
    call costs no memory and no arithmetic. Its mode counts (dropout is active in training mode)
    and stays; parameters, buffers, hooks, attributes and random numbers are as before afterwards.
    Another thread must not use the model meanwhile. Each module has one line, and each parameter
    counts once, also if they are used twice. A line contains what is below it, so that the first
    one is the total.

    FLOPs are floating-point operations of one forward call. A multiply-add counts as 2:

    - Linear: ``2 · in_features`` for each element of the output (the bias is part of the sum);
    - Conv1d, Conv2d, Conv3d: 2 for each product in an element of the output; transposed ones
      likewise for each element of the input;
    - ReLU and all other activations, and dropout in training mode: 1 for each element; GLU: 2;
    - Softmax, LogSoftmax: 5 for each element (maximum, difference, exp, sum, and quotient or
      difference); Softmin: 6;
    - LayerNorm, GroupNorm: 5 for each element (sum, difference, square, sum, quotient), RMSNorm: 3;
      one more for a weight, and for a bias;
    - BatchNorm and InstanceNorm likewise, BatchNorm in evaluation mode 2;
    - MultiheadAttention: the products of its four projections, and for each pair of a query and a
      key, which masks do not spare, ``4 · embed_dim + 5 · num_heads``;
    - Bilinear: ``2 · (in1_features + 1) · in2_features`` for each element of the output;
    - RNN, LSTM, GRU and their cells: 2 for each weight of a matrix, step and sequence, and for each
      unit 1, 9 and 9 more;
    - Embedding, Identity, Flatten, Unflatten, dropout in evaluation mode: 0;
    - a module with sub-modules: their sum. What its forward() computes outside of them is not
      counted;
    - any other: unknown, shown as ``-``, left out of sums and listed as uncounted.

    Args:
        model: any module.
        input: a tensor, whose values don't matter; or its size, such as ``(32, 784)``, for a tensor
            of the dtype of the parameters; or a tuple or list of the arguments of the call: tensors
            and sizes, and other values, which are passed on.
        depth: how many levels below the model to show; all if None. Totals don't depend on it.
        flops: further rules: class -> function of (module, args, output), which returns the number
            of operations of a call, those of sub-modules included.

    Returns:
        A :class:`Summary`, with ``rows``, ``total_parameters`` and ``total_flops``.

    Raises:
        RuntimeError: forward() needs values (``if x.sum() > 0``), or fails for another reason; or
            a layer waits for its first input.
        TypeError: model is no module, or the input is of another kind.
        ValueError: depth is negative.

    Example:
        >>> import zero
        >>> from zero import nn
        >>> model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
        >>> zero.utils.summary(model, (32, 784))
        Layer       Path  Output shape  Parameters  Trainable      FLOPs
        ----------------------------------------------------------------
        Sequential        (32, 10)         101,770    101,770  6,508,544
          Linear    0     (32, 128)        100,480    100,480  6,422,528
          ReLU      1     (32, 128)              0          0      4,096
          Linear    2     (32, 10)           1,290      1,290     81,920
        <BLANKLINE>
        Parameters: 101,770 (101,770 trainable, 0 not)
        FLOPs: 6,508,544
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"summary: model is no Module; got {type(model).__name__}")
    if depth is not None and depth < 0:
        raise ValueError(f"summary: depth is negative; got {depth}, expected 0, 1, … or None")
    rules = FLOPS if flops is None else {**FLOPS, **flops}
    modules = dict(model.named_modules())
    for path, module in modules.items():
        if any(is_lazy(t) for t in (*module._parameters.values(), *module._buffers.values())):
            raise RuntimeError(
                f"summary: {path or 'the model'} doesn't know its sizes yet; call the model with "
                "an input first"
            )
    shapes, known = _run(modules, _meta_inputs(model, input), rules)

    # A module that has a rule speaks for all below it.
    covered: set[nn.Module] = set()
    for module in modules.values():
        if module not in covered and _rule(module, rules) is not None:
            covered.update(m for m in module.modules() if m is not module)

    def operations(module: nn.Module) -> int | None:
        if _rule(module, rules) is not None or not any(True for _ in module.children()):
            return known.get(id(module), 0)
        parts = (m for m in module.modules() if m is not module and m not in covered)
        return sum(known.get(id(m)) or 0 for m in parts)

    rows = []
    for path, module in modules.items():
        calls = shapes[id(module)]
        parameters = list(module.parameters())
        rows.append(
            Row(
                path=path,
                class_name=type(module).__name__,
                output_shapes=calls[0] if calls else None,
                parameters=sum(p.numel() for p in parameters),
                trainable=sum(p.numel() for p in parameters if p.requires_grad),
                flops=operations(module),
                calls=len(calls),
            )
        )
    # With sub-modules flops is a sum, so None says: called, without sub-modules and without a rule.
    uncounted = [row.path for row in rows if row.flops is None and modules[row.path] not in covered]
    return Summary(rows, uncounted, depth)
