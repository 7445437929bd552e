"""Trains an LSTM to forecast the carbon dioxide in the air, one month ahead.

Data: the weekly measurements on Mauna Loa, 1958 to 2001, that statsmodels ships, as monthly means;
gaps, all in the part for training, are filled along straight lines. The first 80 % are for
training, the last 20 % are held out: each month there is forecast from all months before it. The
model, its settings and the number of epochs are fixed beforehand, so the held-out months choose
nothing.

Forecasts to compare with: the last value; the value of a year ago; and the last value plus what it
changed by a year ago.

python examples/lstm_timeseries.py [--epochs 60] [--seed 0] [--no-plot]
"""

import argparse

import numpy as np
from tqdm import tqdm

import zero
from zero import nn
from zero.utils.data import DataLoader

WINDOW = 48  # months in a sequence for training
BATCH = 32
HIDDEN = 32
RATE = 1e-2


def load() -> tuple:
    """The months, as years with a fraction, and their means in parts per million."""
    from statsmodels.datasets import co2

    months = co2.load_pandas().data["co2"].resample("MS").mean().interpolate()
    years = months.index.year + (months.index.month - 0.5) / 12
    return years.to_numpy(), months.to_numpy()


class Forecaster(nn.Module):
    """From the changes of all months so far to the next one, in units of their deviation."""

    def __init__(self, mean: float, deviation: float) -> None:
        super().__init__()
        self.mean, self.deviation = mean, deviation
        self.lstm = nn.LSTM(1, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, changes: zero.Tensor) -> zero.Tensor:  # [N, months]
        x = (changes - self.mean) / self.deviation
        y, _ = self.lstm(x.unsqueeze(2))
        return self.head(y).squeeze(2) * self.deviation + self.mean


def train(model: Forecaster, changes: zero.Tensor, epochs: int) -> list:
    """Adam with a falling rate on windows of the series; returns the mean error of each epoch."""
    windows = changes.unfold(0, WINDOW + 1, 1)
    batches = DataLoader(windows, BATCH, shuffle=True)
    optimizer = zero.optim.Adam(model.parameters(), lr=RATE)
    errors = []
    bar = tqdm(range(epochs), desc="training", unit="epoch")
    for epoch in bar:
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - epoch / epochs)
        total = 0.0
        for batch in batches:
            loss = nn.functional.mse_loss(model(batch[:, :-1]), batch[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(batch)
        errors.append((total / len(windows)) ** 0.5)
        bar.set_postfix(error=f"{errors[-1]:.3f} ppm")
    return errors


def forecast(model: Forecaster, values: zero.Tensor) -> np.ndarray:
    """What each month from the third on is expected to be, knowing those before it."""
    with zero.no_grad():
        changes = model(values.diff()[None, :-1])[0]
    return (values[1:-1] + changes).numpy()


def plot(years: np.ndarray, values: np.ndarray, found: np.ndarray, start: int, path: str) -> None:
    """The series, and the held-out part with its forecasts and their errors."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(14, 5), width_ratios=[1, 2], layout="constrained"
    )
    left.plot(years[:start], values[:start], label="training")
    left.plot(years[start:], values[start:], label="held out")
    left.set(xlabel="year", ylabel="CO2 (ppm)", title="Monthly means, Mauna Loa")
    left.legend()
    right.plot(years[start:], values[start:], "k.", label="measured")
    right.plot(years[start:], found, label="forecast, one month ahead")
    right.set(xlabel="year", ylabel="CO2 (ppm)", title="Held-out months")
    right.legend(loc="upper left")
    errors = right.twinx()
    errors.bar(years[start:], found - values[start:], 0.06, color="C3", alpha=0.5)
    errors.set(ylabel="error (ppm)", ylim=(-1, 8))
    figure.savefig(path, dpi=120)
    print(f"plot written to {path}")


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the start and the order")
    parser.add_argument("--no-plot", action="store_true", help="don't write lstm_timeseries.png")
    options = parser.parse_args()

    zero.manual_seed(options.seed)
    years, values = load()
    start = int(0.8 * len(values))
    series = zero.tensor(values, dtype=zero.float32)
    changes = series[:start].diff()
    model = Forecaster(changes.mean().item(), changes.std().item())
    train(model, changes, options.epochs)

    held_out = values[start:]
    forecasts = {
        "LSTM": forecast(model, series)[start - 2 :],
        "last value": values[start - 1 : -1],
        "a year ago": values[start - 12 : -12],
        "last change": values[start - 1 : -1] + np.diff(values)[start - 13 : -12],
    }
    errors = {}
    for name, found in forecasts.items():
        errors[name] = float(np.sqrt(np.mean((found - held_out) ** 2)))
        print(f"root mean squared error of {len(held_out)} months, {name}: {errors[name]:.3f} ppm")
    if not options.no_plot:
        plot(years, values, forecasts["LSTM"], start, "lstm_timeseries.png")
    return errors["LSTM"]


if __name__ == "__main__":
    main()
