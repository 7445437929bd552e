"""Recurrent layers, and single steps of them."""

from __future__ import annotations

import warnings
from math import sqrt

import zero
from zero import Parameter, Tensor
from zero.errors import DTypeError, ShapeError, ValueError
from zero.nn import _options, init
from zero.nn.module import Module
from zero.nn.utils.rnn import PackedSequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

# Functions of zero, by mode, and how many gates the matrices have.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "LSTM": zero.lstm,
    "GRU": zero.gru,
    "RNN_TANH": zero.rnn_tanh,
    "RNN_RELU": zero.rnn_relu,
}
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _positive(layer: str, name: str, value: object) -> int:
    number = _options.size(layer, name, value)
    if number == 0:
        raise ValueError(f"{layer}: {name} is not positive; got 0, expected 1 or more")
    return number


def _flag(layer: str, name: str, value: object) -> bool:
    """As PyTorch's: an int in the place of a bool is most often a number in the wrong place."""
    if isinstance(value, bool):
        return value
    raise DTypeError(
        f"{layer}: {name} is not a bool; got {value!r} of type {type(value).__name__}, expected "
        "True or False"
    )


def _draw(module: Module, hidden: int) -> None:
    bound = 1 / sqrt(hidden) if hidden > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNBase(Module):
    """What :class:`RNN`, :class:`LSTM` and :class:`GRU` share.

    Each layer k has, with the suffix ``_reverse`` for its second direction, the parameters
    weight_ih_lk [gates * hidden, in], weight_hh_lk [gates * hidden, out], bias_ih_lk and bias_hh_lk
    [gates * hidden], and with a projection weight_hr_lk [out, hidden]. All start as draws from
    U(-1/sqrt(hidden), 1/sqrt(hidden)).

    Args:
        mode: 'LSTM', 'GRU', 'RNN_TANH' or 'RNN_RELU'.
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        num_layers: how many layers; each takes the output of the one before.
        bias: False leaves the biases out.
        batch_first: whether input and output are [batch, steps, features].
        dropout: the probability with which what goes from layer to layer is set to 0, in training.
        bidirectional: whether each layer has a second direction, from the last step to the first.
        proj_size: of an LSTM, if not 0: the size to which hidden states are projected.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Raises:
        ValueError: the mode is no such word, a size is not positive, dropout is no probability, or
            proj_size is not smaller than hidden_size.
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        layer = type(self).__name__
        if mode not in _GATES:
            raise ValueError(
                f"{layer}: no such mode; got {mode!r}, expected one of {', '.join(_GATES)}"
            )
        self.mode = mode
        self.input_size = _positive(layer, "input_size", input_size)
        self.hidden_size = _positive(layer, "hidden_size", hidden_size)
        self.num_layers = _positive(layer, "num_layers", num_layers)
        self.bias = _flag(layer, "bias", bias)
        self.batch_first = _flag(layer, "batch_first", batch_first)
        if isinstance(dropout, bool):
            raise ValueError(
                f"{layer}: dropout is no number; got {dropout}, expected 0 <= dropout <= 1"
            )
        self.dropout = float(_options.probability(layer, "dropout", dropout))
        self.bidirectional = _flag(layer, "bidirectional", bidirectional)
        self.proj_size = _options.size(layer, "proj_size", proj_size)
        if self.proj_size > 0 and mode != "LSTM":
            raise ValueError(
                f"{layer}: only an LSTM has a projection; got proj_size={proj_size}, expected 0"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError(
                f"{layer}: proj_size is too large; got {proj_size}, expected less than "
                f"hidden_size, {hidden_size}"
            )
        if self.dropout > 0 and self.num_layers == 1:
            warnings.warn(
                f"{layer}: dropout lies between layers, and there is one layer; got "
                f"dropout={dropout} and num_layers=1",
                stacklevel=3,
            )

        rows = _GATES[mode] * self.hidden_size
        out = self.proj_size or self.hidden_size
        self._all_weights: list[list[str]] = []
        for k in range(self.num_layers):
            size = self.input_size if k == 0 else out * (1 + self.bidirectional)
            for end in ("", "_reverse") if self.bidirectional else ("",):
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (rows, size),
                    "weight_hh": (rows, out),
                }
                if self.bias:
                    shapes.update(bias_ih=(rows,), bias_hh=(rows,))
                if self.proj_size > 0:
                    shapes["weight_hr"] = (self.proj_size, self.hidden_size)
                names = []
                for name, shape in shapes.items():
                    names.append(f"{name}_l{k}{end}")
                    weight = Parameter(zero.empty(shape, device=device, dtype=dtype))
                    self.register_parameter(names[-1], weight)
                self._all_weights.append(names)
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters anew."""
        _draw(self, self.hidden_size)

    def flatten_parameters(self) -> None:
        """Does nothing: weights may lie anywhere in memory. Programs for GPUs call it."""

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self) -> list[Tensor]:
        parameters: dict[str, Any] = self._parameters
        try:
            return [parameters[name] for name in self._flat_weights_names]
        except KeyError:  # computed from others: weight_norm, parametrize
            return [getattr(self, name) for name in self._flat_weights_names]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        for name, usual in (("bias", True), ("batch_first", False), ("dropout", 0.0)):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        if self.bidirectional:
            text += ", bidirectional=True"
        return text

    def _layers(self, *input_and_state: Any, batch_first: tuple[bool, ...] = ()) -> Any:
        """Calls the function of the mode with what the layer is made of."""
        return _FUNCTIONS[self.mode](
            *input_and_state,
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            *batch_first,
        )

    def _unusual(self, input: Any, states: tuple[Tensor, ...] | None) -> tuple[Any, list[Tensor]]:
        """The output and the last states for packed sequences, or one without a batch."""
        pair = self.mode == "LSTM"
        for h in () if states is None else states:
            if not isinstance(h, Tensor):
                raise DTypeError(
                    f"{type(self).__name__}: a state is no tensor; got {type(h).__name__}, "
                    "expected a Tensor"
                )
        if isinstance(input, PackedSequence):
            if states is not None and input.sorted_indices is not None:
                states = tuple(h.index_select(1, input.sorted_indices) for h in states)
            start = states[0] if states and not pair else states
            data, *ends = self._layers(input.data, input.batch_sizes, start)
            order = input.unsorted_indices
            if order is not None:
                ends = [h.index_select(1, order) for h in ends]
            return PackedSequence(data, input.batch_sizes, input.sorted_indices, order), ends
        if not isinstance(input, Tensor):
            raise DTypeError(
                f"{type(self).__name__}: the input is no tensor; got {type(input).__name__}, "
                "expected a Tensor or a PackedSequence"
            )
        if input.dim() != 2:
            raise ShapeError(
                f"{type(self).__name__}: got an input of shape {tuple(input.shape)}, expected 2 or "
                "3 dimensions"
            )
        if states is not None:
            for h in states:
                if h.dim() != 2:
                    raise ShapeError(
                        f"{type(self).__name__}: got a state of shape {tuple(h.shape)} for an "
                        "input without a batch, expected 2 dimensions"
                    )
            states = tuple(h.unsqueeze(1) for h in states)
        start = states[0] if states and not pair else states
        y, *ends = self._layers(input.unsqueeze(1), start, batch_first=(False,))
        return y.squeeze(1), [h.squeeze(1) for h in ends]


