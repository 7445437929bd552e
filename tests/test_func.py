"""zero.func's derivatives against derivatives written down, and against each other."""

import gc

import pytest

import zero
from zero.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    replace_all_batch_norm_modules_,
    stack_module_state,
    vjp,
    vmap,
)

X = zero.tensor([1.0, 2.0, 3.0])
Y = zero.tensor([4.0, 5.0])


def outer(x, y):
    return x[:, None] * y  # d/dx_k = [i == k] y_j, d/dy_k = x_i [j == k]


def cubes(x):
    return (x**3).sum()


def mixed(x, y):
    return (x * x).sum() * y.sum()


# ---- grad ----------------------------------------------------------------------------------------
def test_grad():
    assert grad(cubes)(X).tolist() == [3, 12, 27]
    assert grad(mixed)(X, Y).tolist() == [18, 36, 54]
    assert grad(mixed, 1)(X, Y).tolist() == [14, 14]
    assert grad(mixed, -1)(X, Y).tolist() == [14, 14]
    by_x, by_y = grad(mixed, (0, 1))(X, Y)
    assert by_x.tolist() == [18, 36, 54] and by_y.tolist() == [14, 14]
    (by_y,) = grad(mixed, argnums=(1,))(X, Y)
    assert by_y.tolist() == [14, 14]


def test_grad_of_trees():
    def f(tree, factor):
        return (tree["a"] * tree["b"][0]).sum() * factor

    found = grad(f)({"a": X, "b": [X, Y]}, factor=2.0)
    assert found["a"].tolist() == [2, 4, 6] and found["b"][0].tolist() == [2, 4, 6]
    assert found["b"][1].tolist() == [0, 0]  # has no part in it


def test_grad_and_value_with_rest():
    g, value = grad_and_value(cubes)(X)
    assert g.tolist() == [3, 12, 27] and value.item() == 36
    assert not value.requires_grad and not g.requires_grad
    g, (value, (rest, word)) = grad_and_value(lambda x: (cubes(x), (x * 2, "word")), has_aux=True)(
        X
    )
    assert value.item() == 36 and rest.tolist() == [2, 4, 6] and word == "word"
    assert not rest.requires_grad
    g, rest = grad(lambda x: (cubes(x), x + 1), has_aux=True)(X)
    assert g.tolist() == [3, 12, 27] and rest.tolist() == [2, 3, 4]


def test_grads_of_grads():
    x = zero.tensor(2.0)
    f = lambda x: x**4
    for wanted in (32, 48, 48, 24, 0):
        f = grad(f)
        assert f(x).item() == wanted
    # The inner one must not differentiate by the outer x.
    assert grad(lambda x: x * grad(lambda y: x + y)(zero.tensor(1.0)))(x).item() == 1
    assert grad(lambda x: x * grad(lambda y: x * y)(zero.tensor(1.0)))(x).item() == 4


def test_derivatives_have_graphs_only_where_there_is_one():
    w = zero.tensor([1.0, 1.0, 1.0], requires_grad=True)
    assert not grad(cubes)(X).requires_grad
    closed = grad(lambda x: (x * x * w).sum())(X)  # by way of w
    closed.sum().backward()
    assert w.grad.tolist() == [2, 4, 6]
    x = X.clone().requires_grad_()
    grad(cubes)(x).sum().backward()
    assert x.grad.tolist() == [6, 12, 18]
    _, value = grad_and_value(cubes)(x)
    assert value.requires_grad
    with zero.no_grad():
        assert not grad(cubes)(x).requires_grad
        assert grad(cubes)(x).tolist() == [3, 12, 27]

    @grad
    def constant(x):
        with zero.no_grad():
            factor = x.sum()
        return (factor * x).sum()

    assert constant(X).tolist() == [6, 6, 6]


def test_arguments_stay_as_they_are():
    x = X.clone()
    grad(cubes)(x)
    assert not x.requires_grad and x.grad is None
    w = X.clone().requires_grad_()
    grad(lambda x: (x * w).sum())(x)
    assert w.grad is None


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: grad(lambda x: x)(X), RuntimeError, "single number; got a tensor of shape .3,."),
        (lambda: grad(lambda x: [x.sum()])(X), RuntimeError, "must return one tensor"),
        (lambda: grad(lambda x: 1.0)(X), ValueError, "not made of tensors; got float"),
        (lambda: grad(cubes, 1)(X), RuntimeError, "names no positional argument; got 1"),
        (lambda: grad(mixed, (0, 0))(X, Y), ValueError, "names an argument twice"),
        (lambda: grad(cubes, "0")(X), TypeError, "neither an int nor a tuple"),
        (lambda: grad(cubes)(2.0), ValueError, "not made of tensors; got float"),
        (lambda: grad(cubes)(zero.tensor([1, 2])), RuntimeError, "functions of floats"),
        (lambda: grad(cubes, has_aux=True)(X), RuntimeError, "a pair of outputs and aux"),
        (lambda: vjp(cubes), RuntimeError, "got no primals"),
        (lambda: vjp(lambda x: x, X)[1](Y), zero.errors.ShapeError, r"got \(2,\) for tensor 0"),
        (lambda: vjp(lambda x: (x, x), X)[1](X), RuntimeError, "another structure"),
        (lambda: jvp(cubes, X, (X,)), ValueError, "primals is no tuple"),
        (lambda: jvp(cubes, (X,), (Y,)), zero.errors.ShapeError, "tangents have another shape"),
        (lambda: jvp(lambda x: X, (X,), (X,), strict=True), RuntimeError, "does not depend"),
        (lambda: jacrev(cubes, chunk_size=0), ValueError, "chunk_size is no positive int; got 0"),
        (lambda: jacrev(lambda x: x.int())(X), RuntimeError, "only outputs of floats"),
        (lambda: jacfwd(cubes, randomness="other"), ValueError, "no such randomness"),
        (lambda: jacfwd(cubes, randomness="different"), NotImplementedError, "one call serves"),
    ],
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


