"""vmap against loops over the samples: every operator of op_db, and how it is called."""

import itertools
import threading

import numpy as np
import op_db
import pytest
from op_db import OPS, tensors_in

import zero
from zero.func import (
    functional_call,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)

SIZE = 3
# What depends on the values of a sample is refused: always, or for some arguments.
SIZES, VALUE = "vmap: the size of the result", "needs the value of one sample"
REFUSED = {
    **dict.fromkeys("masked_select nonzero unique unique_consecutive argwhere".split(), SIZES),
    **dict.fromkeys("bincount nonzero_static".split(), SIZES),
    **dict.fromkeys("equal histogramdd".split(), VALUE),
}
REFUSED_FOR_SOME = {
    "index_mask": SIZES,
    "repeat_interleave_counts": SIZES,
    "batch_norm": "batch_norm in training, with running statistics, would write",
    "histogram": VALUE,
    "copy_": "copy_ would write a value for each sample",
}


@pytest.fixture(autouse=True)
def same_random_numbers():
    zero.manual_seed(0)


def batches(op, sample, dtype):
    """The arguments of SIZE calls, and how many tensors there are in each."""
    calls = [op_db.make(sample, dtype, seed=seed)[0] for seed in range(SIZE)]
    return calls, len(tensors_in(calls[0]))


def stacked(calls, chosen, dim):
    """One call of a batch: args and kwargs, and in_dims for the tensors in them."""
    left = iter(range(10**6))
    dims, tensors = [], []

    def one(values):
        first = values[0]
        if isinstance(first, zero.Tensor):
            if next(left) not in chosen:
                dims.append(None)
                tensors.append(first)
            else:
                at = dim % (first.ndim + 1)
                dims.append(at)
                tensors.append(zero.stack(values, at))
            return None
        if isinstance(first, list | tuple):
            for parts in zip(*values, strict=True):
                one(parts)
        elif isinstance(first, dict):
            for key in first:
                one([v[key] for v in values])
        return None

    one(calls)
    return tensors, tuple(dims)


def put(x, left):
    if isinstance(x, zero.Tensor):
        return next(left)
    if isinstance(x, list | tuple):
        return type(x)([put(v, left) for v in x])
    return {k: put(v, left) for k, v in x.items()} if isinstance(x, dict) else x


def check(op, sample, dtype, chosen, dim, run=vmap):
    calls, _ = batches(op, sample, dtype)
    tensors, in_dims = stacked(calls, chosen, dim)

    def f(*tensors):
        args, kwargs = put(calls[0], iter(tensors))
        return tuple(op_db.outputs(op.fn(*args, **kwargs)))

    found = run(f, in_dims=in_dims)(*tensors)
    rows = []
    for i in range(SIZE):
        parts = [t if d is None else t.select(d, i) for t, d in zip(tensors, in_dims, strict=True)]
        rows.append(f(*parts))
    expected = [zero.stack(ys) for ys in zip(*rows, strict=True)]
    assert len(found) == len(expected)
    for y, e in zip(found, expected, strict=True):
        where = f"{op.name}{sample} {dtype} {in_dims}"
        assert y.shape == e.shape and y.dtype == e.dtype, where
        eps = op_db.EPS.get(op_db.name_of(dtype and e.dtype), 0)
        scale = float(e.double().abs().nan_to_num(0, 0, 0).max()) if e.numel() else 0.0
        np.testing.assert_allclose(
            op_db.exact(y), op_db.exact(e), rtol=64 * eps, atol=64 * eps * scale, err_msg=where
        )


def samples_of(op):
    return [s for s in op.samples if s.tensors() and s.numel() <= 4000]


def dtype_of(op):
    return next(d for d in ("float64", "float32", "int64", "bool", *op.dtypes) if d in op.dtypes)


@pytest.mark.parametrize("op", OPS.values(), ids=OPS.keys())
def test_operators(op):
    dtype, refused = dtype_of(op), 0
    for sample in samples_of(op):
        _, n = batches(op, sample, dtype)
        for chosen, dim in (
            (set(range(n)), 0),
            *(({i}, -1) for i in range(n)),
        ):
            if op.name in REFUSED:
                with pytest.raises(RuntimeError, match=REFUSED[op.name]):
                    check(op, sample, dtype, chosen, dim)
            elif op.name in REFUSED_FOR_SOME:
                refused += refused_call(op, sample, dtype, chosen, dim)
            else:
                check(op, sample, dtype, chosen, dim)
    assert refused or op.name not in REFUSED_FOR_SOME


