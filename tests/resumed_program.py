"""A training program that saves after every step, and goes on from its checkpoint if there is one.

``resumed_program.py CHECKPOINT STEPS`` prints what it does, and at the end a sum of the file.
"""

import os
import sys
from hashlib import sha256

import zero

path, steps = sys.argv[1], int(sys.argv[2])
zero.manual_seed(0)
model = zero.nn.Sequential(
    zero.nn.Linear(16, 64),
    zero.nn.BatchNorm1d(64),
    zero.nn.ReLU(),
    zero.nn.Dropout(0.3),
    zero.nn.Linear(64, 300),
    zero.nn.Linear(300, 1),
)
optimizer = zero.optim.AdamW(model.parameters(), lr=0.01)
scheduler = None
if hasattr(zero.optim, "lr_scheduler"):
    scheduler = zero.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=steps + 1)
order = zero.Generator().manual_seed(1)
data = zero.randn(256, 16)
target = data.sum(1, keepdim=True)
losses = []


def state():
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler and scheduler.state_dict(),
        "random": zero.get_rng_state(),
        "order": order.get_state(),
        "losses": losses,
    }


if os.path.exists(path):
    found = zero.load(path)
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    if scheduler:
        scheduler.load_state_dict(found["scheduler"])
    zero.set_rng_state(found["random"])
    order.set_state(found["order"])
    losses = found["losses"]

for step in range(len(losses), steps):
    print("step", step, flush=True)
    rows = zero.randperm(256, generator=order)[:32]
    loss = ((model(data[rows]) - target[rows]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if scheduler:
        scheduler.step()
    losses.append(loss.item())
    print("save", step, flush=True)
    zero.save(state(), path)

zero.save(state(), path)
with open(path, "rb") as file:
    print("end", sha256(file.read()).hexdigest(), flush=True)
