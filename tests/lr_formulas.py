"""Schedules with the formulas of their rates, and some without."""

from bisect import bisect_right
from math import cos, pi

import zero
from zero.optim import SGD, lr_scheduler as S
from zero.optim.swa_utils import SWALR

BASES = 0.1, 0.02


def optimizer(kind=SGD, wrap=float, **options):
    groups = [{"params": [zero.nn.Parameter(zero.ones(2))], "lr": wrap(lr)} for lr in BASES]
    return kind(groups, **{"lr": 0.1, **({"momentum": 0.9} if kind is SGD else {}), **options})


class Decay:
    """A function with a state of its own."""

    def __init__(self):
        self.calls = 0

    def __call__(self, epoch):
        self.calls += 1
        return 1 / (1 + 0.1 * self.calls)


class Share:
    def __init__(self, rate=0.9):
        self.rate = rate

    def __call__(self, x):
        return self.rate**x


def restarts(first, factor):
    """Of warm restarts: the share of the wave that is behind in each epoch."""
    length = first
    while True:
        yield from (i / length for i in range(length))
        length *= factor


def waves(first, factor, low):
    shares = restarts(first, factor)
    table = [next(shares) for _ in range(80)]
    return lambda e, lr: low + (lr - low) * (1 + cos(pi * table[e])) / 2


def triangle(e, up, down):
    """(number of the cycle, height)"""
    cycle, x = divmod(e, up + down)
    return cycle + 1, x / up if x <= up else (up + down - x) / down


def one_cycle(e, lr):
    share = e / 17 if e <= 17 else (e - 17) / 42  # 0.3 * 60 - 1 steps up
    start, end = (0.3 / 25, 0.3) if e <= 17 else (0.3, 0.3 / 25 / 1e4)
    return end + (start - end) * (1 + cos(pi * share)) / 2


