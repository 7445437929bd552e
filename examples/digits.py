"""Trains a small network to read handwritten digits.

Data: the 1,797 real 8x8 digits that scikit-learn ships (UCI, E. Alpaydin and C. Kaynak). A fifth of
each class, drawn by --seed, is held out; the model, its settings and the number of epochs are fixed
beforehand, so the held-out digits choose nothing and are looked at once, at the end.

python examples/digits.py [--epochs 60] [--seed 0] [--no-plot]
"""

import argparse
import math
import random

from sklearn.datasets import load_digits
from tqdm import tqdm

import zero
from zero.utils.data import DataLoader, TensorDataset

BATCH = 32
GRID = 40  # held-out digits in the picture
NOISE = 0.08  # standard deviation added to the pixels of a training batch


def load(seed: int) -> tuple:
    """Pixels in [0, 1] and classes, split 80/20 within each class."""
    digits = load_digits()
    by_class: dict[int, list[int]] = {}
    for index, label in enumerate(digits.target.tolist()):
        by_class.setdefault(label, []).append(index)
    train: list[int] = []
    test: list[int] = []
    shuffle = random.Random(seed)
    for members in by_class.values():
        shuffle.shuffle(members)
        cut = round(len(members) * 0.2)
        test += members[:cut]
        train += members[cut:]

    def part(rows: list[int]) -> tuple:
        pixels = zero.tensor(digits.data[rows], dtype=zero.float32) / 16
        return pixels, zero.tensor(digits.target[rows])

    return *part(train), *part(test)


def shifted(images: zero.Tensor, dy: int, dx: int) -> zero.Tensor:
    """The images moved by up to one pixel; what leaves the frame is lost."""
    moved, size = zero.zeros_like(images), images.shape[-1]
    rows = slice(max(dy, 0), size + min(dy, 0)), slice(max(-dy, 0), size + min(-dy, 0))
    columns = slice(max(dx, 0), size + min(dx, 0)), slice(max(-dx, 0), size + min(-dx, 0))
    moved[:, rows[0], columns[0]] = images[:, rows[1], columns[1]]
    return moved


def build() -> zero.nn.Module:
    return zero.nn.Sequential(
        zero.nn.Linear(64, 128),
        zero.nn.ReLU(),
        zero.nn.Linear(128, 64),
        zero.nn.ReLU(),
        zero.nn.Linear(64, 10),
    )


def train(model: zero.nn.Module, x: zero.Tensor, y: zero.Tensor, epochs: int, seed: int) -> list:
    """SGD with momentum and a falling rate; returns the mean loss of each epoch."""
    optimizer = zero.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    criterion = zero.nn.CrossEntropyLoss()
    shifts = random.Random(seed)
    batches = DataLoader(TensorDataset(x.view(-1, 8, 8), y), BATCH, shuffle=True)
    losses = []
    bar = tqdm(range(epochs), desc="training", unit="epoch")
    for epoch in bar:
        for group in optimizer.param_groups:
            group["lr"] = 0.05 * (1 - epoch / epochs)
        total = 0.0
        for images, labels in batches:
            images = shifted(images, shifts.randint(-1, 1), shifts.randint(-1, 1)).flatten(1)
            images = images + NOISE * zero.randn(images.shape)
            loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        losses.append(total / len(y))
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    return losses


def evaluate(model: zero.nn.Module, x: zero.Tensor, y: zero.Tensor) -> tuple:
    """Predicted classes and the fraction that is right."""
    model.eval()
    with zero.no_grad():
        predicted = zero.cat([model(part).argmax(1) for part in x.split(1000)])
    return predicted, (predicted == y).float().mean().item()


def plot(losses: list, x: zero.Tensor, y: zero.Tensor, predicted: zero.Tensor, path: str) -> None:
    """The loss curve, and forty held-out digits with what the model reads: mistakes in red."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.4])
    axes = left.subplots()
    axes.plot(range(1, len(losses) + 1), losses)
    axes.set(
        xlabel="epoch", ylabel="cross-entropy on the training part", yscale="log", title="Loss"
    )

    truth, guess, size = y.tolist(), predicted.tolist(), math.isqrt(x[0].numel())
    mistakes = [i for i in range(len(truth)) if truth[i] != guess[i]][:GRID]
    others = [i for i in range(len(truth)) if truth[i] == guess[i]]
    step = max(len(others) // max(GRID - len(mistakes), 1), 1)  # a few of each class
    rows = (mistakes + others[::step])[:GRID]
    right.suptitle("Held-out digits: what the model reads")
    for axes, i in zip(right.subplots(5, GRID // 5).flat, rows, strict=False):
        axes.imshow(x[i].view(size, size).numpy(), cmap="gray_r")
        wrong = truth[i] != guess[i]
        title = f"{guess[i]} (is {truth[i]})" if wrong else str(guess[i])
        axes.set_title(title, color="tab:red" if wrong else "black", fontsize=9)
        axes.axis("off")
    figure.savefig(path, dpi=120)
    print(f"plot written to {path}")


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the split, the start and the order")
    parser.add_argument("--no-plot", action="store_true", help="don't write digits.png")
    options = parser.parse_args()

    zero.manual_seed(options.seed)
    x_train, y_train, x_test, y_test = load(options.seed)
    model = build()
    losses = train(model, x_train, y_train, options.epochs, options.seed)
    predicted, accuracy = evaluate(model, x_test, y_test)
    print(f"accuracy on {len(y_test)} held-out digits: {accuracy:.2%}")
    if not options.no_plot:
        plot(losses, x_test, y_test, predicted, "digits.png")
    return accuracy


if __name__ == "__main__":
    main()
