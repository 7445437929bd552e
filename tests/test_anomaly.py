"""Anomaly mode names the forward line, the operation and the module of a failing backward pass."""

import re
import threading
import warnings

import pytest

import zero
from zero import nn
from zero.autograd import Function, detect_anomaly, set_detect_anomaly
from zero.autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled


class Quotient(nn.Module):
    def forward(self, x):
        return x * (x / x)  # NAN IN THE BACKWARD PASS OF THIS LINE


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 2), Quotient())

    def forward(self, x):
        return self.layers(x)


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise KeyError("mine")


@pytest.fixture(autouse=True)
def off_afterwards():
    yield
    set_detect_anomaly(False)


def test_nan_names_line_operation_and_module():
    net = Net()
    set_detect_anomaly(True)
    loss = net(zero.zeros(1, 2)).sum() * 0 + net.layers[1](zero.zeros(1, requires_grad=True)).sum()
    x = zero.zeros(1, 2, requires_grad=True)
    net.layers[0].weight.data.zero_()
    net.layers[0].bias.data.zero_()
    loss = net(x).sum()
    with (
        pytest.warns(UserWarning, match="error detected in MulBackward0") as caught,
        pytest.raises(RuntimeError) as error,
    ):
        loss.backward()
    text = str(error.value)
    assert "MulBackward0 returned nan values for its input 0" in text
    assert re.search(r"test_anomaly\.py:\d+ in forward: return x \* \(x / x\)", text)
    assert "in module Net.layers.1" in text
    trace = str(caught[0].message)
    assert "Traceback of the forward call" in trace and "NAN IN THE BACKWARD PASS" in trace
    assert "loss = net(x).sum()" in trace


def test_failing_backward_names_its_forward_line():
    x = zero.ones(1, requires_grad=True)
    with set_detect_anomaly(True):
        y = Fails.apply(x)  # THE CALL
        with (
            pytest.warns(UserWarning, match=r"error detected in FailsBackward(.|\n)*THE CALL"),
            pytest.raises(KeyError, match="mine"),
        ):
            y.sum().backward()
    y = x.exp().exp()
    y.grad_fn.next_functions[0][0].register_hook(lambda i, o: 1 / 0)
    with (
        set_detect_anomaly(True),
        pytest.warns(UserWarning, match="recorded with anomaly mode off"),
        pytest.raises(ZeroDivisionError),
    ):
        y.sum().backward()


def test_modified_saved_tensor_names_the_operation_that_saved_it():
    x = zero.ones(2, requires_grad=True)
    with set_detect_anomaly(True):
        y = x * 1
        z = y.exp() * y  # SAVES Y
        y.add_(1)
        with (
            pytest.warns(UserWarning, match=r"MulBackward0(.|\n)*SAVES Y"),
            pytest.raises(RuntimeError, match="modified by an inplace operation"),
        ):
            z.sum().backward()


def test_backward_of_a_backward_names_both():
    x = zero.zeros(1, requires_grad=True)
    with set_detect_anomaly(True):
        y = (x.sqrt() * x).sum()  # FIRST
        with set_detect_anomaly(True, check_nan=False):
            (g,) = zero.autograd.grad(y, x, create_graph=True)
        with (
            pytest.warns(UserWarning, match=r"Recorded by the backward pass of(.|\n)*FIRST"),
            pytest.raises(RuntimeError, match="returned nan"),
        ):
            g.sum().backward()


def test_check_nan_can_be_off():
    x = zero.zeros(1, requires_grad=True)
    with set_detect_anomaly(True, check_nan=False):
        assert is_anomaly_enabled() and not is_anomaly_check_nan_enabled()
        (x * (x / x)).sum().backward()
    assert x.grad.isnan().all()


def test_mode_nests_and_ends():
    assert not is_anomaly_enabled()
    with pytest.warns(UserWarning, match="anomaly mode is on"):
        mode = detect_anomaly(check_nan=False)
    with mode:
        assert is_anomaly_enabled() and not is_anomaly_check_nan_enabled()
        with set_detect_anomaly(False):
            assert not is_anomaly_enabled()
        assert is_anomaly_enabled() and not is_anomaly_check_nan_enabled()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(is_anomaly_enabled()))
        thread.start()
        thread.join()
        assert seen == [True]
    assert not is_anomaly_enabled() and is_anomaly_check_nan_enabled()
    with pytest.raises(TypeError, match="mode is not a bool"):
        set_detect_anomaly(1)


def test_numbers_pass():
    x = zero.ones(2, requires_grad=True)
    with set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("error")
        (x.exp() * x).sum().backward()
    assert x.grad.isfinite().all()


def test_warnings_as_errors():
    x = zero.ones(1, requires_grad=True)
    with set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyError, match="mine"):
            Fails.apply(x).sum().backward()
