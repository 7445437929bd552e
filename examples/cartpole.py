"""Teaches a small network to balance a pole on a cart, by proximal policy optimisation (PPO).

Environment: CartPole-v1 of gymnasium. Each step that the pole stands is worth 1, and an episode
ends after 500. 16 carts run side by side; every 128 steps the policy takes some passes over what
they saw (Schulman et al., Proximal policy optimization algorithms, 2017; advantages by Schulman et
al., High-dimensional continuous control using generalized advantage estimation, 2016).

Networks and batches are tiny here, so what a program waits for is overhead. The 245,760 steps with
their 5,760 passes back take 20 to 30 s on one virtual CPU of a busy machine, nearly half of that in
the environments. At the end the policy, now greedy, plays 20 episodes whose seeds are always the
same; with the seeds 0, 1 and 2 it reaches 500 in all of them.

python examples/cartpole.py [--updates 120] [--seed 0] [--no-plot]
"""

import argparse
import time

import gymnasium
import numpy as np
from tqdm import tqdm

import zero
from zero import nn
from zero.distributions import Categorical

CARTS, STEPS = 16, 128  # of one update
DISCOUNT, TRACE = 0.99, 0.95
EPOCHS, BATCH = 6, 256
RATE, CLIP, ENTROPY = 2.5e-3, 0.2, 0.01
EVALUATION_SEEDS = range(1000, 1020)


class Agent(nn.Module):
    """A policy over two actions, and the value of a state."""

    def __init__(self) -> None:
        super().__init__()
        self.policy = nn.Sequential(
            nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2)
        )
        self.value = nn.Sequential(
            nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)
        )
        for network, gain in ((self.policy, 0.01), (self.value, 1.0)):
            for layer in network[:-1:2]:
                nn.init.orthogonal_(layer.weight, 2**0.5)
            nn.init.orthogonal_(network[-1].weight, gain)

    def actions(self, states: zero.Tensor) -> Categorical:
        return Categorical(logits=self.policy(states))


class Carts:
    """Carts that run on from one update to the next, and what was seen of them."""

    def __init__(self, seed: int) -> None:
        self.env = gymnasium.make_vec("CartPole-v1", CARTS)
        self.state = zero.tensor(self.env.reset(seed=seed)[0])
        self.ended = np.zeros(CARTS, dtype=bool)  # such a cart starts anew in the next step
        self.lengths = np.zeros(CARTS, dtype=int)
        self.returns = [0.0]  # of episodes that have ended

    @zero.no_grad()
    def run(self, agent: Agent) -> tuple[zero.Tensor, ...]:
        """States, actions, their log-probabilities, advantages and returns of STEPS steps.

        A cart whose episode has ended takes no part in the step that starts it anew.
        """
        states, actions, log_probs, rewards = [self.state], [], [], []
        fell, over, taken = [], [], []
        for _ in range(STEPS):
            distribution = agent.actions(self.state)
            action = distribution.sample()
            log_probs.append(distribution.log_prob(action))
            actions.append(action)
            taken.append(~self.ended)
            state, reward, terminated, truncated, _ = self.env.step(action.numpy())
            self.state = zero.tensor(state)
            states.append(self.state)
            rewards.append(reward)
            self.lengths = np.where(self.ended, 0, self.lengths + 1)
            self.ended = terminated | truncated
            self.returns += self.lengths[self.ended].tolist()
            fell.append(terminated)
            over.append(self.ended)

        seen = zero.stack(states)  # [STEPS + 1, CARTS, 4]
        values = agent.value(seen).squeeze(-1).numpy()
        advantages = np.zeros((STEPS, CARTS), dtype=np.float32)
        ahead = np.zeros(CARTS)
        for t in reversed(range(STEPS)):
            surprise = rewards[t] + DISCOUNT * values[t + 1] * ~fell[t] - values[t]
            ahead = surprise + DISCOUNT * TRACE * ahead * ~over[t]
            advantages[t] = ahead
        rows = zero.tensor(np.flatnonzero(np.stack(taken)))
        returns = advantages + values[:-1]
        parts = (seen[:-1].flatten(0, 1), zero.cat(actions), zero.cat(log_probs))
        arrays = (zero.tensor(advantages.ravel()), zero.tensor(returns.ravel()))
        return tuple(part[rows] for part in (*parts, *arrays))


def improve(agent: Agent, optimizer: zero.optim.Optimizer, seen: tuple[zero.Tensor, ...]) -> None:
    """Passes over what was seen, with ratios of probabilities clipped."""
    states, actions, log_probs, advantages, returns = seen
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(EPOCHS):
        for rows in zero.randperm(len(states)).split(BATCH):
            distribution = agent.actions(states[rows])
            ratio = (distribution.log_prob(actions[rows]) - log_probs[rows]).exp()
            gain = advantages[rows]
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            objective = zero.minimum(ratio * gain, clipped * gain).mean()
            error = (agent.value(states[rows]).squeeze(-1) - returns[rows]).square().mean()
            loss = 0.5 * error - objective - ENTROPY * distribution.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def train(agent: Agent, updates: int, seed: int) -> list:
    """Adam with a falling rate; returns the mean return of the latest 50 episodes, by update."""
    carts = Carts(seed)
    optimizer = zero.optim.Adam(agent.parameters(), lr=RATE, eps=1e-5)
    curve = []
    bar = tqdm(range(updates), desc="training", unit="update")
    for update in bar:
        optimizer.param_groups[0]["lr"] = RATE * (1 - update / updates)
        improve(agent, optimizer, carts.run(agent))
        curve.append(float(np.mean(carts.returns[-50:])))
        bar.set_postfix(reward=f"{curve[-1]:.0f}")
    return curve


@zero.no_grad()
def evaluate(agent: Agent) -> list:
    """The return of the greedy policy in each of the fixed episodes."""
    env = gymnasium.make("CartPole-v1")
    returns = []
    for seed in EVALUATION_SEEDS:
        state, done, total = env.reset(seed=seed)[0], False, 0.0
        while not done:
            action = agent.policy(zero.tensor(state)).argmax().item()
            state, reward, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
            total += float(reward)
        returns.append(total)
    return returns


def plot(curve: list, path: str) -> None:
    """Rewards while training."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    steps = [CARTS * STEPS * (i + 1) / 1000 for i in range(len(curve))]
    axes.plot(steps, curve)
    axes.axhline(500, color="gray", linestyle=":", label="the most there is")
    axes.set(xlabel="thousands of steps", ylabel="reward of the latest 50 episodes", ylim=(0, 520))
    axes.legend()
    figure.savefig(path, dpi=120)
    print(f"plot written to {path}")


def main() -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0, help="of the start, the carts and the draws")
    parser.add_argument("--no-plot", action="store_true", help="don't write cartpole.png")
    options = parser.parse_args()

    zero.set_num_threads(1)  # nothing here is large enough for a second one
    zero.manual_seed(options.seed)
    agent = Agent()
    began = time.perf_counter()
    curve = train(agent, options.updates, options.seed)
    seconds = time.perf_counter() - began
    returns = evaluate(agent)
    mean = float(np.mean(returns))
    print(f"{CARTS * STEPS * options.updates:,} steps in {seconds:.1f} s")
    print(f"reward of the greedy policy in {len(returns)} episodes: {mean:.1f}")
    if not options.no_plot:
        plot(curve, "cartpole.png")
    return mean


if __name__ == "__main__":
    main()