class _OneState(RNNBase):
    """A layer with one state."""

    def forward(self, input: Any, hx: Tensor | None = None) -> Any:
        if isinstance(input, Tensor) and input.dim() == 3:
            return self._layers(input, hx, batch_first=(self.batch_first,))
        y, ends = self._unusual(input, None if hx is None else (hx,))
        return y, ends[0]


class RNN(_OneState):
    """Simple recurrent layers: ``h = tanh(W x + b + U h + d)`` for each step x.

    W, U, b and d are the parameters weight_ih_l0, weight_hh_l0, bias_ih_l0 and bias_hh_l0, see
    :class:`RNNBase`; all start as draws from U(-1/sqrt(hidden), 1/sqrt(hidden)).

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        num_layers: how many layers; each takes the output of the one before.
        nonlinearity: 'tanh', or 'relu' in its place.
        bias: False leaves the biases out.
        batch_first: whether input and output are [batch, steps, features].
        dropout: the probability with which what goes from layer to layer is set to 0, in training.
        bidirectional: whether each layer has a second direction, from the last step to the first.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [steps, batch, in], [steps, in], or a PackedSequence; hx
        [layers * directions, batch, hidden] (without batch where the input has none), zeros if
        None; output [steps, batch, directions * hidden], and the last state, of the shape of hx

    Raises:
        ValueError: nonlinearity is no such word, a size is not positive, or dropout no probability.
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> layer = zero.nn.RNN(10, 20, num_layers=2)
        >>> output, h = layer(zero.randn(5, 3, 10))
        >>> output.shape, h.shape
        (zero.Size([5, 3, 20]), zero.Size([2, 3, 20]))

    Source: Elman, Finding structure in time, 1990.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
        *,
        proj_size: int = 0,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"{type(self).__name__}: no such nonlinearity; got {nonlinearity!r}, expected "
                "'tanh' or 'relu'"
            )
        self.nonlinearity = nonlinearity
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )


class GRU(_OneState):
    """Layers of gated recurrent units. For each step x, with * element by element::

        r, z = sigmoid(W x + b + U h + d)            # each with its part of W, b, U, d
        n = tanh(W x + b + r * (U h + d))
        h = (1 - z) * n + z * h

    W, U, b and d are the parameters weight_ih_l0, weight_hh_l0, bias_ih_l0 and bias_hh_l0, see
    :class:`RNNBase`, with the parts of r, z and n in this order.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        num_layers: how many layers; each takes the output of the one before.
        bias: False leaves the biases out.
        batch_first: whether input and output are [batch, steps, features].
        dropout: the probability with which what goes from layer to layer is set to 0, in training.
        bidirectional: whether each layer has a second direction, from the last step to the first.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [steps, batch, in], [steps, in], or a PackedSequence; hx
        [layers * directions, batch, hidden] (without batch where the input has none), zeros if
        None; output [steps, batch, directions * hidden], and the last state, of the shape of hx

    Raises:
        ValueError: a size is not positive, or dropout no probability.
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> layer = zero.nn.GRU(10, 20, bidirectional=True, batch_first=True)
        >>> output, h = layer(zero.randn(3, 5, 10))
        >>> output.shape, h.shape
        (zero.Size([3, 5, 40]), zero.Size([2, 3, 20]))

    Source: Cho et al., Learning phrase representations using RNN encoder-decoder, 2014, with the
    reset gate behind the product.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
        *,
        proj_size: int = 0,
    ) -> None:
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )


