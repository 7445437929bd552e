# Recurrent layers, and single steps of them.


cdef CTensor state_of(object hx, str op, str name) except *:
    """A state: a tensor, or None for zeros."""
    if hx is None:
        return CTensor()
    if isinstance(hx, Tensor):
        return (<Tensor> hx).c
    raise TypeError(f"{op}: {name} is not a tensor; got {type_name(hx)}, expected a Tensor")


cdef int states_of(object hx, str op, CTensor* h, CTensor* c) except -1:
    """The two states of an LSTM: a pair of tensors, or None for zeros."""
    if hx is None:
        return 0
    if not isinstance(hx, (tuple, list)) or len(hx) != 2:
        raise TypeError(f"{op}: hx is no pair; got {type_name(hx)}, expected the hidden and the "
                        "cell state")
    h[0] = state_of(hx[0], op, "hx[0]")
    c[0] = state_of(hx[1], op, "hx[1]")
    return 0


cdef tuple recurrent_layers(str op, const char* name, CRecurrentMode mode, object data,
                            object batch_sizes, object hx, object params, object has_biases,
                            object num_layers, object dropout, object train, object bidirectional,
                            object batch_first):
    cdef Tensor x = input_of(data, op)
    cdef CTensor h, c, sizes
    cdef recurrents.CRecurrentOptions options
    if mode == CRecurrentMode.Lstm:
        states_of(hx, op, &h, &c)
    else:
        h = state_of(hx, op, "hx")
    if batch_sizes is not None:
        sizes = state_of(batch_sizes, op, "batch_sizes")
    options.mode = mode
    options.biases = flag_of(has_biases, op, "has_biases")
    options.layers = as_int(num_layers, op, "num_layers")
    options.dropout = as_float(dropout, op, "dropout")
    options.train = flag_of(train, op, "train")
    options.bidirectional = flag_of(bidirectional, op, "bidirectional")
    options.batch_first = flag_of(batch_first, op, "batch_first")
    if not 0 <= options.dropout <= 1:
        raise ZeroValueError(f"{op}: dropout is no probability; got {dropout}, expected "
                             "0 <= dropout <= 1")
    return wrap_all(recurrents.recurrent(name, x.c, sizes, h, c, as_tensors(params, op, "params"),
                                         options))


def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """Long short-term memory over whole sequences: all layers of :class:`zero.nn.LSTM`.

    For each step, with * element by element::

        i, f, o = sigmoid(W x + b + U h + d)         # each with its part of W, b, U, d
        g = tanh(W x + b + U h + d)
        c = f * c + i * g
        h = o * tanh(c)                              # V (o * tanh(c)) where there is a projection

    Packed sequences come as ``lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout,
    train, bidirectional)``.

    Args:
        input: [steps, batch, features], of floats.
        hx: the first hidden state [layers * directions, batch, out] and cell state
            [layers * directions, batch, hidden]; None for zeros.
        params: for each layer and direction W [4 * hidden, features], U [4 * hidden, out], the
            biases b and d [4 * hidden], and V [out, hidden] if there is a projection. Gates come
            in the order i, f, g, o.
        has_biases: whether the biases are among them.
        num_layers: how many layers.
        dropout: the probability with which what goes from layer to layer is set to 0.
        train: False leaves dropout out.
        bidirectional: whether each layer has a second direction, from the last step to the first.
        batch_first: whether input and output are [batch, steps, features].

    Returns:
        The output [steps, batch, directions * out], and the last hidden and cell state.

    Raises:
        ShapeError: shapes do not fit, or there are no steps.
        DTypeError: the input is not floating point, or the dtypes differ.
        ValueError: there are more or fewer weights.

    Example:
        >>> import zero
        >>> weights = [zero.zeros(4, 1), zero.zeros(4, 1)]
        >>> state = (zero.zeros(1, 1, 1), zero.ones(1, 1, 1))
        >>> x = zero.zeros(2, 1, 1)
        >>> y, h, c = zero.lstm(x, state, weights, False, 1, 0.0, False, False, False)
        >>> c.item()
        0.25

    Source: Hochreiter and Schmidhuber, Long short-term memory, 1997; Gers et al., Learning to
    forget, 2000.
    """
    if isinstance(hx, Tensor):  # packed: each argument but the first is one place further on
        return recurrent_layers("lstm", "lstm", CRecurrentMode.Lstm, input, hx, params, has_biases,
                                num_layers, dropout, train, bidirectional, batch_first, False)
    return recurrent_layers("lstm", "lstm", CRecurrentMode.Lstm, input, None, hx, params,
                            has_biases, num_layers, dropout, train, bidirectional, batch_first)