FORMULAS = {
    "LambdaLR": (lambda o: S.LambdaLR(o, lambda e: 0.95**e), lambda e, lr: lr * 0.95**e),
    "LambdaLR of lists": (
        lambda o: S.LambdaLR(o, [lambda e: 1 / (1 + e), lambda e: 1 / (1 + e)]),
        lambda e, lr: lr / (1 + e),
    ),
    "MultiplicativeLR": (
        lambda o: S.MultiplicativeLR(o, lambda e: e / (e + 1)),
        lambda e, lr: lr / (e + 1),
    ),
    "StepLR": (lambda o: S.StepLR(o, 3, 0.5), lambda e, lr: lr * 0.5 ** (e // 3)),
    "MultiStepLR": (
        lambda o: S.MultiStepLR(o, [20, 5, 5, 2], 0.5),
        lambda e, lr: lr * 0.5 ** bisect_right([2, 5, 5, 20], e),
    ),
    "MultiStepLR from 0": (lambda o: S.MultiStepLR(o, [0, 0], 0.5), lambda e, lr: lr / 4),
    "ConstantLR": (lambda o: S.ConstantLR(o), lambda e, lr: lr / 3 if e < 5 else lr),
    "ConstantLR 0": (lambda o: S.ConstantLR(o, 0, 2), lambda e, lr: 0 if e < 2 else lr),
    "ConstantLR for no time": (lambda o: S.ConstantLR(o, 0.5, 0), lambda e, lr: lr),
    "LinearLR": (
        lambda o: S.LinearLR(o, 0.1, 0.7, 20),
        lambda e, lr: lr * (0.1 + 0.6 * min(e, 20) / 20),
    ),
    "LinearLR for no time": (lambda o: S.LinearLR(o, 0.1, 0.7, 0), lambda e, lr: lr * 0.7),
    "ExponentialLR": (lambda o: S.ExponentialLR(o, 0.93), lambda e, lr: lr * 0.93**e),
    "PolynomialLR": (
        lambda o: S.PolynomialLR(o, 40, 2.5),
        lambda e, lr: lr * (1 - min(e, 40) / 40) ** 2.5,
    ),
    "CosineAnnealingLR": (
        lambda o: S.CosineAnnealingLR(o, 10, 0.001),
        lambda e, lr: 0.001 + (lr - 0.001) * (1 + cos(pi * e / 10)) / 2,
    ),
    "CosineAnnealingWarmRestarts": (
        lambda o: S.CosineAnnealingWarmRestarts(o, 4, 2, 1e-3),
        waves(4, 2, 1e-3),
    ),
    "CosineAnnealingWarmRestarts 1": (
        lambda o: S.CosineAnnealingWarmRestarts(o, 7),
        waves(7, 1, 0),
    ),
    "CyclicLR": (
        lambda o: S.CyclicLR(o, 0.01, 0.1, 7, 4),
        lambda e, lr: 0.01 + 0.09 * triangle(e, 7, 4)[1],
    ),
    "CyclicLR triangular2": (
        lambda o: S.CyclicLR(o, 0.01, 0.1, 5, mode="triangular2"),
        lambda e, lr: 0.01 + 0.09 * triangle(e, 5, 5)[1] * 0.5 ** (triangle(e, 5, 5)[0] - 1),
    ),
    "CyclicLR exp_range": (
        lambda o: S.CyclicLR(o, 0.01, 0.1, 5, mode="exp_range", gamma=0.9, cycle_momentum=False),
        lambda e, lr: 0.01 + 0.09 * triangle(e, 5, 5)[1] * 0.9**e,
    ),
    "CyclicLR of a function": (
        lambda o: S.CyclicLR(o, 0.01, 0.1, 5, scale_fn=lambda cycle: 1 / cycle),
        lambda e, lr: 0.01 + 0.09 * triangle(e, 5, 5)[1] / triangle(e, 5, 5)[0],
    ),
    "OneCycleLR": (lambda o: S.OneCycleLR(o, 0.3, total_steps=60), one_cycle),
    "SWALR": (
        lambda o: SWALR(o, 0.05, 20, "linear"),
        lambda e, lr: lr + (0.05 - lr) * min(e, 20) / 20,
    ),
    "SWALR cos": (
        lambda o: SWALR(o, 0.05),
        lambda e, lr: lr + (0.05 - lr) * (1 - cos(pi * min(e, 10) / 10)) / 2,
    ),
    "ChainedScheduler": (
        lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.9)]),
        lambda e, lr: lr * 0.9**e * (0.1 if e < 4 else 1),
    ),
    "SequentialLR": (
        lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.5, 9), S.StepLR(o, 3, 0.5)], [6]),
        lambda e, lr: lr / 2 if e < 6 else lr * 0.5 ** ((e - 6) // 3),
    ),
    "SequentialLR from its second": (
        lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.5, 9), S.StepLR(o, 3, 0.5)], [0]),
        lambda e, lr: lr * 0.5 ** (e // 3),
    ),
    "SequentialLR in SequentialLR": (  # both as the first and as a later one
        lambda o: S.SequentialLR(
            o,
            [
                S.SequentialLR(o, [S.ConstantLR(o, 0.5, 9), S.ExponentialLR(o, 0.5)], [2]),
                S.SequentialLR(o, [S.ConstantLR(o, 0.2, 9), S.ExponentialLR(o, 0.5)], [2]),
            ],
            [5],
        ),
        lambda e, lr: lr * [0.5, 0.5, 1, 0.5, 0.25, 0.2, 0.2, *[0.5**k for k in range(60)]][e],
    ),
    "ChainedScheduler in SequentialLR": (
        lambda o: S.SequentialLR(
            o,
            [
                S.ChainedScheduler([S.ExponentialLR(o, 0.5), S.ConstantLR(o, 0.5, 9)]),
                S.ChainedScheduler([S.ExponentialLR(o, 0.9), S.ConstantLR(o, 0.1, 9)]),
            ],
            [3],
        ),
        lambda e, lr: lr * (0.5 ** (e + 1) if e < 3 else 0.9 ** (e - 3) * (0.1 if e < 12 else 1)),
    ),
    "CosineAnnealingWarmRestarts in SequentialLR": (
        lambda o: S.SequentialLR(
            o, [S.ConstantLR(o, 0.5, 9), S.CosineAnnealingWarmRestarts(o, 4, 2)], [3]
        ),
        lambda e, lr: lr / 2 if e < 3 else waves(4, 2, 0)(e - 3, lr),
    ),
}


OTHERS = {
    "LambdaLR of an object": lambda o: S.LambdaLR(o, Decay()),
    "CyclicLR of an object": lambda o: S.CyclicLR(o, 0.01, 0.1, 5, scale_fn=Share()),
    "OneCycleLR in three phases": lambda o: S.OneCycleLR(o, 0.3, 60, three_phase=True),
    "ReduceLROnPlateau": lambda o: S.ReduceLROnPlateau(o, patience=1, cooldown=2),
    "ReduceLROnPlateau max": lambda o: S.ReduceLROnPlateau(o, "max", 0.5, 1, min_lr=[0.01, 0.001]),
    "three": lambda o: S.SequentialLR(
        o,
        [S.LinearLR(o, 0.1), S.CyclicLR(o, 0.05, 0.2, 4), S.MultiplicativeLR(o, lambda e: 0.9)],
        [5, 19],
    ),
    "four in a chain": lambda o: S.ChainedScheduler(
        [S.LinearLR(o), S.MultiStepLR(o, [3, 9]), S.CosineAnnealingLR(o, 8), S.PolynomialLR(o, 50)]
    ),
}
EVERY = {**{name: make for name, (make, _) in FORMULAS.items()}, **OTHERS}
