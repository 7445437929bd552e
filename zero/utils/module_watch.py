"""watch: what a model's layers put out while it trains."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import zero
from zero import Tensor, nn
from zero.utils._pytree import tree_leaves
from zero.utils.hooks import RemovableHandle
from zero.utils.text_table import number, shape_text, text_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Self

__all__ = ["FirstNaN", "LayerRow", "Watch", "watch"]


class LayerRow(NamedTuple):
    """What was seen of a layer.

    Attributes:
        path: as :meth:`Module.named_modules` gives it; "" for the model.
        class_name: of the layer.
        calls: how often it was called.
        output_shapes: of the tensors in the result of its last call; None before the first one.
        mean: of all elements of that result; None if it has none or is on the meta device.
        std: their standard deviation, ``sqrt(mean((x - mean)²))``.
        grad_norm: of the gradients of the layer's own parameters, see :func:`watch`.
    """

    path: str
    class_name: str
    calls: int
    output_shapes: list[tuple[int, ...]] | None
    mean: float | None
    std: float | None
    grad_norm: float | None


class FirstNaN(NamedTuple):
    """Where the first result with a NaN came from.

    Attributes:
        path: of the layer; "" for the model.
        class_name: of the layer.
        call: which call of that layer it was; the first one is 1.
        from_input: whether an argument of the call had a NaN already.
        member: the first of the layer's own parameters and buffers that had one; None if none had.
    """

    path: str
    class_name: str
    call: int
    from_input: bool
    member: str | None = None

    def __str__(self) -> str:
        where = f"{self.path} ({self.class_name})" if self.path else self.class_name
        source = "from its input" if self.from_input else "its input had none"
        if self.member is not None and not self.from_input:
            source = f"from its {self.member}"
        return f"first NaN: {where}, call {self.call}, {source}"


class _Seen:
    """The state of one layer."""

    def __init__(self, path: str, layer: nn.Module) -> None:
        self.path = path
        self.layer = layer
        self.calls = 0
        self.output_shapes: list[tuple[int, ...]] | None = None
        self.mean: float | None = None
        self.std: float | None = None


def _tensors(value: Any) -> list[Tensor]:
    return [leaf.detach() for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


def _has_nan(tensors: list[Tensor]) -> bool:
    return any(not t.is_meta and bool(t.isnan().any()) for t in tensors)


def _member_with_nan(layer: nn.Module) -> str | None:
    members = [*layer.named_parameters(recurse=False), *layer.named_buffers(recurse=False)]
    return next((name for name, tensor in members if _has_nan([tensor.detach()])), None)


def _flat(tensor: Tensor) -> Tensor:
    """As floating numbers wide enough for sums."""
    wide = tensor.dtype in (zero.float32, zero.float64)
    return (tensor if wide else tensor.to(zero.float32)).flatten()


def _grad_norm(layer: nn.Module) -> float | None:
    """sqrt of the sum of the squares of its own parameters' gradients; None without any."""
    grads = [p.grad for p in layer.parameters(recurse=False) if p.grad is not None]
    grads = [grad for grad in grads if not grad.is_meta]
    if not grads:
        return None
    # In float64: a square of a gradient may be too large or too small for the others.
    return sqrt(sum(float(g.detach().to(zero.float64).square().sum()) for g in grads))


