"""Trains a convolutional network to read handwritten digits.

Data: MNIST, if --data names a folder with its four files (train-images-idx3-ubyte.gz and so on,
packed or not); else the 1,797 8x8 digits that scikit-learn ships, split as in digits.py.
The model, its settings and the number of epochs are fixed beforehand, so the held-out digits choose
nothing and are looked at once, at the end.

python examples/mnist_cnn.py [--data FOLDER] [--epochs 40] [--seed 0] [--no-plot]
"""

import argparse
import random
from pathlib import Path

import digits
from tqdm import tqdm

import zero
from zero import nn
from zero.utils.data import DataLoader, TensorDataset
from zero.utils.data.datasets import MNIST

BATCH = 64
RATE = 2e-3


def load(folder: Path | None, seed: int) -> tuple:
    """Images [N, 1, H, W] in [0, 1] and classes, for training and held out."""
    if folder is None:
        x, y, x_test, y_test = digits.load(seed)
        return x.view(-1, 1, 8, 8), y, x_test.view(-1, 1, 8, 8), y_test
    # Any files of this form will do; by default they have to be the published ones.
    parts = [MNIST(folder, train, check=False) for train in (True, False)]
    return tuple(tensor for part in parts for tensor in (part.data.float() / 255, part.targets))


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
    shifts = random.Random(seed)
    batches = DataLoader(TensorDataset(x.squeeze(1), y), BATCH, shuffle=True)
    steps = epochs * len(batches)
    losses = []
    bar = tqdm(total=steps, desc="training", unit="batch")
    for epoch in range(epochs):
        total = 0.0
        for step, (images, labels) in enumerate(batches, epoch * len(batches)):
            for group in optimizer.param_groups:
                group["lr"] = RATE * (1 - step / steps)
            images = digits.shifted(images, shifts.randint(-1, 1), shifts.randint(-1, 1))
            loss = criterion(model(images.unsqueeze(1)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
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