class LSTM(RNNBase):
    """Layers of long short-term memory. For each step x, with * element by element::

        i, f, o = sigmoid(W x + b + U h + d)         # each with its part of W, b, U, d
        g = tanh(W x + b + U h + d)
        c = f * c + i * g
        h = o * tanh(c)                              # V (o * tanh(c)) with a projection

    W, U, b, d and V are the parameters weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 and
    weight_hr_l0, see :class:`RNNBase`, with the parts of i, f, g and o in this order.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        num_layers: how many layers; each takes the output of the one before.
        bias: False leaves the biases out.
        batch_first: whether input and output are [batch, steps, features].
        dropout: the probability with which what goes from layer to layer is set to 0, in training.
        bidirectional: whether each layer has a second direction, from the last step to the first.
        proj_size: if not 0: the size `out` to which hidden states are projected.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [steps, batch, in], [steps, in], or a PackedSequence; hx a pair, the hidden state
        [layers * directions, batch, out] and the cell state [layers * directions, batch, hidden]
        (without batch where the input has none), zeros if None; output
        [steps, batch, directions * out], and the pair of the last states. Without a projection out
        is hidden.

    Raises:
        ValueError: a size is not positive, dropout is no probability, or proj_size is not smaller
            than hidden_size.
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> layer = zero.nn.LSTM(10, 20, num_layers=2)
        >>> output, (h, c) = layer(zero.randn(5, 3, 10))
        >>> output.shape, h.shape, c.shape
        (zero.Size([5, 3, 20]), zero.Size([2, 3, 20]), zero.Size([2, 3, 20]))

    Source: Hochreiter and Schmidhuber, Long short-term memory, 1997; Gers et al., Learning to
    forget, 2000; Sak et al., Long short-term memory recurrent neural network architectures for
    large scale acoustic modeling, 2014.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> Any:
        if isinstance(input, Tensor) and input.dim() == 3:
            y, h, c = self._layers(input, hx, batch_first=(self.batch_first,))
        else:
            y, (h, c) = self._unusual(input, hx)
        return y, (h, c)


# ---- single steps --------------------------------------------------------------------------------


class RNNCellBase(Module):
    """What :class:`RNNCell`, :class:`LSTMCell` and :class:`GRUCell` share.

    Parameters are weight_ih [gates * hidden, in], weight_hh [gates * hidden, hidden], bias_ih and
    bias_hh [gates * hidden]; all start as draws from U(-1/sqrt(hidden), 1/sqrt(hidden)).

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        bias: False leaves the biases out.
        num_chunks: how many gates there are.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Raises:
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        layer = type(self).__name__
        self.input_size = _options.size(layer, "input_size", input_size)
        self.hidden_size = _options.size(layer, "hidden_size", hidden_size)
        self.bias = _options.flag(layer, "bias", bias)
        rows = num_chunks * self.hidden_size
        for name, shape in (
            ("weight_ih", (rows, self.input_size)),
            ("weight_hh", (rows, self.hidden_size)),
            ("bias_ih", (rows,)),
            ("bias_hh", (rows,)),
        ):
            present = self.bias or name.startswith("weight")
            value = zero.empty(shape, device=device, dtype=dtype) if present else None
            self.register_parameter(name, None if value is None else Parameter(value))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters anew."""
        _draw(self, self.hidden_size)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += ", bias=False"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _weights(self) -> tuple[Any, ...]:
        own: dict[str, Any] = self._parameters
        try:
            return own["weight_ih"], own["weight_hh"], own["bias_ih"], own["bias_hh"]
        except KeyError:  # computed from others: weight_norm, parametrize
            return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh


class RNNCell(RNNCellBase):
    """One step of :class:`RNN`: ``h = tanh(W x + b + U h + d)``.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        bias: False leaves the biases out.
        nonlinearity: 'tanh', or 'relu' in its place.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [batch, in] or [in]; hx [batch, hidden] or [hidden], zeros if None; output as hx

    Raises:
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.
        ValueError: nonlinearity is no such word; when the cell is called.

    Example:
        >>> import zero
        >>> cell, h = zero.nn.RNNCell(10, 20), None
        >>> for x in zero.randn(6, 3, 10):
        ...     h = cell(x, h)
        >>> h.shape
        zero.Size([3, 20])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity == "tanh":
            return zero.rnn_tanh_cell(input, hx, *self._weights())
        if self.nonlinearity == "relu":
            return zero.rnn_relu_cell(input, hx, *self._weights())
        raise ValueError(
            f"RNNCell: no such nonlinearity; got {self.nonlinearity!r}, expected 'tanh' or 'relu'"
        )


