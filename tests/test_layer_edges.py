"""Kinds of layers with no sample, with one, with one channel, and with windows that don't fit."""

import numpy as np
import pytest

import zero
from zero import nn
from zero.errors import ShapeError
from zero.nn import functional as F

IMAGE, SIGNAL, VOLUME, ROW = (4, 6, 6), (4, 9), (4, 4, 4, 4), (8,)

# A layer over nn, and the shape of a sample.
SAMPLES = {
    "Linear(8, 3)": ROW,
    "Conv1d(4, 6, 3)": SIGNAL,
    "Conv2d(4, 6, 3, padding='same')": IMAGE,
    "Conv2d(4, 8, 2, stride=2, groups=4)": IMAGE,
    "Conv2d(4, 6, 3, padding=1, padding_mode='reflect')": IMAGE,
    "Conv3d(4, 2, 2)": VOLUME,
    "ConvTranspose1d(4, 6, 3, stride=2)": SIGNAL,
    "ConvTranspose2d(4, 2, 2, stride=2)": IMAGE,
    "ConvTranspose3d(4, 2, 2)": VOLUME,
    "Unfold(3)": IMAGE,
    "MaxPool1d(2)": SIGNAL,
    "MaxPool2d(3, padding=1)": IMAGE,
    "MaxPool3d(2)": VOLUME,
    "AvgPool1d(2)": SIGNAL,
    "AvgPool2d(2, ceil_mode=True)": IMAGE,
    "AvgPool3d(2)": VOLUME,
    "LPPool2d(2, 2)": IMAGE,
    "AdaptiveAvgPool2d(3)": IMAGE,
    "AdaptiveMaxPool2d(3)": IMAGE,
    "ConstantPad2d(1, 2.0)": IMAGE,
    "ReflectionPad2d(1)": IMAGE,
    "CircularPad2d(1)": IMAGE,
    "Upsample(scale_factor=2)": IMAGE,
    "Upsample(size=(5, 7), mode='bilinear')": IMAGE,
    "PixelShuffle(2)": IMAGE,
    "ChannelShuffle(2)": IMAGE,
    "BatchNorm2d(4).eval()": IMAGE,
    "InstanceNorm2d(4, affine=True)": IMAGE,
    "GroupNorm(2, 4)": IMAGE,
    "LayerNorm(8)": ROW,
    "RMSNorm(8)": ROW,
    "LocalResponseNorm(3)": IMAGE,
    "PReLU(4)": IMAGE,
    "GELU()": ROW,
    "Softmax(1)": ROW,
    "Softmax2d()": IMAGE,
    "GLU()": ROW,
    "Dropout(0.0)": ROW,
    "Dropout2d(0.0)": IMAGE,
    "Flatten()": IMAGE,
}


def make(text):
    zero.manual_seed(0)
    return eval(f"nn.{text}")


@pytest.mark.parametrize("text", SAMPLES)
def test_a_batch_of_none(text):
    layer, shape = make(text), SAMPLES[text]
    x = zero.ones(0, *shape).requires_grad_()
    y = layer(x)
    assert y.shape == (0, *layer(zero.ones(2, *shape)).shape[1:])
    y.sum().backward()
    assert x.grad.shape == x.shape
    for name, p in layer.named_parameters():
        assert p.grad.shape == p.shape and not p.grad.any(), name


@pytest.mark.parametrize("text", SAMPLES)
def test_a_batch_of_one(text):
    layer, shape = make(text), SAMPLES[text]
    both = zero.randn(2, *shape).requires_grad_()
    one = both.detach()[1:].requires_grad_()
    y = layer(both)[1:]
    y.square().sum().backward()
    alone = layer(one)
    alone.square().sum().backward()
    # (Products of other sizes sum up in another order.)
    zero.testing.assert_close(alone, y, rtol=1e-5, atol=1e-6)
    zero.testing.assert_close(one.grad, both.grad[1:], rtol=1e-4, atol=1e-5)


def test_one_channel():
    x = zero.arange(9.0).view(1, 1, 3, 3)
    kernel = zero.ones(1, 1, 2, 2)
    assert F.conv2d(x, kernel).flatten().tolist() == [8, 12, 20, 24]
    assert F.conv_transpose2d(kernel, x).flatten().tolist() == [
        *(0, 1, 3, 2),
        *(3, 8, 12, 7),
        *(9, 20, 24, 13),
        *(6, 13, 15, 8),
    ]
    assert F.max_pool2d(x, 2).tolist() == [[[[4]]]] and F.avg_pool2d(x, 2).tolist() == [[[[2]]]]
    expected = (np.arange(9.0) - 4) / np.sqrt(60 / 9 + 1e-5)
    for layer in (nn.BatchNorm2d(1), nn.InstanceNorm2d(1), nn.GroupNorm(1, 1)):
        np.testing.assert_allclose(layer(x).detach().numpy().ravel(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "text, shape",
    [
        ("Conv1d(1, 1, 4)", (1, 1, 3)),
        ("Conv2d(1, 1, 3, dilation=2, padding=1)", (1, 1, 2, 9)),
        ("Conv3d(1, 1, (1, 1, 5))", (1, 1, 4, 4, 4)),
        ("MaxPool1d(4)", (1, 1, 3)),
        ("MaxPool2d(2, dilation=3)", (1, 1, 3, 3)),
        ("AvgPool2d((1, 4))", (1, 1, 3, 3)),
        ("AvgPool3d(4)", (1, 1, 3, 4, 4)),
        ("LPPool1d(2, 4)", (1, 1, 3)),
        ("FractionalMaxPool2d(4, output_size=1)", (1, 1, 3, 3)),
        ("Unfold(4)", (1, 1, 3, 3)),
        ("ReflectionPad1d(3)", (1, 1, 3)),
        ("CircularPad1d(4)", (1, 1, 3)),
    ],
)
def test_windows_that_do_not_fit(text, shape):
    with pytest.raises(ShapeError, match=r"got .*, expected "):
        make(text)(zero.zeros(shape))


def test_all_targets_ignored():
    none = zero.full((3,), -100)
    x = zero.randn(3, 4).requires_grad_()
    for loss in (nn.CrossEntropyLoss, nn.NLLLoss):
        assert loss()(x, none).isnan()  # the mean of nothing
        assert loss(reduction="sum")(x, none).item() == 0
        assert loss(reduction="none")(x, none).tolist() == [0, 0, 0]
        x.grad = None
        loss(reduction="sum")(x, none).backward()
        assert not x.grad.any()
    assert nn.CrossEntropyLoss(label_smoothing=0.1)(x, none).isnan()
    assert nn.CrossEntropyLoss(zero.zeros(4))(x, zero.zeros(3).long()).isnan()  # weights of 0


@pytest.mark.parametrize(
    "layer", [nn.Dropout, nn.Dropout1d, nn.AlphaDropout, nn.FeatureAlphaDropout]
)
def test_dropout_of_nothing_and_of_all(layer):
    x = zero.randn(2, 3, 4).requires_grad_()
    y = layer(0.0)(x)
    assert zero.equal(y, x)
    y = layer(1.0)(x)
    assert not y.any()
    y.sum().backward()
    assert not x.grad.any()