cdef tuple one_state(str op, const char* name, CRecurrentMode mode, object input, object hx,
                     object params, object has_biases, object num_layers, object dropout,
                     object train, object bidirectional, object batch_first):
    if params is None or isinstance(params, Tensor):  # packed, as in lstm
        return recurrent_layers(op, name, mode, input, hx, params, has_biases, num_layers, dropout,
                                train, bidirectional, batch_first, False)
    return recurrent_layers(op, name, mode, input, None, hx, params, has_biases, num_layers,
                            dropout, train, bidirectional, batch_first)


def gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """Gated recurrent units over whole sequences: all layers of :class:`zero.nn.GRU`.

    For each step, with * element by element::

        r, z = sigmoid(W x + b + U h + d)            # each with its part of W, b, U, d
        n = tanh(W x + b + r * (U h + d))
        h = (1 - z) * n + z * h

    Packed sequences come as ``gru(data, batch_sizes, hx, params, has_biases, num_layers, dropout,
    train, bidirectional)``.

    Args:
        input: [steps, batch, features], of floats.
        hx: the first state [layers * directions, batch, hidden]; None for zeros.
        params: for each layer and direction W [3 * hidden, features], U [3 * hidden, hidden] and
            the biases b and d [3 * hidden]. Gates come in the order r, z, n.
        has_biases: whether the biases are among them.
        num_layers: how many layers.
        dropout: the probability with which what goes from layer to layer is set to 0.
        train: False leaves dropout out.
        bidirectional: whether each layer has a second direction, from the last step to the first.
        batch_first: whether input and output are [batch, steps, features].

    Returns:
        The output [steps, batch, directions * hidden], and the last state.

    Raises:
        ShapeError: shapes do not fit, or there are no steps.
        DTypeError: the input is not floating point, or the dtypes differ.
        ValueError: there are more or fewer weights.

    Example:
        >>> import zero
        >>> weights = [zero.zeros(3, 1), zero.zeros(3, 1)]
        >>> x, h = zero.zeros(2, 1, 1), zero.ones(1, 1, 1)
        >>> zero.gru(x, h, weights, False, 1, 0.0, False, False, False)[0].flatten().tolist()
        [0.5, 0.25]

    Source: Cho et al., Learning phrase representations using RNN encoder-decoder, 2014, with the
    reset gate behind the product.
    """
    return one_state("gru", "gru", CRecurrentMode.Gru, input, hx, params, has_biases, num_layers,
                     dropout, train, bidirectional, batch_first)


def rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """A simple recurrent network over whole sequences: ``h = tanh(W x + b + U h + d)``.

    The arguments are those of `gru`, but that matrices have one gate.

    Example:
        >>> import zero
        >>> weights = [zero.ones(1, 1), zero.zeros(1, 1)]
        >>> y, h = zero.rnn_tanh(zero.zeros(3, 2, 1), None, weights, False, 1, 0.0, False, False,
        ...                      False)
        >>> y.shape, h.shape
        (zero.Size([3, 2, 1]), zero.Size([1, 2, 1]))

    Source: Elman, Finding structure in time, 1990.
    """
    return one_state("rnn_tanh", "rnn_tanh", CRecurrentMode.Tanh, input, hx, params, has_biases,
                     num_layers, dropout, train, bidirectional, batch_first)


def rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    """A simple recurrent network over whole sequences: ``h = max(0, W x + b + U h + d)``.

    The arguments are those of `gru`, but that matrices have one gate.

    Example:
        >>> import zero
        >>> weights = [zero.ones(1, 1), zero.ones(1, 1)]
        >>> zero.rnn_relu(zero.ones(3, 1, 1), None, weights, False, 1, 0.0, False, False,
        ...               False)[0].flatten().tolist()
        [1.0, 2.0, 3.0]
    """
    return one_state("rnn_relu", "rnn_relu", CRecurrentMode.Relu, input, hx, params, has_biases,
                     num_layers, dropout, train, bidirectional, batch_first)


