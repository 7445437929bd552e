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


def training(trainer: object, loss_of: Callable[[], object]) -> Step:
    """A step: the loss, its gradients, the update."""

    def step() -> None:
        loss = loss_of()
        trainer.zero_grad()
        loss.backward()
        trainer.step()

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

        return training(trainer, lambda: criterion(model(x), target))

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

        def loss() -> object:
            y, (h, c) = lstm(embedding(x), tuple(state))
            state[:] = h.detach(), c.detach()
            return criterion(decoder(y.reshape(700, 200)), target)

        return training(trainer, loss)

    return build


def gpt(
    layers: int, width: int, heads: int, length: int, batch: int, words: int = 65
) -> Callable[[ModuleType], Step]:
    """A step of a GPT with AdamW: pre-norm blocks, causal attention, learned positions."""

    def build(lib: ModuleType) -> Step:
        nn, functional = lib.nn, lib.nn.functional

        class Block(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

            def forward(self, x):
                q, k, v = (
                    part.reshape(batch, length, heads, width // heads).transpose(1, 2)
                    for part in self.qkv(self.before_attention(x)).chunk(3, dim=-1)
                )
                y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
                return x + self.down(functional.gelu(self.up(self.before_mlp(x))))

        class GPT(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.tokens, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
                self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
                self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

            def forward(self, x):
                x = self.tokens(x) + self.places.weight
                return self.head(self.norm(self.blocks(x)))

        model = GPT()
        trainer = lib.optim.AdamW(model.parameters(), lr=1e-3)
        x, target = lib.randint(0, words, (batch, length)), lib.randint(0, words, (batch * length,))

        return training(trainer, lambda: functional.cross_entropy(model(x).view(-1, words), target))

    return build


def encoder(lib: ModuleType) -> Step:
    """Four TransformerEncoderLayers, 192 wide, on 8 sequences of 65 tokens, such as patches."""
    layer = lib.nn.TransformerEncoderLayer(192, 3, 768, activation="gelu", batch_first=True)
    model = lib.nn.Sequential(lib.nn.TransformerEncoder(layer, 4), lib.nn.Linear(192, 10))
    trainer = lib.optim.AdamW(model.parameters(), lr=1e-3)
    x, target = lib.randn(8, 65, 192), lib.randint(0, 10, (8,))

    return training(trainer, lambda: lib.nn.functional.cross_entropy(model(x)[:, 0], target))


def agent_network(nn: ModuleType) -> object:
    return nn.Sequential(
        nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4)
    )


def agent(lib: ModuleType) -> Step:
    """What reinforcement learning does for each batch: a small network, a clipped gradient."""
    nn = lib.nn
    model = agent_network(nn)
    trainer = lib.optim.AdamW(model.parameters(), lr=1e-3)
    x, action, value = lib.randn(64, 8), lib.randint(0, 4, (64, 1)), lib.randn(64, 1)

    def step() -> None:
        loss = nn.functional.smooth_l1_loss(model(x).gather(1, action), value)
        trainer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        trainer.step()

    return step


def inference(lib: ModuleType) -> Step:
    """The action of the agent's network for one observation."""
    nn = lib.nn
    model = agent_network(nn)
    x = lib.randn(1, 8)

    def step() -> int:
        with lib.no_grad():
            return model(x).argmax(1).item()

    return step


def tabular(lib: ModuleType) -> Step:
    """A table of 32 columns, batch 256: BatchNorm, GELU, Dropout, binary cross-entropy."""
    nn = lib.nn
    layers = []
    for fan_in, fan_out in ((32, 256), (256, 128)):
        layers += [nn.Linear(fan_in, fan_out), nn.BatchNorm1d(fan_out), nn.GELU(), nn.Dropout(0.1)]
    model = nn.Sequential(*layers, nn.Linear(128, 1))
    trainer = lib.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    x, target = lib.randn(256, 32), lib.randint(0, 2, (256, 1)).float()

    return training(trainer, lambda: criterion(model(x), target))


def mnist_cnn(lib: ModuleType) -> Step:
    """The network of PyTorch's MNIST example, batch 64."""
    nn = lib.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Dropout(0.25), nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5)),
        *(nn.Linear(128, 10), nn.LogSoftmax(1)),
    )
    trainer = lib.optim.SGD(model.parameters(), lr=0.01)
    criterion = nn.NLLLoss()
    x, target = lib.randn(64, 1, 28, 28), lib.randint(0, 10, (64,))

    return training(trainer, lambda: criterion(model(x), target))


def resnet18(lib: ModuleType) -> Step:
    """ResNet-18 as it is used on CIFAR: no pooling before the first stage; batch 32."""
    nn = lib.nn

    def convolution(inputs: int, outputs: int, kernel: int, stride: int) -> list:
        layer = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
        return [layer, nn.BatchNorm2d(outputs)]

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                *(*convolution(inputs, outputs, 3, stride), nn.ReLU()),
                *convolution(outputs, outputs, 3, 1),
            )
            same = inputs == outputs and stride == 1
            shortcut = [] if same else convolution(inputs, outputs, 1, stride)
            self.shortcut = nn.Sequential(*shortcut)

        def forward(self, x: object) -> object:
            return nn.functional.relu(self.body(x) + self.shortcut(x))

    blocks: list = []
    for inputs, outputs, stride in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)):
        blocks += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
    model = nn.Sequential(
        *(*convolution(3, 64, 3, 1), nn.ReLU(), *blocks),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)),
    )
    trainer = lib.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    criterion = nn.CrossEntropyLoss()
    x, target = lib.randn(32, 3, 32, 32), lib.randint(0, 10, (32,))

    return training(trainer, lambda: criterion(model(x), target))


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
    "agent 8-128-128-4, batch 64, AdamW": agent,
    "agent 8-128-128-4, one row, argmax": inference,
    "tabular MLP 32-256-128-1, batch 256": tabular,
    "GPT 4 layers, 128 wide, 12x64": gpt(4, 128, 4, 64, 12),
    "GPT 6 layers, 384 wide, 2x256": gpt(6, 384, 6, 256, 2),
    "encoder 4 layers, 192 wide, 8x65": encoder,
    "CNN of the MNIST example, batch 64": mnist_cnn,
    "ResNet-18, CIFAR, batch 32": resnet18,
    "LSTM language model, 1,000 words": language_model(1_000),
    "LSTM language model, 10,000 words": language_model(10_000),
    "tanh(x*y+1).sum(), 1M elements": fused_expression,
}
