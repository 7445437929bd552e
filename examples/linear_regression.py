"""Fits a line through noisy points: the smallest complete training loop.

python examples/linear_regression.py [--steps 200] [--seed 0]
"""

import argparse

import zero


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200, help="gradient steps")
    parser.add_argument("--seed", type=int, default=0, help="seed of the data and of the start")
    options = parser.parse_args()

    zero.manual_seed(options.seed)
    x = zero.randn(256, 2)
    target = x @ zero.tensor([[2.0], [-3.0]]) + 0.5 + 0.1 * zero.randn(256, 1)

    model = zero.nn.Linear(2, 1)
    optimizer = zero.optim.SGD(model.parameters(), lr=0.1)
    for step in range(options.steps):
        loss = zero.nn.functional.mse_loss(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0 or step == options.steps - 1:
            print(f"step {step:4d}  loss {loss.item():.5f}")

    (w0, w1), bias = model.weight.tolist()[0], model.bias.item()
    print(f"found  y = {w0:+.3f} x0 {w1:+.3f} x1 {bias:+.3f}")
    print("truth  y = +2.000 x0 -3.000 x1 +0.500")


if __name__ == "__main__":
    main()