def refused_call(op, sample, dtype, chosen, dim):
    try:
        check(op, sample, dtype, chosen, dim)
    except RuntimeError as error:
        assert REFUSED_FOR_SOME[op.name] in str(error)
        return 1
    return 0


# ---- several levels ------------------------------------------------------------------------------
SOME = [op for name, op in OPS.items() if name not in REFUSED and name not in REFUSED_FOR_SOME]


@pytest.mark.parametrize("op", SOME, ids=[op.name for op in SOME])
def test_operators_in_two_vmaps(op):
    """An outer batch of each tensor, and an inner one of the first tensor alone."""
    dtype = dtype_of(op)
    sample = min(samples_of(op), key=lambda s: abs(s.numel() - 12))
    calls, n = batches(op, sample, dtype)
    tensors, _ = stacked(calls, set(range(n)), 0)
    twice = [zero.stack([t, t.flip(0)]) for t in tensors[:1]] + tensors[1:]

    def f(*tensors):
        args, kwargs = put(calls[0], iter(tensors))
        return tuple(op_db.outputs(op.fn(*args, **kwargs)))

    inner = (0, *(None,) * (n - 1))
    found = vmap(vmap(f, in_dims=inner), in_dims=(1, *(0,) * (n - 1)))(*twice)
    for i in range(SIZE):
        for j in range(2):
            expected = f(twice[0][j, i], *(t[i] for t in tensors[1:]))
            for y, e in zip(found, expected, strict=True):
                assert y[i, j].shape == e.shape and y.dtype == e.dtype
                eps = op_db.EPS.get(op_db.name_of(e.dtype), 0)
                scale = float(e.double().abs().nan_to_num(0, 0, 0).max()) if e.numel() else 0.0
                np.testing.assert_allclose(
                    op_db.exact(y[i, j]), op_db.exact(e), rtol=64 * eps, atol=64 * eps * scale
                )


graded = [op for op in SOME if op.grad and "float64" in op.dtypes]


@pytest.mark.parametrize("op", graded, ids=[op.name for op in graded])
def test_gradients_of_each_sample(op):
    """vmap(grad(f)) against grad(f) of the samples, for what is batched and what is not."""
    sample = min(samples_of(op), key=lambda s: abs(s.numel() - 12))
    calls, n = batches(op, sample, "float64")
    wanted = [i for i, a in enumerate(sample.tensors()) if a.grad and a.dtype is None]
    if not wanted:
        pytest.skip("no tensor to differentiate by")
    first = tensors_in(calls[0])

    def loss(parts, rest):
        rest = iter(rest)
        left = iter([parts[wanted.index(i)] if i in wanted else next(rest) for i in range(n)])
        args, kwargs = put(calls[0], left)
        total = 0.0
        for y in op_db.outputs(op.fn(*args, **kwargs)):
            if y.is_floating_point() and y.requires_grad:
                total = total + (y * zero.arange(y.numel()).reshape(y.shape).cos()).sum()
        return total

    for chosen in (set(range(n)), {wanted[0]}):
        if op.name == "batch_norm" and len(chosen) < n:
            continue
        batch = [zero.stack([tensors_in(c)[i] for c in calls]) for i in range(n)]
        x = [batch[i] if i in chosen else first[i] for i in range(n)]
        dims = [0 if i in chosen else None for i in range(n)]
        split = lambda v: ([v[i] for i in wanted], [v[i] for i in range(n) if i not in wanted])
        found = vmap(grad(loss), in_dims=tuple(split(dims)))(*split(x))
        for k in range(SIZE):
            one = grad(loss)(*split([t[k] if d == 0 else t for t, d in zip(x, dims, strict=True)]))
            for y, e in zip(found, one, strict=True):
                np.testing.assert_allclose(
                    y[k].numpy(), e.numpy(), rtol=1e-9, atol=1e-9, err_msg=str(sample)
                )


# ---- the call ------------------------------------------------------------------------------------
X = zero.arange(6.0).reshape(2, 3)


