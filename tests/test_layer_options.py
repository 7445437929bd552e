"""Mistakes in what layers and losses are made with show where they are made."""

import re

import numpy as np
import pytest

import zero
from zero import errors, nn
from zero.nn import functional as F

x = zero.ones(4, 3)
made = "; {0}(…) makes a layer, and the layer is called with tensors"

MISTAKES = {
    "Linear: in_features is not an int; got '2' of type str, expected an int": lambda: nn.Linear(
        "2", 3
    ),
    "Linear: out_features is not an int; got 3.0 of type float, expected an int": lambda: nn.Linear(
        2, 3.0
    ),
    "Linear: in_features is negative; got -1, expected 0 or more": lambda: nn.Linear(-1, 3),
    "Linear: bias is not a bool; got 'no' of type str, expected True or False": lambda: nn.Linear(
        2, 3, "no"
    ),
    "ReLU: inplace is not a bool; got a Tensor of shape (4, 3), expected True or False"
    + made.format("ReLU"): lambda: nn.ReLU(x),
    "Softmax: dim is not an int; got a Tensor of shape (4, 3), expected an int"
    + made.format("Softmax"): lambda: nn.Softmax(x),
    "LogSoftmax: dim is not an int; got '1' of type str, expected an int": lambda: nn.LogSoftmax(
        "1"
    ),
    "Flatten: end_dim is not an int; got 1.5 of type float, expected an int": lambda: nn.Flatten(
        1, 1.5
    ),
    "Dropout: p is not a number; got a Tensor of shape (4, 3), expected 0 <= p <= 1"
    + made.format("Dropout"): lambda: nn.Dropout(x),
    "Dropout1d: p is not a number; got '0.5' of type str, expected 0 <= p <= 1": (
        lambda: nn.Dropout1d("0.5")
    ),
    "Dropout: inplace is not a bool; got [] of type list, expected True or False": (
        lambda: nn.Dropout(0.5, [])
    ),
    "MSELoss: reduce is not a bool; got a Tensor of shape (4, 3), expected True or False"
    + made.format("MSELoss"): lambda: nn.MSELoss(x, x),
    "CrossEntropyLoss: size_average is not a bool; got a Tensor of shape (4,), expected True or "
    "False" + made.format("CrossEntropyLoss"): lambda: nn.CrossEntropyLoss(x, zero.zeros(4)),
    "NLLLoss: ignore_index is not an int; got 0.5 of type float, expected an int": (
        lambda: nn.NLLLoss(ignore_index=0.5)
    ),
    "CrossEntropyLoss: label_smoothing is no probability; got 2, expected 0 <= label_smoothing "
    "<= 1": lambda: nn.CrossEntropyLoss(label_smoothing=2),
    "l1_loss: size_average is not a bool; got a Tensor of shape (4, 3), expected True or False": (
        lambda: F.l1_loss(x, x, x)
    ),
    "Sequential: not a Module; got the class ReLU, expected a layer made by it: ReLU(…)": (
        lambda: nn.Sequential(nn.Linear(2, 2), nn.ReLU)
    ),
    "Sequential: not a Module; got list, expected one argument per Module: Sequential(*layers)": (
        lambda: nn.Sequential([nn.ReLU()])
    ),
    "Sequential: not a Module; got function, expected a Module; a function can be called in "
    "forward()": lambda: nn.Sequential(lambda t: t),
    "ModuleList: not a Module; got int, expected Modules": lambda: nn.ModuleList([1]),
    "binary_cross_entropy: an input is no probability; got 2, expected all between 0 and 1; "
    "sigmoid gives such, and binary_cross_entropy_with_logits takes scores": (
        lambda: F.binary_cross_entropy(x * 2, x)
    ),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes(text):
    kind = (errors.DTypeError, errors.ShapeError, errors.ValueError, TypeError)
    with pytest.raises(kind, match=f"^{re.escape(text)}$"):
        MISTAKES[text]()


def test_long_values_are_cut():
    with pytest.raises(TypeError) as caught:
        nn.Linear("x" * 5000, 2)
    assert len(str(caught.value)) < 200


def test_what_stands_for_an_option():
    layer = nn.Linear(np.int64(2), np.int32(3), bias=np.bool_(False))
    assert (layer.in_features, layer.out_features, layer.bias) == (2, 3, None)
    assert type(layer.in_features) is int
    assert nn.Linear(zero.tensor([2]), 3, None).weight.shape == (3, 2)
    assert nn.Linear(2, 3, bias=0).bias is None and nn.Linear(2, 3, bias=1).bias is not None
    assert nn.ReLU(1).inplace is True
    assert nn.Dropout(np.float32(0.5)).p == 0.5
    with pytest.warns(FutureWarning):
        assert nn.MSELoss(reduce=0).reduction == "none"


@pytest.mark.parametrize("container", [nn.ModuleList, nn.ModuleDict])
def test_containers_are_not_called(container):
    with pytest.raises(NotImplementedError, match=r"has no forward\(\); call the modules in it"):
        container()(x)


def test_a_module_without_forward():
    class Net(nn.Module):
        pass

    with pytest.raises(NotImplementedError, match=r"Net: has no forward\(\); expected a method"):
        Net()(x)


def test_paths_of_members():
    model = nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(AttributeError, match=r"^no module at '0.body': Linear has no attribute"):
        model.get_submodule("0.body")
    with pytest.raises(AttributeError, match=r"^no module at '0.in_features': 'in_features' is"):
        model.get_submodule("0.in_features")
    with pytest.raises(AttributeError, match=r"^no parameter at '0.wight': Linear has no"):
        model.get_parameter("0.wight")
    with pytest.raises(AttributeError, match=r"^no buffer at '0.weight': 'weight' is not a"):
        model.get_buffer("0.weight")


def test_backward_hooks_that_return_something_else():
    layer = nn.Linear(2, 2)
    layer.register_full_backward_pre_hook(lambda module, grads: 3)
    with pytest.raises(TypeError, match="Linear: a backward pre-hook returned no gradients; got"):
        layer(zero.ones(1, 2)).sum().backward()


def test_optimizers():
    weight = nn.Parameter(zero.ones(2))
    sgd, layer = zero.optim.SGD([weight]), nn.Linear(2, 2)
    (weight * weight).sum().backward()
    with pytest.raises(TypeError, match=r"SGD.step: closure must be a function that computes the"):
        sgd.step(zero.ones(()))
    assert weight.tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match=r"got Linear, expected for example model.parameters\(\)"):
        zero.optim.SGD(layer)
    with pytest.raises(TypeError, match=r"got method, expected for example model.parameters\(\)"):
        zero.optim.Adam(layer.parameters)
    for state in (layer.state_dict(), [], None):
        with pytest.raises(TypeError, match="load_state_dict: not the state of an optimizer; got"):
            sgd.load_state_dict(state)
    for state in (layer, "model.pt", [1]):
        with pytest.raises(TypeError, match="load_state_dict: not a state_dict; got"):
            layer.load_state_dict(state)


