"""gradcheck and gradgradcheck find what is wrong, and accept what is right."""

import pytest

import zero
from zero.autograd import GradcheckError, gradcheck, gradgradcheck


def doubles(*shape):
    zero.manual_seed(0)
    return zero.rand(*shape, dtype=zero.float64).add_(0.5).requires_grad_()


# Detaching a factor hides it from backward: wrong gradients, of which only some are wrong.
RIGHT = {
    "exp": lambda x: x.exp(),
    "two outputs": lambda x: (x * x, x.sum()),
    "list with a number": lambda x: [x.tanh(), 3],
    "integer output": lambda x: (x.sqrt(), x.argmax()),
    "matmul": lambda x: x @ x.T,
    "clone": lambda x: x.clone(),
    "view": lambda x: x.T,
}
WRONG = {
    "value": lambda x: x * x.detach(),
    "one element": lambda x: zero.cat([x[:1], (x * 2 - x.detach())[1:]]),
    "second output": lambda x: (x * 2, x.sum() + x.detach().sum()),
    "constant": lambda x: x * 0.1 + x.detach(),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    assert gradcheck(RIGHT[name], doubles(2, 3)) is True
    assert gradcheck(RIGHT[name], [doubles(3, 2).T]) is True
    assert gradgradcheck(RIGHT[name], doubles(2, 3)) is True
    assert gradgradcheck(RIGHT[name], doubles(2, 3), gen_non_contig_grad_outputs=True) is True


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    with pytest.raises(GradcheckError, match="wrong"):
        gradcheck(WRONG[name], doubles(2, 3))
    assert gradcheck(WRONG[name], doubles(2, 3), raise_exception=False) is False


def test_wrong_second_derivative():
    class Secret:
        """Right first derivatives whose own derivative is lost."""

        def __call__(self, x):
            return (x.detach() * x.detach() * x).sum() * 3 - (x.detach() ** 3).sum() * 2

    x = doubles(3)
    assert gradcheck(Secret(), x)
    with pytest.raises(GradcheckError):
        gradgradcheck(Secret(), x)
    assert gradgradcheck(Secret(), x, raise_exception=False) is False
    assert gradgradcheck(lambda x: (x * x * x).sum(), x)


def test_message_names_the_place():
    a, b = doubles(2), doubles(2, 2)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda a, b: (a * 2, a * zero.stack([b[0], b[1].detach()])), (a, b))
    text = str(caught.value)
    for part in ("output 1", "(1, 0)", "input 1", "backward gives 0"):
        assert part in text


def test_inputs_are_left_as_they_were():
    x = doubles(3)
    values, version = x.tolist(), x._version
    y = x * x
    assert gradcheck(lambda x: x * x, x)
    assert x.tolist() == values and x._version == version and x.grad is None
    y.sum().backward()
    with pytest.raises(ZeroDivisionError):
        gradcheck(lambda x: x / 0 if x.tolist() == values else 1 / 0, x)
    assert x.tolist() == values


def test_only_inputs_that_require_gradients_count():
    a, b = doubles(2), doubles(2).detach()
    assert gradcheck(lambda a, b, c: a * b.detach() * c, (a, b, 3.0))
    with pytest.raises(ValueError, match="requires a gradient"):
        gradcheck(lambda b: b, b)


def test_unused_input():
    assert gradcheck(lambda a, b: a * 2, (doubles(2), doubles(3)))


def test_no_output_requires_a_gradient():
    assert gradcheck(lambda x: x.detach() * 0, doubles(2))
    with pytest.raises(ValueError, match="change with the inputs"):
        gradcheck(lambda x: x.detach() * 2, doubles(2))


def test_precision_is_judged():
    x = zero.tensor([1.0], requires_grad=True)
    with pytest.warns(UserWarning, match="float64"):
        assert gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-3) is True


def test_tolerances_count():
    off = lambda x: x * 1.001 - x.detach() * 0.001  # backward says 1.001, differences 1
    x = doubles(2)
    assert gradcheck(off, x, rtol=1e-2)
    assert gradcheck(off, x, rtol=0, atol=1e-2)
    with pytest.raises(GradcheckError):
        gradcheck(off, x, rtol=1e-4)


def test_nan_is_wrong():
    with pytest.raises(GradcheckError):
        gradcheck(lambda x: x * float("nan"), doubles(2))


def test_shared_elements_are_refused():
    x = doubles(1).detach().expand(3).requires_grad_()
    with pytest.raises(ValueError, match="share memory"):
        gradcheck(lambda x: x * 2, x)


def test_repeatability(monkeypatch):
    calls = []
    original = zero.autograd.grad

    def unsteady(*args, **kwargs):
        calls.append(1)
        return tuple(g * (1 + 1e-9 * (len(calls) % 2)) for g in original(*args, **kwargs))

    monkeypatch.setitem(gradcheck.__globals__, "grad", unsteady)
    with pytest.raises(GradcheckError, match="two backward passes"):
        gradcheck(lambda x: x * 2, doubles(2))
    assert gradcheck(lambda x: x * 2, doubles(2), nondet_tol=1e-6)


@pytest.mark.parametrize(
    "option",
    ["fast_mode", "check_forward_ad", "check_batched_grad", "check_batched_forward_grad", "masked"],
)
def test_unsupported_options_say_so(option):
    with pytest.raises(NotImplementedError, match=option):
        gradcheck(lambda x: x, doubles(1), **{option: True})
    with pytest.raises(NotImplementedError, match="check_backward_ad"):
        gradcheck(lambda x: x, doubles(1), check_backward_ad=False)
    for name in ("fast_mode", "check_fwd_over_rev", "check_batched_grad", "masked"):
        with pytest.raises(NotImplementedError, match=name):
            gradgradcheck(lambda x: x, doubles(1), **{name: True})


def test_wrong_types():
    with pytest.raises(TypeError, match="int"):
        gradcheck(lambda x: x, 3)
    with pytest.raises(TypeError, match="str"):
        gradcheck(lambda x: "text", doubles(1))


def test_second_derivative_from_given_gradients():
    x, g = doubles(2), doubles(2)
    assert gradgradcheck(lambda x: x * x, x, g)
    assert gradgradcheck(lambda x: (x * x, x.exp()), [x], [g, doubles(2)], atol=1e-4)