def test_in_and_out_dims():
    assert vmap(lambda x: x.sum(), in_dims=-1)(X).tolist() == [3, 5, 7]
    assert vmap(zero.dot, in_dims=(0, None))(X, X[1]).tolist() == [14, 50]
    assert vmap(zero.dot, in_dims=(0, 1))(X, X.t()).tolist() == [5, 50]
    assert vmap(lambda x: x, out_dims=1)(X).tolist() == X.t().tolist()
    assert vmap(lambda x: x, out_dims=(-1,))(X).tolist() == X.t().tolist()
    a, b = vmap(lambda x: (x, x + 1), out_dims=(0, 1))(X)
    assert a.tolist() == X.tolist() and b.tolist() == (X + 1).t().tolist()
    tree = vmap(lambda d, y: {"s": d["x"][0] + y, "l": [y]}, in_dims=({"x": [0]}, None))
    found = tree({"x": [X]}, zero.ones(3))
    assert found["s"].tolist() == (X + 1).tolist() and found["l"][0].tolist() == [[1] * 3] * 2
    assert vmap(lambda x, k: x * k, in_dims=(0, None))(X, 2.0).tolist() == (X * 2).tolist()
    assert vmap(lambda x, k=None: x * k)(X, k=X[1]).tolist() == (X * X[1]).tolist()
    same, count = vmap(lambda x: (zero.ones(2), 3), out_dims=None)(X)
    assert same.tolist() == [1, 1] and count == 3
    assert vmap(lambda x: zero.ones(2), out_dims=1)(X).shape == (2, 2)
    assert vmap(lambda x: x.sum())(zero.ones(0, 3)).shape == (0,)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: vmap(lambda x: x, in_dims=None)(X), ValueError, "neither an int nor a tuple"),
        (lambda: vmap(lambda x: x, in_dims=[0])(X), ValueError, "neither an int nor a tuple"),
        (lambda: vmap(lambda x: x, in_dims=(0, 0))(X), ValueError, "structure of the arguments"),
        (lambda: vmap(lambda x: x, in_dims=(None,))(X), ValueError, "nothing has samples"),
        (lambda: vmap(lambda x: x, in_dims=2)(X), ValueError, r"got 2 for a tensor of .* \(2, 3\)"),
        (lambda: vmap(lambda x: x, in_dims=("0",))(X), ValueError, "neither an int nor None"),
        (lambda: vmap(lambda: 1)(), ValueError, "got no arguments"),
        (lambda: vmap(lambda x, y: x)(X, 3), ValueError, "only tensors have samples"),
        (lambda: vmap(lambda x, y: x)(X, zero.ones(3)), ValueError, "numbers of samples; got 2, 3"),
        (lambda: vmap(lambda x: 1.0)(X), ValueError, "must return tensors; got float"),
        (lambda: vmap(lambda x: None)(X), ValueError, "must return tensors; got NoneType"),
        (lambda: vmap(lambda x: x, out_dims=None)(X), ValueError, "output differs between samples"),
        (lambda: vmap(lambda x: x, out_dims=5)(X), IndexError, "out_dims is out of range; got 5"),
        (lambda: vmap(lambda x: (x, x), out_dims=(0,) * 3)(X), ValueError, "of the outputs"),
        (lambda: vmap(lambda x: x, randomness="other"), RuntimeError, "no such randomness"),
        (lambda: vmap(lambda x: x, chunk_size=0), ValueError, "chunk_size is no positive int"),
    ],
)
def test_wrong_calls(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_chunks():
    sizes = []

    def f(x, y):
        sizes.append(zero.func.debug_unwrap(x).shape[0])
        return x * y, zero.ones(2)

    x = zero.arange(20.0).reshape(2, 10)
    for chunk, wanted in ((1, [1] * 10), (4, [4, 4, 2]), (10, [10]), (11, [10])):
        sizes.clear()
        y, ones = vmap(f, in_dims=(1, None), out_dims=(1, None), chunk_size=chunk)(x, x[:, 0])
        assert y.tolist() == (x * x[:, :1]).tolist() and ones.tolist() == [1, 1]
        assert sizes == wanted


# ---- what is refused -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: x if x.sum() > 0 else -x, "the truth value of a tensor"),
        (lambda x: x[0].item() + x, r"item\(\) needs the value of one sample"),
        (lambda x: x * float(x[0]), r"float\(\) needs"),
        (lambda x: x[: x[0].long()], "a tensor for an int"),
        (lambda x: x + x.tolist()[0], r"tolist\(\) needs"),
        (lambda x: x * x.numpy(), r"numpy\(\) needs"),
        (lambda x: np.asarray(x), "NumPy needs"),
        (lambda x: x * (1.0 in x), "'in' needs"),
        (lambda x: x + x.data_ptr(), r"data_ptr\(\) needs"),
        (lambda x: x + zero.allclose(x, x), "allclose needs"),
        (lambda x: x[x > 1], SIZES.replace("the result", "the result of indexing by a mask")),
        (lambda x: zero.where(x > 1)[0], "lists places"),
        (lambda x: zero.zeros(3).add_(x), "add_ would write a value for each sample"),
        (lambda x: zero.zeros(3).__setitem__(0, x[0]), "would write a value for each sample"),
        (lambda x: zero.add(x, x, out=zero.empty(3)), "add with out= is not supported"),
        (lambda x: x.clone().unsqueeze_(0), "unsqueeze_ is not supported"),
        (lambda x: x.requires_grad_(), "use zero.func.grad"),
        (lambda x: zero.autograd.grad(x.sum(), x), "use zero.func.grad"),
        (lambda x: x.sum().backward(), "use zero.func.grad"),
        (lambda x: zero.full((2,), x[0]).nonzero(), SIZES),
        (lambda x: zero.nn.Parameter(x) * 2, "Parameter takes no tensor that stands for a batch"),
        (lambda x: x * np.add(x, 1), "NumPy needs"),
        (lambda x: zero.from_dlpack(x), "DLPack needs"),
    ],
)
def test_what_needs_one_sample_is_refused(f, words):
    with pytest.raises(RuntimeError, match=words):
        vmap(f)(X)