def test_init_names_the_function():
    for name in ("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"):
        with pytest.raises(errors.ShapeError, match=rf"^{name}: got a tensor of shape \(2,\)"):
            getattr(nn.init, name)(zero.ones(2))
    for mode in ("in", None):
        with pytest.raises(ValueError, match=r"^kaiming_normal_: unknown mode; got"):
            nn.init.kaiming_normal_(zero.ones(2, 2), mode=mode)


def test_tracebacks_show_the_users_code():
    """One line of the extension at most, however deep the layers."""

    class Outer(nn.Module):
        def __init__(self):
            self.body = nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.Linear(3, 1))

        def forward(self, x):
            return self.body(x)

    with pytest.raises(errors.ShapeError) as caught:
        Outer()(zero.ones(1, 2))
    files = [str(entry.path) for entry in caught.traceback]
    mine = [file for file in files if file.endswith("test_layer_options.py")]
    assert len(mine) == 2 and sum("module.pxi" in file for file in files) <= 3
    assert sum("_bind" in file for file in files[files.index(mine[-1], 1) :]) == 1  # linear itself


def test_shapes_that_do_not_fit_name_the_function():
    a, b = zero.ones(2, 3), zero.ones(2, 4)
    for loss in (F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.kl_div, F.cosine_similarity):
        text = rf"^{loss.__name__}: shapes do not broadcast; got \w+ \(2, 3\) and \w+ \(2, 4\), exp"
        with pytest.raises(errors.ShapeError, match=text):
            loss(a, b)
    text = (
        r"^broadcast_shapes: shapes do not broadcast; got \(2,\) and \(3,\), expected equal sizes"
    )
    with pytest.raises(errors.ShapeError, match=text):
        zero.broadcast_shapes((2,), 3)


def test_norms_that_are_no_numbers():
    weight = nn.Parameter(zero.ones(2))
    weight.grad = zero.ones(2)
    for clip in (nn.utils.clip_grad_norm_, nn.utils.clip_grad_value_):
        for value in ("a", None, zero.ones(2)):
            with pytest.raises(TypeError, match="is not a number; got"):
                clip(weight, value)
    assert weight.grad.tolist() == [1.0, 1.0]
    nn.utils.clip_grad_norm_(weight, 0.5, norm_type="inf")
    assert weight.grad.tolist() == pytest.approx([0.5, 0.5], rel=1e-5)
