"""The entries of op_db for recurrent layers, and the layers in NumPy, row by row."""

import functools

import numpy as np

import zero
from zero.errors import DTypeError, ShapeError

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


def step(mode, x, h, c, w_ih, w_hh, b_ih=0.0, b_hh=0.0, w_hr=None):
    """One step of one sequence, or of a batch; c of an LSTM."""
    a, b = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    if mode == "lstm":
        i, f, g, o = np.split(a + b, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        return (h if w_hr is None else h @ w_hr.T), c
    if mode == "gru":
        (ar, az, an), (br, bz, bn) = np.split(a, 3, -1), np.split(b, 3, -1)
        z = sigmoid(az + bz)
        return (1 - z) * np.tanh(an + sigmoid(ar + br) * bn) + z * h, c
    return (np.tanh(a + b) if mode == "rnn_tanh" else np.maximum(a + b, 0)), c


def layers(mode, x, hx, weights, biases, num_layers, bidirectional, lengths=None):
    """x [T, B, in]; hx a pair or a tensor, or None; lengths of the sequences, or all T steps.

    The output [T, B, …], 0 behind the ends, and the last states, as zero's functions give them.
    """
    steps, batch = x.shape[:2]
    directions = 2 if bidirectional else 1
    each = len(weights) // (num_layers * directions)
    states = hx if isinstance(hx, list | tuple) else (hx, None)
    h_n, c_n = [], []
    for layer in range(num_layers):
        outs = []
        for k in range(directions):
            cell = layer * directions + k
            w = list(weights[cell * each : (cell + 1) * each])
            if not biases:
                w[2:2] = [0.0, 0.0]
            out, hidden = w[1].shape[1], w[0].shape[0] // GATES[mode]
            y = np.zeros((steps, batch, out))
            last_h, last_c = np.zeros((batch, out)), np.zeros((batch, hidden))
            for b in range(batch):
                h = np.zeros(out) if states[0] is None else states[0][cell, b]
                c = np.zeros(hidden) if states[1] is None else states[1][cell, b]
                times = range(steps if lengths is None else lengths[b])
                for t in reversed(times) if k == 1 else times:
                    h, c = step(mode, x[t, b], h, c, *w)
                    y[t, b] = h
                last_h[b], last_c[b] = h, c
            outs.append(y)
            h_n.append(last_h)
            c_n.append(last_c)
        x = np.concatenate(outs, -1)
    results = [x, np.stack(h_n)]
    return results + [np.stack(c_n)] if mode == "lstm" else results


def add_entries(db):
    """Registers the entries by way of op_db's own functions and classes."""
    S = db.Sample

    def A(*shape):
        return db.Arg(shape, -1.0, 1.0)

    def weights(mode, size, hidden, cells=(0,), bias=True, proj=0, directions=1):
        out, found = proj or hidden, []
        rows = GATES[mode] * hidden
        for cell in cells:
            found += [A(rows, size if cell < directions else directions * out), A(rows, out)]
            found += [A(rows), A(rows)] if bias else []
            found += [A(proj, hidden)] if proj else []
        return found

    def states(mode, cells, batch, hidden, out=None):
        h = A(cells, batch, out or hidden)
        return (h, A(cells, batch, hidden)) if mode == "lstm" else h

    # Sums of a few products of numbers up to 1, a few steps of them, and functions with slopes up
    # to 1.
    options = {"tol": 32, "scale": lambda *args, **kwargs: 1.0, "special": False}
    for mode in GATES:

        def ref(x, hx, params, biases, num_layers, dropout, train, both, first, mode=mode):
            if first:
                x = x.swapaxes(0, 1)
            results = layers(mode, x, hx, params, biases, num_layers, both)
            return [results[0].swapaxes(0, 1), *results[1:]] if first else results

        def wrong(*args, mode=mode):
            return S(*args, 1, 0.0, True, False, False)

        hx = states(mode, 1, 2, 3)
        plain = (True, 1, 0.0, True, False, False)
        db.op(
            mode,
            getattr(zero, mode),
            ref,
            [
                S(A(2, 1, 1), states(mode, 1, 1, 1), weights(mode, 1, 1), *plain),
                S(A(3, 2, 4), hx, weights(mode, 4, 3), *plain),
                S(A(1, 2, 4), hx, weights(mode, 4, 3), *plain),
                S(A(3, 2, 4), None, weights(mode, 4, 3), *plain),
                S(A(3, 0, 4), None, weights(mode, 4, 3), *plain),
                S(A(2, 3, 4), hx, weights(mode, 4, 3), True, 1, 0.0, True, False, True),
                S(
                    A(2, 2, 2),
                    states(mode, 4, 2, 2),
                    weights(mode, 2, 2, range(4), False, 0, 2),
                    *(False, 2, 0.0, True, True, False),
                ),
                *(
                    [
                        S(
                            A(2, 2, 2),
                            states(mode, 2, 2, 3, 2),
                            weights(mode, 2, 3, range(2), True, 2, 2),
                            *(True, 1, 0.0, True, True, False),
                        )
                    ]
                    if mode == "lstm"
                    else []
                ),
            ],
            big=S(A(5, 40, 30), None, weights(mode, 30, 70), *plain),
            sized=lambda n, mode=mode, plain=plain: (
                [S(A(5, 7, 3), states(mode, 1, 7, n), weights(mode, 3, n), *plain)]
                if n < 500 and mode != "rnn_relu"  # sums that grow from step to step
                else []
            ),
            errors=(
                (wrong(A(2, 4), hx, weights(mode, 4, 3), True), ShapeError, "dimensions"),
                (wrong(A(0, 2, 4), hx, weights(mode, 4, 3), True), ShapeError, "steps"),
                (wrong(A(3, 2, 5), hx, weights(mode, 4, 3), True), ShapeError, "size(-1) == 4"),
                (
                    wrong(A(3, 5, 4), hx, weights(mode, 4, 3), True),
                    ShapeError,
                    "hidden state does not fit",
                ),
                (wrong(A(3, 2, 4), hx, weights(mode, 4, 3)[:3], True), ValueError, "number of"),
                (wrong(A(3, 2, 4), hx, weights(mode, 4, 3), False), ValueError, "number of")
                if mode != "lstm"
                else (wrong(A(3, 2, 4), A(1), weights(mode, 4, 3), True), TypeError, ""),
                (
                    wrong(db.Arg((3, 2, 4), dtype="int64"), hx, weights(mode, 4, 3), True),
                    DTypeError,
                    "floating point",
                ),
                (
                    S(A(3, 2, 4), hx, weights(mode, 4, 3), True, 1, 2.0, True, False, False),
                    ValueError,
                    "probability",
                ),
            ),
            **options,
        )

        def cell_ref(x, hx, *w, mode=mode):
            h, c = hx if mode == "lstm" else (hx, None)
            results = step(mode, x, h, c, *w)
            return results if mode == "lstm" else results[0]

        def both(*shape, mode=mode):
            return (A(*shape), A(*shape)) if mode == "lstm" else A(*shape)

        db.op(
            f"{mode}_cell",
            getattr(zero, f"{mode}_cell"),
            cell_ref,
            [
                S(A(2, 1), both(2, 1), *weights(mode, 1, 1)),
                S(A(2, 4), both(2, 3), *weights(mode, 4, 3)),
                S(A(2, 4), both(2, 3), *weights(mode, 4, 3, bias=False)),
                S(A(4), both(3), *weights(mode, 4, 3)),
                S(A(0, 4), both(0, 3), *weights(mode, 4, 3)),
            ],
            big=S(A(200, 30), both(200, 70), *weights(mode, 30, 70)),
            sized=functools.partial(
                lambda n, mode, both: (
                    [S(A(3, 2), both(3, n), *weights(mode, 2, n))] if n < 500 else []
                ),
                mode=mode,
                both=both,
            ),
            errors=(
                (S(A(1, 2, 4), both(2, 3), *weights(mode, 4, 3)), ShapeError, "dimensions"),
                (S(A(2, 5), both(2, 3), *weights(mode, 4, 3)), ShapeError, "size(-1) == 4"),
                (S(A(2, 4), both(1, 3), *weights(mode, 4, 3)), ShapeError, "does not fit"),
                (S(A(2, 4), both(2, 3), *weights(mode, 4, 3)[:3]), ValueError, "one bias"),
            ),
            **options,
        )