def test_buffers_give_no_sample():
    for reader in (memoryview, bytes):
        with pytest.raises((RuntimeError, BufferError, TypeError)):
            vmap(lambda x, read=reader: (read(x), x)[1])(X)


def test_errors_speak_of_samples():
    with pytest.raises(zero.errors.ShapeError, match=r"got a \(3,\) and b \(4,\)"):
        vmap(lambda x: x @ zero.ones(4))(X)
    with pytest.raises(IndexError, match="got 1, expected -1 to 0"):
        vmap(lambda x: x.sum(1))(X)
    with pytest.raises(IndexError, match="got -2, expected -1 to 0"):
        vmap(lambda x: x.softmax(-2))(X)
    with pytest.raises(zero.errors.ShapeError, match=r"\(3,\) and \(2,\)"):
        vmap(lambda x: x + zero.ones(2))(X)
    with pytest.raises(IndexError, match="too many indices"):
        vmap(lambda x: x[0, 0])(X)
    with pytest.raises(RuntimeError, match=r"add: the result does not fit .* got \(3,\)"):
        vmap(lambda x: x.clone().add_(zero.ones(2, 3)))(X)


def test_samples_that_escape_are_refused():
    kept = []
    vmap(lambda x: (kept.append(x), x)[1])(X)
    with pytest.raises(RuntimeError, match="a call that has ended"):
        vmap(lambda x: x + kept[0])(X)
    with pytest.raises(RuntimeError):
        kept[0].item()
    assert (kept[0] + 1).device.type == "meta"  # no numbers of a sample

    with pytest.raises(RuntimeError, match="a call that has ended"):
        vmap(lambda x: (vmap(lambda y: (kept.append(y), y)[1])(x), kept[-1])[1])(X)


def test_what_a_sample_says_of_itself():
    def f(x):
        assert isinstance(x, zero.Tensor) and x.shape == (3, 4) and x.ndim == 2 and len(x) == 3
        assert x.dtype is zero.float32 and x.device.type == "cpu" and not x.is_meta
        assert x.numel() == 12 and x.size(0) == 3 and x.element_size() == 4
        assert x.stride() == (4, 1) and x.stride(0) == 4 and x.is_contiguous()
        assert not x.t().is_contiguous() and not x.requires_grad and x.grad_fn is None
        assert repr(x).startswith("BatchedTensor(depth=1, batch=tensor(") and f"{x}" == repr(x)
        assert [row.shape for row in x] == [(4,)] * 3
        assert x.T.shape == x.mT.shape == x.H.shape == (4, 3) and x.data.shape == (3, 4)
        assert zero.is_floating_point(x) and zero.result_type(x, 1) is zero.float32
        a, b, c = x
        return x.type_as(x) + a + b + c

    x = zero.randn(5, 3, 4)
    assert zero.allclose(vmap(f)(x), x + x.sum(1, keepdim=True), atol=1e-5)


# ---- writes --------------------------------------------------------------------------------------
def test_writes_to_samples():
    def f(x, i):
        y = x.new_zeros(4)
        y[0] = x.sum()
        y[1:3] += x[:2]
        y[i] = 9
        y[3] = y[0]
        x *= 2
        return y

    x, i = X.clone(), zero.tensor([0, 2])
    assert vmap(f)(x, i).tolist() == [[9, 0, 1, 9], [12, 3, 9, 12]]
    assert x.tolist() == (X * 2).tolist()  # as in a loop