# ---- products ------------------------------------------------------------------------------------
def test_vjp():
    y, product = vjp(outer, X, Y)
    assert y.tolist() == outer(X, Y).tolist()
    v = zero.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    for _ in range(2):  # the graph stays
        by_x, by_y = product(v)
        assert by_x.tolist() == [4, 10, 0] and by_y.tolist() == [1, 4]
    y, product, rest = vjp(lambda x: ({"y": x * x}, "rest"), X, has_aux=True)
    assert product({"y": X})[0].tolist() == [2, 8, 18] and rest == "rest"
    # linear in the vector
    assert grad(lambda v: (product({"y": v})[0] * Y[0]).sum())(X).tolist() == [8, 16, 24]


def test_jvp():
    y, along = jvp(outer, (X, Y), (zero.tensor([1.0, 0, 0]), zero.tensor([0.0, 1])))
    assert y.tolist() == outer(X, Y).tolist()
    assert along.tolist() == [[4, 6], [0, 2], [0, 3]]
    _, (da, db) = jvp(lambda x: (x * x, X), (X,), (X,))
    assert da.tolist() == [2, 8, 18] and db.tolist() == [0, 0, 0]
    *_, rest = jvp(lambda x: (x, "rest"), (X,), (X,), has_aux=True)
    assert rest == "rest"
    second = jvp(lambda x: jvp(lambda x: x**3, (x,), (X,))[1], (X,), (X,))[1]
    assert second.tolist() == [6, 48, 162]
    assert grad(lambda x: jvp(cubes, (x,), (X,))[1])(X).tolist() == [6, 24, 54]
    assert grad(lambda v: jvp(cubes, (X,), (v,))[1])(X).tolist() == [3, 12, 27]


def test_linearize():
    calls = []
    y, derivative = linearize(lambda x: (calls.append(1), x**3)[1], X)
    assert y.tolist() == [1, 8, 27]
    assert derivative(zero.ones(3)).tolist() == [3, 12, 27]
    assert derivative(X).tolist() == [3, 24, 81] and len(calls) == 1


# ---- matrices ------------------------------------------------------------------------------------
@pytest.mark.parametrize("jacobian", [jacrev, jacfwd])
def test_jacobians(jacobian):
    assert jacobian(lambda x: x * x)(X).tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    assert jacobian(cubes)(X).tolist() == [3, 12, 27]
    dx, dy = jacobian(outer, (0, 1))(X, Y)
    assert dx.shape == (3, 2, 3) and dy.shape == (3, 2, 2)
    assert dx[1].tolist() == [[0, 4, 0], [0, 5, 0]] and dy[2].tolist() == [[3, 0], [0, 3]]
    found = jacobian(lambda d: {"sum": d["x"].sum(), "all": d["x"] * 2})({"x": X, "y": Y})
    assert found["sum"]["x"].tolist() == [1, 1, 1]
    assert found["all"]["x"].tolist() == [[2, 0, 0], [0, 2, 0], [0, 0, 2]]
    assert found["all"]["y"].tolist() == [[0, 0]] * 3
    matrix, rest = jacobian(lambda x: (x * x, "rest"), has_aux=True)(X)
    assert matrix[2].tolist() == [0, 0, 6] and rest == "rest"
    assert jacobian(lambda x: x[:0])(X).shape == (0, 3)
    assert jacobian(lambda x: x.sum() + zero.ones(2))(X[:0]).shape == (2, 0)
    assert not jacobian(cubes)(X).requires_grad
    assert jacobian(lambda x: x * x.sum().item())(X).diag().tolist() == [6, 6, 6]  # one call


def test_jacrev_takes_any_chunk_size():
    for size in (1, 2, 100):
        assert jacrev(lambda x: x * x, chunk_size=size)(X).diag().tolist() == [2, 4, 6]


