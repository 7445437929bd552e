"""Optimizers in NumPy, from their formulas: one function for a step of one parameter.

Each gets the parameter, its gradient, a dict for what it remembers, the count of steps and the
options, and returns the new parameter.
"""

import numpy as np


def decayed(p, g, o):
    g = -g if o.get("maximize") else g
    decay = o.get("weight_decay", 0)
    if o.get("decoupled_weight_decay"):
        return p * (1 - o["lr"] * decay), g
    return p, g + decay * p


def mean(s, name, x, keep, start=0.0):
    s[name] = keep * s.get(name, start) + (1 - keep) * x
    return s[name]


def sgd(p, g, s, t, o):
    p, g = decayed(p, g, o)
    if o["momentum"]:
        b = g if t == 1 else o["momentum"] * s["momentum_buffer"] + (1 - o["dampening"]) * g
        s["momentum_buffer"] = b
        g = g + o["momentum"] * b if o["nesterov"] else b
    return p - o["lr"] * g


def adam(p, g, s, t, o):
    p, g = decayed(p, g, o)
    b1, b2 = o["betas"]
    m, v = mean(s, "exp_avg", g, b1), mean(s, "exp_avg_sq", g * g, b2)
    if o["amsgrad"]:
        s["max_exp_avg_sq"] = v = np.maximum(s.get("max_exp_avg_sq", 0.0), v)
    return p - o["lr"] * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + o["eps"])


def nadam(p, g, s, t, o):
    p, g = decayed(p, g, o)
    b1, b2 = o["betas"]
    m, v = mean(s, "exp_avg", g, b1), mean(s, "exp_avg_sq", g * g, b2)
    mu = b1 * (1 - 0.5 * 0.96 ** (t * o["momentum_decay"]))
    ahead = b1 * (1 - 0.5 * 0.96 ** ((t + 1) * o["momentum_decay"]))
    # The product is kept in float32.
    s["mu_product"] = c = np.float32(s.get("mu_product", np.float32(1)) * np.float32(mu))
    c = float(c)
    d = (1 - mu) * g / (1 - c) + ahead * m / (1 - c * ahead)
    return p - o["lr"] * d / (np.sqrt(v / (1 - b2**t)) + o["eps"])


def radam(p, g, s, t, o):
    p, g = decayed(p, g, o)
    b1, b2 = o["betas"]
    m, v = mean(s, "exp_avg", g, b1), mean(s, "exp_avg_sq", g * g, b2)
    most = 2 / (1 - b2) - 1
    n = most - 2 * t * b2**t / (1 - b2**t)
    d = m / (1 - b1**t)
    if n <= 5:
        return p - o["lr"] * d
    r = np.sqrt((n - 4) * (n - 2) * most / ((most - 4) * (most - 2) * n))
    return p - o["lr"] * d * r * np.sqrt(1 - b2**t) / (np.sqrt(v) + o["eps"])


def adamax(p, g, s, t, o):
    p, g = decayed(p, g, o)
    b1, b2 = o["betas"]
    m = mean(s, "exp_avg", g, b1)
    s["exp_inf"] = np.maximum(b2 * s.get("exp_inf", 0.0), np.abs(g) + o["eps"])
    return p - o["lr"] / (1 - b1**t) * m / s["exp_inf"]


def adagrad(p, g, s, t, o):
    p, g = decayed(p, g, o)
    s["sum"] = s.get("sum", o["initial_accumulator_value"]) + g * g
    return p - o["lr"] / (1 + (t - 1) * o["lr_decay"]) * g / (np.sqrt(s["sum"]) + o["eps"])


def adadelta(p, g, s, t, o):
    p, g = decayed(p, g, o)
    v = mean(s, "square_avg", g * g, o["rho"])
    d = np.sqrt(s.get("acc_delta", 0.0) + o["eps"]) / np.sqrt(v + o["eps"]) * g
    mean(s, "acc_delta", d * d, o["rho"])
    return p - o["lr"] * d


def rmsprop(p, g, s, t, o):
    p, g = decayed(p, g, o)
    v = mean(s, "square_avg", g * g, o["alpha"])
    if o["centered"]:
        v = v - mean(s, "grad_avg", g, o["alpha"]) ** 2
    d = g / (np.sqrt(v) + o["eps"])
    if o["momentum"]:
        s["momentum_buffer"] = d = o["momentum"] * s.get("momentum_buffer", 0.0) + d
    return p - o["lr"] * d


def rprop(p, g, s, t, o):
    g = -g if o["maximize"] else g
    turn = np.sign(g * s.get("prev", 0.0))
    factor = np.select([turn > 0, turn < 0], [o["etas"][1], o["etas"][0]], 1.0)
    s["step_size"] = np.clip(s.get("step_size", o["lr"]) * factor, *o["step_sizes"])
    s["prev"] = g = np.where(turn < 0, 0, g)
    return p - np.sign(g) * s["step_size"]