def test_masks_for_each_sample():
    def f(x, m):
        y = x.clone()
        y[m] = 0
        z = x.clone()
        z[m] = x[0]
        return y, z, x.masked_fill(m, x[1])

    m = zero.tensor([[True, False, True], [False, False, True]])
    y, z, w = vmap(f)(X, m)
    assert y.tolist() == [[0, 1, 0], [3, 4, 0]] and z.tolist() == [[0, 1, 0], [3, 4, 3]]
    assert w.tolist() == [[1, 1, 1], [3, 4, 4]]
    with pytest.raises(RuntimeError, match="how many values go"):
        vmap(lambda x, m: x.clone().index_put_((m,), x[:2]))(X, m)


INDICES = {
    "int": lambda i, j: 1,
    "slices": lambda i, j: (slice(None), slice(0, 2), None, -1),
    "ellipsis": lambda i, j: (..., 0),
    "one": lambda i, j: i,
    "behind": lambda i, j: (slice(None), i),
    "two": lambda i, j: (i, j),
    "apart": lambda i, j: (i, slice(None), j),
    "with none": lambda i, j: (i, None, j),
    "with an int": lambda i, j: (0, i, j),
    "rows and columns": lambda i, j: (i[:, None], j),
    "a list": lambda i, j: (slice(1, 3), [0, 1], i),
    "numbers": lambda i, j: (i[0], slice(None), j[0]),
    "a mask": lambda i, j: (zero.tensor([True, False, True]), i),
}


# Which of i and j each index uses.
USES = {
    f: "" if n < 3 else "i" if n in (3, 4, 10, 12) else "ij" for n, f in enumerate(INDICES.values())
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES.keys())
def test_indices(index):
    x = zero.randn(4, 3, 3, 3)
    i, j = zero.randint(-3, 3, (4, 2)), zero.randint(0, 3, (4, 2))

    def read(x, i, j):
        return x[index(i, j)]

    def write(x, i, j):
        y = x.clone()
        y[index(i, j)] = y[index(i, j)] * 2 + 1
        y[index(i, j)] = 5.0
        return y

    used = [k for k, name in ((1, "i"), (2, "j")) if name in USES[index]]
    for f in (read, write):
        for dims in ((0, 0, 0), (0, None, None), (None, 0, 0), (None, None, 0), (0, 0, None)):
            if f is write and dims[0] is None:
                continue
            args = [a if d == 0 else a[0] for a, d in zip((x, i, j), dims, strict=True)]
            if dims[0] is None and not any(dims[k] == 0 for k in used):
                continue
            found = vmap(f, in_dims=dims)(*args)
            for k in range(4):
                one = f(*(a[k] if d == 0 else a for a, d in zip(args, dims, strict=True)))
                assert found[k].tolist() == one.tolist()


def test_dtypes_of_numbers():
    """A batch of 0-d tensors counts for promotion as 0-d tensors do."""
    f32, f64, ints = zero.ones(2, 3), zero.ones(2, dtype=zero.float64), zero.ones(2, 3).long()
    for f in (
        lambda x, s: x * s,
        lambda x, s: zero.where(x > 0, x, s),
        lambda x, s: zero.maximum(s, x) if x.dtype is s.dtype else s - x,
        lambda x, s: zero.lerp(x, x, s) if x.dtype is s.dtype else x / s,
    ):
        for x in (f32, ints):
            for dims in ((0, 0), (0, None), (None, 0)):
                args = [a if d == 0 else a[0] for a, d in zip((x, f64), dims, strict=True)]
                assert vmap(f, in_dims=dims)(*args).dtype is f(x[0], f64[0]).dtype
    assert vmap(lambda x, y: x + y, in_dims=(0, None))(zero.ones(2), f64[0]).dtype is zero.float64


# ---- random numbers ------------------------------------------------------------------------------
DRAWN = {
    "rand": lambda x: zero.rand(4),
    "randn": lambda x: zero.randn((2, 2)),
    "randint": lambda x: zero.randint(0, 1000, (4,)),
    "randint of high": lambda x: zero.randint(1000, (4,)),
    "normal": lambda x: zero.normal(0.0, 1.0, (4,)),
    "randperm": lambda x: zero.randperm(50),
    "rand_like": lambda x: zero.rand_like(x),
    "bernoulli": lambda x: zero.bernoulli(x * 0 + 0.5),
    "dropout": lambda x: zero.nn.functional.dropout(x + 1),
    "feature dropout": lambda x: zero.nn.functional.dropout2d((x + 1).reshape(1, 30, 1, 1)),
    "in place": lambda x: x.clone().normal_(),
    "multinomial": lambda x: zero.multinomial(x * 0 + 1, 20, replacement=True),
    "gumbel": lambda x: zero.nn.functional.gumbel_softmax(x),
    "attention": lambda x: zero.nn.functional.scaled_dot_product_attention(
        *[(x * 0 + zero.arange(30)).reshape(1, 6, 5)] * 3, dropout_p=0.5
    ),
    "lstm": lambda x: LSTM((x * 0 + zero.arange(30)).reshape(5, 6) / 30)[0],
}
LSTM = zero.nn.LSTM(6, 8, 2, dropout=0.5).requires_grad_(False)