def test_hessians():
    assert hessian(cubes)(X).tolist() == [[6, 0, 0], [0, 12, 0], [0, 0, 18]]
    (xx, xy), (yx, yy) = hessian(mixed, (0, 1))(X, Y)
    assert xx.diag().tolist() == [18, 18, 18] and yy.tolist() == [[0, 0], [0, 0]]
    assert xy.tolist() == [[2, 2], [4, 4], [6, 6]] and yx.tolist() == xy.t().tolist()
    for f in (jacfwd(jacrev(cubes)), jacrev(jacfwd(cubes)), jacfwd(jacfwd(cubes))):
        assert f(X).tolist() == hessian(cubes)(X).tolist()
    assert hessian(lambda x: x**3)(X).shape == (3, 3, 3)
    assert grad(lambda x: hessian(cubes)(x).sum())(X).tolist() == [6, 6, 6]
    assert jacrev(hessian(cubes))(X).sum().item() == 18


def test_jacobians_agree_on_a_network():
    zero.manual_seed(0)
    net = zero.nn.Sequential(
        zero.nn.Linear(4, 5), zero.nn.Tanh(), zero.nn.LayerNorm(5), zero.nn.Linear(5, 3)
    ).double()
    x = zero.randn(4, dtype=zero.float64)
    state = {k: v.detach() for k, v in net.state_dict().items()}
    f = lambda state, x: functional_call(net, state, (x,)).softmax(-1)
    for n in (0, 1):
        rev, fwd = jacrev(f, n)(state, x), jacfwd(f, n)(state, x)
        leaves = zero.utils._pytree.tree_leaves
        for a, b in zip(leaves(rev), leaves(fwd), strict=True):
            assert zero.allclose(a, b, rtol=1e-12, atol=1e-14)
    by_hand = zero.autograd.functional.jacobian(lambda x: f(state, x), x)
    assert zero.allclose(jacrev(f, 1)(state, x), by_hand)


# ---- modules -------------------------------------------------------------------------------------
def test_functional_call():
    layer = zero.nn.Linear(2, 1)
    own = layer.weight
    state = {"weight": zero.ones(1, 2), "bias": zero.ones(1)}
    x = zero.ones(3, 2)
    assert functional_call(layer, state, x).tolist() == [[3], [3], [3]]
    assert functional_call(layer, (state, {}), (x,)).tolist() == [[3], [3], [3]]
    assert layer.weight is own
    found = grad(lambda state: functional_call(layer, state, (x,)).sum())(state)
    assert found["weight"].tolist() == [[3, 3]] and found["bias"].tolist() == [3]
    with pytest.raises(ValueError, match="a path is given twice; got 'bias'"):
        functional_call(layer, [state, {"bias": zero.ones(1)}], x)
    with pytest.raises(ValueError, match="neither a dict nor a sequence of dicts; got str"):
        functional_call(layer, "weight", x)
    with pytest.raises(ValueError, match="missing"):
        functional_call(layer, {"bias": zero.ones(1)}, x, strict=True)


def test_stack_module_state():
    models = [zero.nn.BatchNorm1d(2) for _ in range(3)]
    params, buffers = stack_module_state(models)
    assert params["weight"].shape == (3, 2) and buffers["running_mean"].shape == (3, 2)
    assert params["weight"].is_leaf and params["weight"].requires_grad
    assert not buffers["running_mean"].requires_grad
    with pytest.raises(RuntimeError, match="got no models"):
        stack_module_state([])
    with pytest.raises(RuntimeError, match="training mode and others"):
        stack_module_state([models[0], zero.nn.BatchNorm1d(2).eval()])
    with pytest.raises(RuntimeError, match="several classes; got BatchNorm1d, Linear"):
        stack_module_state([models[0], zero.nn.Linear(2, 2)])
    frozen = zero.nn.BatchNorm1d(2).requires_grad_(False)
    with pytest.raises(RuntimeError, match="'weight' requires grad in some models only"):
        stack_module_state([models[0], frozen])


def test_replaced_batch_norm():
    net = zero.nn.Sequential(zero.nn.Linear(2, 3), zero.nn.BatchNorm1d(3))
    assert replace_all_batch_norm_modules_(net) is net
    assert list(dict(net.named_buffers())) == []
    y = net.eval()(zero.randn(50, 2))
    assert zero.allclose(y.mean(0), zero.zeros(3), atol=1e-6)


def test_calls_leave_no_cycles():
    net = zero.nn.Sequential(zero.nn.Linear(3, 4), zero.nn.Tanh(), zero.nn.Linear(4, 2))
    params = {name: p.detach() for name, p in net.named_parameters()}
    x = zero.randn(5, 3)

    def loss(params, x):
        return functional_call(net, params, (x,)).sum()

    calls = (
        lambda: vmap(grad(loss), (None, 0))(params, x),
        lambda: grad(loss)(params, x),
        lambda: jacrev(lambda x: x * 2)(x[0]),
        lambda: zero.linalg.multi_dot([x, x.T, x, x.T]),
    )
    for call in calls:
        call()
        gc.collect()
        gc.disable()
        try:
            call()
            assert gc.collect() == 0
        finally:
            gc.enable()
