"""Trains a convolutional network to read handwritten digits.

Data: MNIST, if --data names a folder with its four IDX files (train-images-idx3-ubyte and so on,
packed by gzip or not); else the 1,797 8x8 digits that scikit-learn ships, split as in digits.py.
The model, its settings and the number of epochs are fixed beforehand, so the held-out digits choose
nothing and are looked at once, at the end.

python examples/mnist_cnn.py [--data FOLDER] [--epochs 40] [--seed 0] [--no-plot]
"""

import argparse
import gzip
import random
from pathlib import Path

import digits
import numpy as np
from tqdm import tqdm

import zero
from zero import nn

BATCH = 64
RATE = 2e-3


def read_idx(folder: Path, name: str) -> np.ndarray:
    """An array of bytes, after two zeros, 8 for bytes, the number of dimensions and their sizes."""
    path = folder / name
    packed = folder / f"{name}.gz"
    data = path.read_bytes() if path.exists() else gzip.decompress(packed.read_bytes())
    if data[:3] != b"\0\0\x08":
        raise ValueError(f"{path}: no IDX file of bytes")
    start = 4 + 4 * data[3]
    shape = np.frombuffer(data, ">u4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def load(folder: Path | None, seed: int) -> tuple:
    """Images [N, 1, H, W] in [0, 1] and classes, for training and held out."""
    if folder is None:
        x, y, x_test, y_test = digits.load(seed)
        return x.view(-1, 1, 8, 8), y, x_test.view(-1, 1, 8, 8), y_test
    parts = []
    for part in ("train", "t10k"):
        images = read_idx(folder, f"{part}-images-idx3-ubyte")
        parts.append(zero.tensor(images).unsqueeze(1).float() / 255)
        parts.append(zero.tensor(read_idx(folder, f"{part}-labels-idx1-ubyte")).long())
    return tuple(parts)


def build(size: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(64 * (size // 2) ** 2, 128),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(128, 10),
    )


def train(model: nn.Module, x: zero.Tensor, y: zero.Tensor, epochs: int, seed: int) -> list:
    """Adam with a falling rate; returns the mean loss of each epoch."""
    optimizer = zero.optim.Adam(model.parameters(), lr=RATE)
    criterion = nn.CrossEntropyLoss()
    shuffle = random.Random(seed)
    steps = (len(y) + BATCH - 1) // BATCH
    losses = []
    bar = tqdm(total=epochs * steps, desc="training", unit="batch")
    for epoch in range(epochs):
        order = zero.randperm(len(y))
        total = 0.0
        for step, rows in enumerate(order.split(BATCH)):
            for group in optimizer.param_groups:
                group["lr"] = RATE * (1 - (epoch * steps + step) / (epochs * steps))
            moves = shuffle.randint(-1, 1), shuffle.randint(-1, 1)
            batch = digits.shifted(x[rows].squeeze(1), *moves).unsqueeze(1)
            loss = criterion(model(batch), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
            bar.update()
        losses.append(total / len(y))
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    bar.close()
    return losses


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the IDX files of MNIST")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0, help="of the split, the start and the order")
    parser.add_argument("--no-plot", action="store_true", help="don't write mnist_cnn.png")
    options = parser.parse_args()

    zero.manual_seed(options.seed)
    x_train, y_train, x_test, y_test = load(options.data, options.seed)
    model = build(x_train.shape[-1])
    losses = train(model, x_train, y_train, options.epochs, options.seed)
    predicted, accuracy = digits.evaluate(model, x_test, y_test)
    print(f"accuracy on {len(y_test)} held-out digits: {accuracy:.2%}")
    if not options.no_plot:
        digits.plot(losses, x_test, y_test, predicted, "mnist_cnn.png")
    return accuracy


if __name__ == "__main__":
    main()