@pytest.mark.parametrize("f", DRAWN.values(), ids=DRAWN.keys())
def test_random_numbers(f):
    x = zero.zeros(2, 30)
    with pytest.raises(RuntimeError, match="got randomness='error'"):
        vmap(f)(x)
    a, b = vmap(f, randomness="same")(x)
    assert a.tolist() == b.tolist()
    a, b = vmap(f, randomness="different")(x)
    assert a.tolist() != b.tolist()
    assert len({str(s.tolist()) for s in vmap(vmap(f, randomness="different"),
        randomness="different")(zero.zeros(2, 2, 30)).flatten(0, 1)}) == 4  # fmt: skip
    rows = vmap(vmap(f, randomness="same"), randomness="different")(zero.zeros(2, 2, 30))
    assert rows[0, 0].tolist() == rows[0, 1].tolist() != rows[1, 0].tolist()


def test_same_random_numbers_in_all_chunks():
    y = vmap(lambda x: zero.rand(2), randomness="same", chunk_size=2)(zero.zeros(5))
    assert all(row == y[0].tolist() for row in y.tolist())


def test_random_writes_to_what_is_the_same():
    with pytest.raises(RuntimeError, match="normal_ would write"):
        vmap(lambda x: x + zero.zeros(3).normal_(), randomness="different")(X)
    y = vmap(lambda x: x * 0 + zero.zeros(3).normal_(), randomness="same")(X)
    assert y[0].tolist() == y[1].tolist()
    assert vmap(lambda x: zero.nn.functional.dropout(x, training=False))(X).tolist() == X.tolist()


# ---- with other transforms -----------------------------------------------------------------------
def test_derivatives_inside_and_around():
    x = zero.randn(4, 3, dtype=zero.float64)
    f = lambda x: (x**3).sum()
    for transform, wanted in (
        (grad(f), 3 * x**2),
        (hessian(f), zero.diag_embed(6 * x)),
        (jacrev(zero.sin), zero.diag_embed(x.cos())),
        (jacfwd(zero.sin), zero.diag_embed(x.cos())),
        (jacrev(jacrev(zero.sin)), zero.stack([jacrev(jacrev(zero.sin))(row) for row in x])),
        (lambda x: jvp(zero.sin, (x,), (zero.ones(3, dtype=x.dtype),))[1], x.cos()),
        (lambda x: vjp(zero.sin, x)[1](x)[0], x.cos() * x),
        (lambda x: grad(lambda y: (y * x).sum())(zero.ones(3, dtype=x.dtype)), x),
        (lambda x: grad(lambda y: (x * vmap(lambda z: z * y)(x)).sum())(x).sum(), None),
    ):
        found = vmap(transform)(x)
        expected = zero.stack([transform(row) for row in x]) if wanted is None else wanted
        assert zero.allclose(found, expected)
    outside = jacrev(lambda x: vmap(zero.sin)(x).sum(0))(x)
    assert zero.allclose(outside, jacrev(lambda x: x.sin().sum(0))(x))
    assert zero.allclose(grad(lambda x: vmap(f)(x).sum())(x), 3 * x**2)
    w = zero.randn(3, dtype=zero.float64).requires_grad_()
    vmap(lambda x: (x * w).sum())(x).sum().backward()
    assert zero.allclose(w.grad, x.sum(0))
    per_sample = vmap(grad(lambda w, x: (x * w * w).sum()), in_dims=(None, 0))(w, x)
    assert zero.allclose(per_sample, 2 * w * x)
    assert zero.allclose(zero.autograd.grad(per_sample.sum(), w)[0], 2 * x.sum(0))


def test_vectors_times_a_jacobian():
    x = zero.randn(3, requires_grad=True)
    y = x.sin()
    rows = vmap(lambda v: zero.autograd.grad(y, x, v, retain_graph=True)[0])(zero.eye(3))
    assert zero.allclose(rows, zero.diag(x.cos()).detach())
    _, product = vjp(zero.sin, x.detach())
    assert zero.allclose(vmap(product)(zero.eye(3))[0], zero.diag(x.cos()).detach())


