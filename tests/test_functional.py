"""zero.autograd.functional against derivatives written down."""

import pytest

import zero
from zero.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

X = zero.tensor([1.0, 2.0, 3.0])
Y = zero.tensor([4.0, 5.0])


def outer(x, y):
    return x[:, None] * y  # d/dx_k = [i == k] y_j, d/dy_k = x_i [j == k]


def two(x):
    return x * x, x.sum()


def cubes(x):
    return (x**3).sum()


def mixed(x, y):
    return (x * x).sum() * y.sum()


def test_jacobian_of_one():
    assert jacobian(lambda x: x * x, X).tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    assert jacobian(lambda x: x.sum(), X).tolist() == [1, 1, 1]


def test_jacobian_of_several():
    dx, dy = jacobian(outer, (X, Y))
    assert dx.shape == (3, 2, 3) and dy.shape == (3, 2, 2)
    assert dx[1].tolist() == [[0, 4, 0], [0, 5, 0]]
    assert dy[2].tolist() == [[3, 0], [0, 3]]
    square, total = jacobian(two, X)
    assert square[2].tolist() == [0, 0, 6] and total.tolist() == [1, 1, 1]
    ((a,), (b,)) = jacobian(two, (X,))
    assert a[1].tolist() == [0, 4, 0] and b.tolist() == [1, 1, 1]


def test_jacobian_of_nothing():
    assert jacobian(lambda x: x[:0], X).shape == (0, 3)
    assert jacobian(lambda x: zero.ones(2), X).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_products():
    y, left = vjp(outer, (X, Y), zero.ones(3, 2))
    assert y.shape == (3, 2) and left[0].tolist() == [9, 9, 9] and left[1].tolist() == [6, 6]
    y, right = jvp(outer, (X, Y), (zero.ones(3), zero.ones(2)))
    assert right.tolist() == [[5, 6], [6, 7], [7, 8]]  # y_j + x_i
    assert vjp(lambda x: (x * x).sum(), X)[1].tolist() == [2, 4, 6]
    (_, b), (da, db) = jvp(two, X, zero.tensor([1.0, 10.0, 100.0]))
    assert da.tolist() == [2, 40, 600] and db.item() == 111 and b.item() == 6


def test_second_derivatives():
    assert hessian(cubes, X).tolist() == [[6, 0, 0], [0, 12, 0], [0, 0, 18]]
    ((xx, xy), (yx, yy)) = hessian(mixed, (X, Y))
    assert xx[0].tolist() == [18, 0, 0] and xy.tolist() == [[2, 2], [4, 4], [6, 6]]
    assert yx.tolist() == [[2, 4, 6], [2, 4, 6]] and yy.tolist() == [[0, 0], [0, 0]]
    v = zero.tensor([1.0, 10.0, 100.0]), zero.tensor([0.0, 1.0])
    for product in (hvp, vhp):
        value, (px, py) = product(mixed, (X, Y), v)
        assert value.item() == 14 * 9
        assert px.tolist() == [18 + 2, 180 + 4, 1800 + 6]
        assert py.tolist() == [2 + 40 + 600] * 2
        assert product(cubes, X, zero.ones(3))[1].tolist() == [6, 12, 18]
    assert hessian(lambda x: x.sum(), X).tolist() == [[0] * 3] * 3