class LSTMCell(RNNCellBase):
    """One step of :class:`LSTM`, whose formulas are there.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        bias: False leaves the biases out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [batch, in] or [in]; hx a pair, the hidden and the cell state, each [batch, hidden] or
        [hidden], zeros if None; output a pair likewise

    Raises:
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> cell, state = zero.nn.LSTMCell(10, 20), None
        >>> for x in zero.randn(6, 3, 10):
        ...     state = cell(x, state)
        >>> h, c = state
        >>> h.shape
        zero.Size([3, 20])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        return zero.lstm_cell(input, hx, *self._weights())


class GRUCell(RNNCellBase):
    """One step of :class:`GRU`, whose formulas are there.

    Args:
        input_size: the number of features of the input.
        hidden_size: the number of features of the state.
        bias: False leaves the biases out.
        device: where the parameters are.
        dtype: of the parameters; the default dtype if None.

    Shape:
        input [batch, in] or [in]; hx [batch, hidden] or [hidden], zeros if None; output as hx

    Raises:
        DTypeError, ShapeError: a size is no int, or negative; an option is no bool.

    Example:
        >>> import zero
        >>> cell, h = zero.nn.GRUCell(10, 20), None
        >>> for x in zero.randn(6, 3, 10):
        ...     h = cell(x, h)
        >>> h.shape
        zero.Size([3, 20])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: zero.device | str | None = None,
        dtype: zero.dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return zero.gru_cell(input, hx, *self._weights())
