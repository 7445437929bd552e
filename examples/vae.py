"""Trains a variational autoencoder on handwritten digits and draws new ones.

Data: the 1,797 real 8x8 digits of scikit-learn, split as in digits.py. A pixel's intensity counts
as the probability that it is set. What is maximised is the evidence lower bound (ELBO): the
expected logarithm of an image's probability, less the divergence of its code from a standard normal
one.

python examples/vae.py [--epochs 100] [--seed 0] [--no-plot]
"""

import argparse

import digits
from tqdm import tqdm

import zero
import zero.nn.functional as F
from zero import nn
from zero.utils.data import DataLoader

BATCH = 64
RATE = 2e-3
CODE = 8  # numbers in a code
DRAWS = 16  # codes for each held-out image


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 2 * CODE))
        self.decoder = nn.Sequential(nn.Linear(CODE, 128), nn.SiLU(), nn.Linear(128, 64))

    def elbo(self, x: zero.Tensor) -> zero.Tensor:
        """The bound of each image, with one code drawn for it."""
        mean, log_var = self.encoder(x).chunk(2, 1)
        code = mean + zero.exp(0.5 * log_var) * zero.randn_like(mean)
        logits = self.decoder(code)
        surprise = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
        divergence = 0.5 * (mean.square() + log_var.exp() - 1 - log_var).sum(1)
        return -(surprise + divergence)

    def sample(self, n: int) -> zero.Tensor:
        """The intensities of new images."""
        return self.decoder(zero.randn(n, CODE)).sigmoid()


def train(model: VAE, x: zero.Tensor, epochs: int) -> list:
    """Adam with a falling rate; returns the mean bound of each epoch."""
    optimizer = zero.optim.Adam(model.parameters(), lr=RATE)
    batches = DataLoader(x, BATCH, shuffle=True)
    bounds = []
    bar = tqdm(range(epochs), desc="training", unit="epoch")
    for epoch in bar:
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - epoch / epochs)
        total = 0.0
        for batch in batches:
            loss = -model.elbo(batch).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total -= loss.item() * len(batch)
        bounds.append(total / len(x))
        bar.set_postfix(elbo=f"{bounds[-1]:.2f}")
    return bounds


def evaluate(model: VAE, x: zero.Tensor) -> float:
    """The mean bound of the images, over several codes of each."""
    model.eval()
    with zero.no_grad():
        return model.elbo(x.repeat(DRAWS, 1)).mean().item()


def plot(bounds: list, x: zero.Tensor, images: zero.Tensor, path: str) -> None:
    """The bound while training, held-out digits, and new ones."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(14, 5), layout="constrained")
    left, middle, right = figure.subfigures(1, 3, width_ratios=[1.2, 1, 1])
    axes = left.subplots()
    axes.plot(range(1, len(bounds) + 1), bounds)
    axes.set(xlabel="epoch", ylabel="ELBO on the training part (nats)", title="Bound")
    for part, pixels, title in (
        (middle, x, "Held-out digits"),
        (right, images, "Drawn by the model"),
    ):
        part.suptitle(title)
        for axes, image in zip(part.subplots(8, 8).flat, pixels, strict=False):
            axes.imshow(image.view(8, 8).numpy(), cmap="gray_r", vmin=0, vmax=1)
            axes.axis("off")
    figure.savefig(path, dpi=120)
    print(f"plot written to {path}")


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the split, the start and the draws")
    parser.add_argument("--no-plot", action="store_true", help="don't write vae.png")
    options = parser.parse_args()

    zero.manual_seed(options.seed)
    x_train, _, x_test, _ = digits.load(options.seed)
    model = VAE()
    bounds = train(model, x_train, options.epochs)
    bound = evaluate(model, x_test)
    print(f"ELBO of {len(x_test)} held-out digits: {bound:.3f} nats")
    if not options.no_plot:
        with zero.no_grad():
            images = model.sample(64)
        plot(bounds, x_test[:: len(x_test) // 64], images, "vae.png")
    return bound


if __name__ == "__main__":
    main()