def asgd(p, g, s, t, o):
    p, g = decayed(p, g, o)
    eta, mu = float(s.get("eta", np.float32(o["lr"]))), float(s.get("mu", np.float32(1)))
    p = p * (1 - o["lambd"] * eta) - eta * g
    s["ax"] = s.get("ax", 0.0) + mu * (p - s.get("ax", 0.0))
    # Both are kept in float32.
    s["eta"] = np.float32(o["lr"] / (1 + o["lambd"] * o["lr"] * t) ** o["alpha"])
    s["mu"] = np.float32(1 / max(1, t - o["t0"]))
    return p


def lion(p, g, s, t, o):
    g = -g if o["maximize"] else g
    b1, b2 = o["betas"]
    m = s.get("exp_avg", 0.0)
    mean(s, "exp_avg", g, b2)
    return p * (1 - o["lr"] * o["weight_decay"]) - o["lr"] * np.sign(b1 * m + (1 - b1) * g)


def adafactor(p, g, s, t, o):
    g = -g if o["maximize"] else g
    least = np.finfo(p.dtype).eps if o["eps"][0] is None else o["eps"][0]
    a = max(o["eps"][1], np.sqrt(np.mean(p * p))) * min(o["lr"], 1 / np.sqrt(t))
    keep = 1 - t ** o["beta2_decay"]
    p = p * (1 - o["lr"] * o["weight_decay"])
    if g.ndim > 1:
        r = mean(s, "row_var", np.mean(g * g, axis=-1, keepdims=True), keep)
        c = mean(s, "col_var", np.mean(g * g, axis=-2, keepdims=True), keep)
        v = r * c / np.maximum(np.mean(r, axis=-2, keepdims=True), least)
    else:
        v = mean(s, "variance", g * g, keep)
    u = g / np.sqrt(np.maximum(v, least**2))
    return p - a / max(1, np.sqrt(np.mean(u * u)) / o["d"]) * u


STEPS = {
    "SGD": sgd,
    "Adam": adam,
    "AdamW": adam,
    "NAdam": nadam,
    "RAdam": radam,
    "Adamax": adamax,
    "Adagrad": adagrad,
    "Adadelta": adadelta,
    "RMSprop": rmsprop,
    "Rprop": rprop,
    "ASGD": asgd,
    "Lion": lion,
    "Adafactor": adafactor,
}

# Options that each of them is tried with, one after the other and all together.
ADAM = [
    {"lr": 0.05},
    {"betas": (0.7, 0.9)},
    {"eps": 1e-3},
    {"weight_decay": 0.1},
    {"maximize": True},
]
DECOUPLED = {"weight_decay": 0.1, "decoupled_weight_decay": True}
OPTIONS = {
    "SGD": [
        *({"lr": 0.1}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.25}),
        *({"momentum": 0.9, "nesterov": True}, {"weight_decay": 0.1}, {"maximize": True}),
    ],
    "Adam": [*ADAM, {"amsgrad": True}, DECOUPLED, {"betas": (0.0, 0.0)}],
    "AdamW": [*ADAM, {"amsgrad": True}],
    "NAdam": [*ADAM, {"momentum_decay": 0.1}, DECOUPLED],
    "RAdam": [*ADAM, DECOUPLED],
    "Adamax": ADAM,
    "Adagrad": [
        *({"lr": 0.1}, {"lr_decay": 0.5}, {"weight_decay": 0.1}, {"maximize": True}),
        *({"initial_accumulator_value": 0.5}, {"eps": 1e-2}),
    ],
    "Adadelta": [
        *({"lr": 0.5}, {"rho": 0.5}, {"rho": 1.0}, {"eps": 1e-2}, {"weight_decay": 0.1}),
        {"maximize": True},
    ],
    "RMSprop": [
        *({"lr": 0.1}, {"alpha": 0.5}, {"eps": 1e-2}, {"weight_decay": 0.1}, {"momentum": 0.9}),
        *({"centered": True}, {"momentum": 0.9, "centered": True}, {"maximize": True}),
    ],
    "Rprop": [
        *({"lr": 0.1}, {"etas": (0.3, 2.0)}, {"step_sizes": (0.005, 0.02)}, {"maximize": True}),
    ],
    "ASGD": [
        *({"lr": 0.1}, {"lambd": 0.1}, {"alpha": 0.2}, {"t0": 2}, {"weight_decay": 0.1}),
        *({"maximize": True}, {"lr": 0.1, "lambd": 0.3, "t0": 0}),
    ],
    "Lion": [{"lr": 0.1}, {"betas": (0.5, 0.6)}, {"weight_decay": 0.1}, {"maximize": True}],
    "Adafactor": [
        *({"lr": 0.1}, {"beta2_decay": -0.3}, {"eps": (1e-2, 1e-1)}, {"d": 2.0}),
        *({"weight_decay": 0.1}, {"maximize": True}),
    ],
}
