"""The program of the README as it stands there, and the same with a user's own classes."""

import pytest

import zero

PROGRAM = """
import zero
model = zero.nn.Linear(2, 1)
optimizer = zero.optim.SGD(model.parameters(), lr=0.05)
x = zero.tensor([[1.0, 2.0], [2.0, 1.0]])
target = zero.tensor([[5.0], [4.0]])
for _ in range(100):
    prediction = model(x)
    difference = prediction - target
    loss = (difference * difference).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

OWN_CLASSES = """
class Module:
    def parameters(self):
        for value in vars(self).values():
            if isinstance(value, zero.Parameter):
                yield value

    def __call__(self, x):
        return self.forward(x)


class Linear(Module):
    def __init__(self, inputs, outputs):
        self.weight = zero.Parameter(zero.randn(outputs, inputs) * (2 / inputs) ** 0.5)
        self.bias = zero.Parameter(zero.zeros(outputs))

    def forward(self, x):
        return x @ self.weight.T + self.bias


class SGD:
    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr

    def step(self):
        for p in self.parameters:
            p.update(self.lr * p.grad)

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None
"""


@pytest.mark.parametrize("seed", range(5))
def test_program(seed):
    zero.manual_seed(seed)
    names = {}
    exec(PROGRAM, names)
    assert names["loss"].item() < 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_own_classes(seed):
    zero.manual_seed(seed)
    names = {"zero": zero}
    exec(OWN_CLASSES, names)
    program = PROGRAM.replace("zero.nn.Linear", "Linear").replace("zero.optim.SGD", "SGD")
    exec(program, names)
    assert "zero.nn" not in program and "zero.optim" not in program
    assert names["loss"].item() < 1e-3
    assert names["model"].weight.is_leaf


def test_own_module_without_super_init():
    """The classes of the library take the same shortcut: nobody calls super().__init__()."""

    class Affine(zero.nn.Module):
        def __init__(self, inputs, outputs):
            self.weight = zero.Parameter(zero.randn(outputs, inputs) * (2 / inputs) ** 0.5)
            self.bias = zero.Parameter(zero.zeros(outputs))

        def forward(self, x):
            return x @ self.weight.T + self.bias

    class Model(zero.nn.Module):
        def __init__(self):
            self.inner = Affine(2, 1)

        def forward(self, x):
            return self.inner(x)

    zero.manual_seed(0)
    names = {"zero": zero, "Model": Model}
    exec(PROGRAM.replace("zero.nn.Linear(2, 1)", "Model()"), names)
    assert names["loss"].item() < 1e-3
    assert [name for name, _ in names["model"].named_parameters()] == ["inner.weight", "inner.bias"]