def test_results_are_recorded_on_request():
    x = zero.tensor([1.0, 2.0], requires_grad=True)
    v = zero.ones(2)
    third = {
        jacobian: lambda f: jacobian(f, x, create_graph=True).sum(),
        hessian: lambda f: hessian(lambda x: f(x).sum(), x, create_graph=True).sum(),
        vjp: lambda f: vjp(f, x, v, create_graph=True)[1].sum(),
        jvp: lambda f: jvp(f, x, v, create_graph=True)[1].sum(),
        hvp: lambda f: hvp(lambda x: f(x).sum(), x, v, create_graph=True)[1].sum(),
        vhp: lambda f: vhp(lambda x: f(x).sum(), x, v, create_graph=True)[1].sum(),
    }
    for op, total in third.items():
        (g,) = zero.autograd.grad(total(lambda x: x**4), x)
        want = [24.0, 48.0] if op in (hessian, hvp, vhp) else [12.0, 48.0]
        assert g.tolist() == pytest.approx(want), op.__name__
    assert not jacobian(lambda x: x**2, x).requires_grad
    with zero.no_grad():
        assert jacobian(lambda x: x**2, x).tolist() == [[2, 0], [0, 4]]
    assert x.grad is None


def test_strict():
    with pytest.raises(RuntimeError, match="jacobian: output 0 does not depend on the inputs"):
        jacobian(lambda x: zero.ones(2), X, strict=True)
    with pytest.raises(RuntimeError, match="vjp: the result does not depend on input 1"):
        vjp(lambda x, y: x.sum(), (X, Y), strict=True)
    with pytest.raises(RuntimeError, match="hessian: the derivative by input 0 does not depend"):
        hessian(lambda x: x.sum(), X, strict=True)
    assert vjp(lambda x, y: x.sum(), (X, Y))[1][1].tolist() == [0, 0]
    assert hessian(cubes, X, strict=True)[0].tolist() == [6, 0, 0]


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_by_rows_and_by_columns(strategy):
    def flat(x):
        return [flat(y) for y in x] if isinstance(x, tuple) else x.tolist()

    options = {"vectorize": True, "strategy": strategy}
    for f, inputs in ((outer, (X, Y)), (lambda x: x * x, X), (two, X), (two, (X,)), (cubes, X)):
        assert flat(jacobian(f, inputs, **options)) == flat(jacobian(f, inputs))
    options = {"vectorize": True, "outer_jacobian_strategy": strategy}
    for f, inputs in ((mixed, (X, Y)), (cubes, X), (cubes, (X,))):
        assert flat(hessian(f, inputs, **options)) == flat(hessian(f, inputs))
    x = X.clone().requires_grad_()
    found = jacobian(lambda x: x**3, x, create_graph=True, vectorize=True, strategy=strategy)
    found.sum().backward()
    assert x.grad.tolist() == [6, 12, 18]
    assert not jacobian(lambda x: x**3, x, vectorize=True, strategy=strategy).requires_grad


def test_refused_arguments():
    for f in (jacobian, hessian):
        with pytest.raises(RuntimeError, match="strict=True and vectorize=True don't go together"):
            f(cubes, X, vectorize=True, strict=True)
    with pytest.raises(NotImplementedError, match="forward-mode is for vectorize=True only"):
        jacobian(cubes, X, strategy="forward-mode")
    with pytest.raises(NotImplementedError, match="forward-mode is for vectorize=True only"):
        hessian(cubes, X, outer_jacobian_strategy="forward-mode")
    with pytest.raises(ValueError, match="no such strategy; got 'sideways'"):
        jacobian(cubes, X, strategy="sideways")
    with pytest.raises(TypeError, match=r"jacobian: inputs\[1\] is not a tensor; got int"):
        jacobian(cubes, (X, 3))
    with pytest.raises(TypeError, match="vjp: the result of func is not a tensor; got float"):
        vjp(lambda x: 3.0, X)
    with pytest.raises(RuntimeError, match="vjp: v may be left out only if"):
        vjp(lambda x: x, X)
    with pytest.raises(RuntimeError, match=r"jvp: v\[0\] does not fit .*got shape \(2,\)"):
        jvp(lambda x: x, X, Y)
    with pytest.raises(RuntimeError, match="got 1 tensors, expected 2"):
        jvp(outer, (X, Y), X)
    for product in (hvp, vhp):
        with pytest.raises(RuntimeError, match=r"one tensor of one element; got shape \(3,\)"):
            product(lambda x: x, X, X)
