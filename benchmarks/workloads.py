"""The workloads: each builds its step for one library, since zero and torch share their API."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import ModuleType

from harness import Statement

Step = Callable[[], object]


def add_4x4(lib: ModuleType) -> Statement:
    """One eager operation on a 4x4 tensor, its gradient recorded."""
    return Statement("a + b", a=lib.ones(4, 4).requires_grad_(), b=lib.ones(4, 4))


def mul_4x4(lib: ModuleType) -> Statement:
    ones = lib.ones(4, 4)
    return Statement("a * b", a=ones.clone().requires_grad_(), b=ones.requires_grad_())


def tanh_4x4(lib: ModuleType) -> Statement:
    return Statement("a.tanh()", a=lib.ones(4, 4).requires_grad_())


def matmul_4x4(lib: ModuleType) -> Statement:
    return Statement("a @ b", a=lib.ones(4, 4).requires_grad_(), b=lib.ones(4, 4))


def linear_regression(lib: ModuleType) -> Step:
    """The README's program: forward, backward, SGD."""
    model = lib.nn.Linear(2, 1)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.05)
    x = lib.tensor([[1.0, 2.0], [2.0, 1.0]])
    target = lib.tensor([[5.0], [4.0]])

    def step() -> None:
        prediction = model(x)
        difference = prediction - target
        loss = (difference * difference).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def classifier(
    widths: list[int], batch: int, activation: str, optimizer: str
) -> Callable[[ModuleType], Step]:
    """A multi-layer perceptron with cross-entropy."""

    def build(lib: ModuleType) -> Step:
        layers = []
        for fan_in, fan_out in itertools.pairwise(widths):
            layers += [lib.nn.Linear(fan_in, fan_out), getattr(lib.nn, activation)()]
        model = lib.nn.Sequential(*layers[:-1])
        trainer = getattr(lib.optim, optimizer)(model.parameters(), lr=0.01)
        criterion = lib.nn.CrossEntropyLoss()
        x = lib.randn(batch, widths[0])
        target = lib.randint(0, widths[-1], (batch,))

        def step() -> None:
            loss = criterion(model(x), target)
            trainer.zero_grad()
            loss.backward()
            trainer.step()

        return step

    return build


def language_model(words: int) -> Callable[[ModuleType], Step]:
    """Two layers of an LSTM, 200 wide, on 20 sequences of 35 words; carries its state on."""

    def build(lib: ModuleType) -> Step:
        embedding, decoder = lib.nn.Embedding(words, 200), lib.nn.Linear(200, words)
        lstm = lib.nn.LSTM(200, 200, 2)
        model = lib.nn.ModuleList([embedding, lstm, decoder])
        trainer = lib.optim.SGD(model.parameters(), lr=0.1)
        criterion = lib.nn.CrossEntropyLoss()
        x, target = lib.randint(0, words, (35, 20)), lib.randint(0, words, (700,))
        state = [lib.zeros(2, 20, 200), lib.zeros(2, 20, 200)]

        def step() -> None:
            y, (h, c) = lstm(embedding(x), tuple(state))
            state[:] = h.detach(), c.detach()
            loss = criterion(decoder(y.reshape(700, 200)), target)
            trainer.zero_grad()
            loss.backward()
            trainer.step()

        return step

    return build


def fused_expression(lib: ModuleType) -> Step:
    x, y = lib.randn(1_000_000), lib.randn(1_000_000)
    return lambda: lib.tanh(x * y + 1).sum()


WORKLOADS: dict[str, Callable[[ModuleType], Step | Statement]] = {
    "add 4x4, gradient recorded": add_4x4,
    "mul 4x4, both gradients recorded": mul_4x4,
    "tanh 4x4, gradient recorded": tanh_4x4,
    "matmul 4x4, gradient recorded": matmul_4x4,
    "linear regression step": linear_regression,
    "MLP 4-64-64-2 tanh, batch 32, Adam": classifier([4, 64, 64, 2], 32, "Tanh", "Adam"),
    "MLP 784-256-128-10, batch 64, SGD": classifier([784, 256, 128, 10], 64, "ReLU", "SGD"),
    "LSTM language model, 1,000 words": language_model(1_000),
    "LSTM language model, 10,000 words": language_model(10_000),
    "tanh(x*y+1).sum(), 1M elements": fused_expression,
}