def lstm_cell(Tensor input not None, hx, Tensor w_ih not None, Tensor w_hh not None,
              Tensor b_ih=None, Tensor b_hh=None):
    """One step of an LSTM, see `lstm`.

    Args:
        input: [batch, features] or [features], of floats.
        hx: the hidden and the cell state, each [batch, hidden] or [hidden]; None for zeros.
        w_ih: [4 * hidden, features]; gates in the order i, f, g, o.
        w_hh: [4 * hidden, hidden].
        b_ih: [4 * hidden], or None.
        b_hh: likewise, with the other.

    Returns:
        The next hidden and cell state.

    Raises:
        ShapeError: shapes do not fit.
        DTypeError: the input is not floating point, or the dtypes differ.

    Example:
        >>> import zero
        >>> state = (zero.zeros(1, 2), zero.ones(1, 2))
        >>> h, c = zero.lstm_cell(zero.zeros(1, 3), state, zero.zeros(8, 3), zero.zeros(8, 2))
        >>> c.tolist()
        [[0.5, 0.5]]
    """
    cdef CTensor h, c
    states_of(hx, "lstm_cell", &h, &c)
    return wrap_all(recurrents.recurrent_cell(
        "lstm_cell", CRecurrentMode.Lstm, input.c, h, c, w_ih.c, w_hh.c, given_or_none(b_ih)[0],
        given_or_none(b_hh)[0]))


cdef object one_step(const char* name, CRecurrentMode mode, Tensor input, Tensor hx, Tensor w_ih,
                     Tensor w_hh, Tensor b_ih, Tensor b_hh):
    return wrap(recurrents.recurrent_cell(
        name, mode, input.c, given_or_none(hx)[0], CTensor(), w_ih.c, w_hh.c,
        given_or_none(b_ih)[0], given_or_none(b_hh)[0])[0])


def gru_cell(Tensor input not None, Tensor hx, Tensor w_ih not None, Tensor w_hh not None,
             Tensor b_ih=None, Tensor b_hh=None):
    """One step of gated recurrent units, see `gru`.

    Args:
        input: [batch, features] or [features], of floats.
        hx: the state, [batch, hidden] or [hidden]; None for zeros.
        w_ih: [3 * hidden, features]; gates in the order r, z, n.
        w_hh: [3 * hidden, hidden].
        b_ih: [3 * hidden], or None.
        b_hh: likewise, with the other.

    Returns:
        The next state.

    Raises:
        ShapeError: shapes do not fit.
        DTypeError: the input is not floating point, or the dtypes differ.

    Example:
        >>> import zero
        >>> h = zero.gru_cell(zero.zeros(1, 3), zero.ones(1, 2), zero.zeros(6, 3), zero.zeros(6, 2))
        >>> h.tolist()
        [[0.5, 0.5]]
    """
    return one_step("gru_cell", CRecurrentMode.Gru, input, hx, w_ih, w_hh, b_ih, b_hh)


def rnn_tanh_cell(Tensor input not None, Tensor hx, Tensor w_ih not None, Tensor w_hh not None,
                  Tensor b_ih=None, Tensor b_hh=None):
    """One step of a simple recurrent network, ``tanh(w_ih x + b_ih + w_hh h + b_hh)``.

    The arguments are those of `gru_cell`, but that matrices have one gate.

    Example:
        >>> import zero
        >>> zero.rnn_tanh_cell(zero.zeros(1, 3), zero.zeros(1, 2), zero.ones(2, 3),
        ...                    zero.ones(2, 2)).tolist()
        [[0.0, 0.0]]
    """
    return one_step("rnn_tanh_cell", CRecurrentMode.Tanh, input, hx, w_ih, w_hh, b_ih, b_hh)


def rnn_relu_cell(Tensor input not None, Tensor hx, Tensor w_ih not None, Tensor w_hh not None,
                  Tensor b_ih=None, Tensor b_hh=None):
    """One step of a simple recurrent network, ``max(0, w_ih x + b_ih + w_hh h + b_hh)``.

    The arguments are those of `gru_cell`, but that matrices have one gate.

    Example:
        >>> import zero
        >>> zero.rnn_relu_cell(zero.ones(1, 3), zero.ones(1, 2), zero.ones(2, 3),
        ...                    zero.ones(2, 2)).tolist()
        [[5.0, 5.0]]
    """
    return one_step("rnn_relu_cell", CRecurrentMode.Relu, input, hx, w_ih, w_hh, b_ih, b_hh)