class Watch:
    """What :func:`watch` returns. ``str()`` of it is the table.

    Attributes:
        first_nan: a :class:`FirstNaN`; None as long as there was none.
    """

    def __init__(self, model: nn.Module) -> None:
        self.first_nan: FirstNaN | None = None
        self._seen = {id(m): _Seen(path, m) for path, m in model.named_modules()}
        self._handles: list[RemovableHandle] = []
        self._last_norms: list[float | None] | None = None  # once it is removed

        # A function and no method: a deep copy of the model shall not copy the watch.
        def hook(layer: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            self._record(layer, (args, kwargs), output)

        for seen in self._seen.values():
            self._handles.append(seen.layer.register_forward_hook(hook, with_kwargs=True))

    def _record(self, layer: nn.Module, inputs: Any, output: Any) -> None:
        seen = self._seen.get(id(layer))
        if seen is None:  # a copy of a watched layer
            return
        tensors = _tensors(output)
        seen.calls += 1
        seen.output_shapes = [tuple(t.shape) for t in tensors]
        seen.mean = seen.std = None
        with zero.no_grad():
            parts = [_flat(t) for t in tensors if not t.is_meta and t.numel() > 0]
            if not parts:
                return
            values = parts[0] if len(parts) == 1 else zero.cat(parts)
            seen.mean = float(values.mean())
            seen.std = float(values.std(correction=0))
            # A NaN makes the mean NaN; so can infinities, and then the elements are looked at.
            if self.first_nan is None and seen.mean != seen.mean and _has_nan(tensors):
                self.first_nan = FirstNaN(
                    seen.path,
                    type(layer).__name__,
                    seen.calls,
                    from_input=_has_nan(_tensors(inputs)),
                    member=_member_with_nan(layer),
                )

    @property
    def rows(self) -> list[LayerRow]:
        """A :class:`LayerRow` for each layer, in the order of ``named_modules()``."""
        norms = self._last_norms
        if norms is None:
            norms = [_grad_norm(seen.layer) for seen in self._seen.values()]
        return [
            LayerRow(
                path=seen.path,
                class_name=type(seen.layer).__name__,
                calls=seen.calls,
                output_shapes=seen.output_shapes,
                mean=seen.mean,
                std=seen.std,
                grad_norm=norm,
            )
            for seen, norm in zip(self._seen.values(), norms, strict=True)
        ]

    def __str__(self) -> str:
        header = ["Layer", "Path", "Output shape", "Calls", "Mean", "Std", "Gradient norm"]
        lines = []
        for row in self.rows:
            depth = row.path.count(".") + 1 if row.path else 0
            values = [row.calls, row.mean, row.std, row.grad_norm]
            shapes = shape_text(row.output_shapes)
            name = "  " * depth + row.class_name
            lines.append([name, row.path, shapes, *map(number, values)])
        return f"{text_table(header, lines, left=3)}\n\n{self.first_nan or 'first NaN: none'}"

    __repr__ = __str__

    def plot(self) -> Figure:
        """A figure: mean ± standard deviation of each layer's result, and gradient norms.

        Returns:
            A ``matplotlib.figure.Figure``; ``figure.savefig("layers.png")`` writes it. pyplot and
            its backend are not touched.

        Raises:
            ImportError: matplotlib is not installed.
        """
        from zero.utils.watch_plot import watch_figure

        return watch_figure(self.rows, self.first_nan)

    def remove(self) -> None:
        """Ends watching. What was seen stays, with the gradient norms of this moment."""
        if self._last_norms is None:
            self._last_norms = [_grad_norm(seen.layer) for seen in self._seen.values()]
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def watch(model: nn.Module) -> Watch:
    """Watches the layers of a model: shape, mean and spread of outputs, gradients, first NaN.

    From now on each call of a module of the model notes the shape of its output and the mean and
    standard deviation of all the output's elements, whatever tensors it consists of. Only the last
    call is kept, and the first NaN ever seen: which layer gave it, in which of its calls, and
    whether its input, a parameter or a buffer had one already. Modules that are added later are not
    watched. Looking at every output costs about what an elementwise operation on it does.

    The gradient norm of a layer is that of its own parameters (not of those below it):
    ``sqrt(Σ grad²)`` over all elements of their ``.grad``, at the moment when it is asked for. So
    look after ``backward()`` and before ``zero_grad()``. It is None, shown as ``-``, without
    gradients.

    Args:
        model: any module.

    Returns:
        A :class:`Watch`, which ``print`` shows as a table; ``rows`` holds the values, ``plot()``
        makes a figure, and ``remove()`` or the end of a ``with`` block ends it.

    Raises:
        TypeError: model is no module.

    Example:
        >>> import zero
        >>> from zero import nn
        >>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        >>> with zero.no_grad():
        ...     _ = model[0].weight.copy_(zero.tensor([[1.0, 0.0], [0.0, -1.0]]))
        >>> with zero.utils.watch(model) as seen:
        ...     model(zero.tensor([[3.0, 4.0]])).sum().backward()
        >>> print(seen)
        Layer       Path  Output shape  Calls  Mean  Std  Gradient norm
        ---------------------------------------------------------------
        Sequential        (1, 2)            1   1.5  1.5              -
          Linear    0     (1, 2)            1  -0.5  3.5          5.099
          ReLU      1     (1, 2)            1   1.5  1.5              -
        <BLANKLINE>
        first NaN: none
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"watch: model is no Module; got {type(model).__name__}")
    return Watch(model)