def mlp(*sizes):
    layers = []
    for a, b in itertools.pairwise(sizes):
        layers += [zero.nn.Linear(a, b), zero.nn.Tanh()]
    return zero.nn.Sequential(*layers[:-1])


MODELS = {
    "mlp": (lambda: mlp(6, 8, 4), (6,)),
    "rows": (lambda: mlp(6, 8, 4), (3, 6)),
    "cnn": (
        lambda: zero.nn.Sequential(
            zero.nn.Conv2d(2, 4, 3, padding=1), zero.nn.GroupNorm(2, 4), zero.nn.ReLU(),
            zero.nn.MaxPool2d(2), zero.nn.ConvTranspose2d(4, 3, 2, groups=1), zero.nn.PReLU(3),
            zero.nn.Conv2d(3, 6, 3, groups=3), zero.nn.AdaptiveAvgPool2d(1), zero.nn.Flatten(),
            zero.nn.Linear(6, 4),
        ),
        (1, 2, 6, 6),
    ),
    "lstm": (lambda: zero.nn.LSTM(6, 5, batch_first=True), (1, 4, 6)),
    "cell": (lambda: zero.nn.GRUCell(6, 5), (1, 6)),
    "transformer": (
        lambda: zero.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
        (1, 5, 8),
    ),
    "norms": (
        lambda: zero.nn.Sequential(
            zero.nn.BatchNorm1d(6, track_running_stats=False), zero.nn.LayerNorm(6),
            zero.nn.RMSNorm(6), zero.nn.Bilinear(6, 6, 3) if False else zero.nn.Linear(6, 3),
        ),
        (4, 6),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_models_for_each_sample(name):
    zero.manual_seed(1)
    make, shape = MODELS[name]
    net = make()
    params = {k: v.detach() for k, v in net.named_parameters()}
    x = zero.randn(5, *shape)

    def loss(params, x):
        y = functional_call(net, params, (x,))
        y = y[0] if isinstance(y, tuple) else y
        return (y * zero.arange(y.numel()).reshape(y.shape).cos()).sum()

    found = vmap(grad(loss), in_dims=(None, 0))(params, x)
    for i in range(5):
        for path, g in grad(loss)(params, x[i]).items():
            assert zero.allclose(found[path][i], g, rtol=1e-5, atol=1e-5), path


def test_classification_gradients_equal_a_loop():
    """The case of differential privacy: gradients of each of 256 samples, within 1e-5."""
    zero.manual_seed(0)
    net = mlp(20, 64, 64, 10)
    params = {k: v.detach() for k, v in net.named_parameters()}
    x, target = zero.randn(256, 20), zero.randint(0, 10, (256,))

    def loss(params, x, target):
        scores = functional_call(net, params, (x,))
        return zero.nn.functional.cross_entropy(scores, target)

    found = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, target)
    own = list(net.parameters())
    for i in range(256):
        one = zero.autograd.grad(zero.nn.functional.cross_entropy(net(x[i]), target[i]), own)
        for g, e in zip(found.values(), one, strict=True):
            assert float((g[i] - e).abs().max()) < 1e-5
    assert found["0.weight"].is_contiguous()


def test_models_of_an_ensemble():
    nets = [mlp(4, 5, 2) for _ in range(3)]
    params, buffers = stack_module_state(nets)
    x = zero.randn(7, 4)
    call = lambda params, buffers, x: functional_call(nets[0], (params, buffers), (x,))
    found = vmap(call, in_dims=(0, 0, None))(params, buffers, x)
    for y, net in zip(found, nets, strict=True):
        assert zero.allclose(y, net(x), atol=1e-6)
    found.sum().backward()
    assert params["0.weight"].grad.shape == (3, 5, 4)


def test_running_statistics_of_each_model():
    nets = [zero.nn.BatchNorm1d(3) for _ in range(2)]
    params, buffers = stack_module_state(nets)
    x = zero.randn(2, 8, 3)

    def call(params, buffers, x):
        return functional_call(nets[0], (params, buffers), (x,))

    with pytest.raises(RuntimeError, match="running statistics, would write"):
        vmap(call, in_dims=(None, None, 0))(
            *({k: v[0] for k, v in d.items()} for d in (params, buffers)), x
        )
    y = vmap(call)(params, buffers, x)
    for i, net in enumerate(nets):
        assert zero.allclose(y[i], net(x[i]), atol=1e-6)
        assert zero.allclose(buffers["running_mean"][i], net.running_mean)


class Cube(zero.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * x**2


class OwnRule(Cube):
    calls: list = []

    @staticmethod
    def vmap(info, in_dims, x):
        OwnRule.calls.append((info.batch_size, info.randomness, in_dims))
        return Cube.apply(x), 0


@pytest.mark.parametrize("function", [Cube, OwnRule])
def test_custom_functions(function):
    assert vmap(function.apply)(X).tolist() == (X**3).tolist()
    found = vmap(grad(lambda x: function.apply(x).sum()))(X)
    assert found.tolist() == (3 * X**2).tolist()
    if function is OwnRule:
        assert set(OwnRule.calls) == {(2, "error", (0,))}


# ---- on and off ----------------------------------------------------------------------------------
def test_nothing_is_left_of_it():
    before = zero._vmap_level()
    with pytest.raises(ZeroDivisionError):
        vmap(lambda x: vmap(lambda y: 1 / 0)(x))(X)
    assert zero._vmap_level() is before is None
    assert (X + 1).tolist() == zero.add(X, 1).tolist()
    kept = []
    vmap(lambda x: (kept.append(x), x)[1])(X)
    # Unwatched operators take such a tensor for one without memory.
    assert type(zero.exp(kept[0])) is zero.Tensor and type(kept[0] * 2) is zero.Tensor


def test_with_the_profiler():
    for _ in range(2):
        found = []
        with zero.profiler.profile() as first:
            y = vmap(lambda x: x.exp() * 2)(X)
        assert zero.allclose(y, X.exp() * 2)
        names = [e.name for e in first.events()]
        assert names.count("exp") == 1 and names.count("mul") == 1

        def f(x, found=found):
            profiler = zero.profiler.profile()
            with profiler:
                y = x.exp()
            found.append([e.name for e in profiler.events()].count("exp"))
            return y * 2

        assert zero.allclose(vmap(f)(X), X.exp() * 2) and found == [1]
    assert zero.exp(X).shape == (2, 3)


def test_threads():
    """Each thread has its own levels; others compute meanwhile as ever."""
    errors, stop = [], threading.Event()

    def plain():
        x = zero.rand(3)
        while not stop.is_set():
            if not (x + zero.rand(3)).shape == (3,):
                errors.append("plain")

    def mapped(seed):
        x = zero.arange(12.0).reshape(4, 3) + seed
        for _ in range(40):
            y = vmap(grad(lambda x: (x**2).sum()))(x)
            if y.tolist() != (2 * x).tolist():
                errors.append("mapped")
            try:
                vmap(lambda x: x.item())(x)
            except RuntimeError:
                pass

    workers = [threading.Thread(target=mapped, args=(s,)) for s in range(3)]
    other = threading.Thread(target=plain)
    for t in (other, *workers):
        t.start()
    for t in workers:
        t.join()
    stop.set()
    other.join()
    assert errors == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_same_as_pytorch():
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).normal(size=(3, 4, 4))
    for f in (
        lambda m, x: m.func.vmap(lambda a: a @ a.T, in_dims=2, out_dims=1)(x),
        lambda m, x: m.func.vmap(m.func.jacrev(lambda a: a.sum(0).sin()))(x),
        lambda m, x: m.func.vmap(m.func.hessian(lambda a: (a**3).sum()))(x),
        lambda m, x: m.func.jacfwd(m.func.vmap(lambda a: a.cos().mean()))(x),
        lambda m, x: m.func.vmap(m.func.vmap(lambda a, b: a.cumsum(0) * b, (0, None)), (1, 0))(
            x, x[:, 0, 0].repeat(2)[:4]
        ),
    ):
        np.testing.assert_allclose(
            f(zero, zero.tensor(x)).numpy(),
            f(torch, torch.tensor(x)).numpy(),
            rtol=1e-12,
            atol=1e-12,
        )


def test_distributions():
    def f(loc, x):
        d = zero.distributions.Normal(loc, 2.0, validate_args=True)
        return d.log_prob(x), d.sample(), d.rsample((4,))

    loc, x = zero.tensor([0.0, 100.0]), zero.tensor([1.0, 2.0])
    density, one, four = vmap(f, randomness="different")(loc, x)
    assert zero.allclose(density, zero.distributions.Normal(loc, 2.0).log_prob(x))
    assert one.shape == (2,) and four.shape == (2, 4) and one[1] > 50 > one[0]
    assert len(set(four[0].tolist())) == 4
    with pytest.raises(ValueError, match="parameter scale is outside its set"):
        vmap(lambda s: zero.distributions.Normal(0.0, s, validate_args=True).mean)(-x)
