"""A training program that saves after every step, and goes on from its checkpoint if there is one.

``resumed_program.py CHECKPOINT STEPS WORKERS`` prints what it does, and at the end the file's hash.
"""

import os
import sys
from hashlib import sha256

import zero

path, steps, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
zero.manual_seed(0)


class Noisy(zero.utils.data.Dataset):
    """Samples that are drawn anew each time they are read."""

    def __init__(self):
        self.data = zero.randn(256, 16)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        x = self.data[i]
        return x + 0.1 * zero.randn(16), x.sum().reshape(1)


model = zero.nn.Sequential(
    zero.nn.Linear(16, 64),
    zero.nn.BatchNorm1d(64),
    zero.nn.ReLU(),
    zero.nn.Dropout(0.3),
    zero.nn.Linear(64, 300),
    zero.nn.Linear(300, 1),
)
optimizer = zero.optim.AdamW(model.parameters(), lr=0.01)
scheduler = zero.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=steps + 1)
loader = zero.utils.data.DataLoader(
    Noisy(), 32, shuffle=True, num_workers=workers, generator=zero.Generator().manual_seed(1)
)
losses = []


def state():
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "loader": loader.state_dict(),
        "random": zero.get_rng_state(),
        "losses": losses,
    }


if os.path.exists(path):
    found = zero.load(path)
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    scheduler.load_state_dict(found["scheduler"])
    loader.load_state_dict(found["loader"])
    zero.set_rng_state(found["random"])
    losses = found["losses"]


def batches():
    while len(losses) < steps:
        yield from loader  # the rest of an epoch, then whole ones


for x, target in batches():
    step = len(losses)
    print("step", step, flush=True)
    loss = ((model(x) - target) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    losses.append(loss.item())
    print("save", step, flush=True)
    zero.save(state(), path)
    if len(losses) == steps:
        break

zero.save(state(), path)
with open(path, "rb") as file:
    print("end", sha256(file.read()).hexdigest(), flush=True)
