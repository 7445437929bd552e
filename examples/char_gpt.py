"""Trains a small GPT on the docstrings of Python's standard library, character by character.

Data: the docstrings in the source files of the Python that runs this, each once; every tenth file
is held out. The model's perplexity on the held-out characters is compared with that of a 5-gram
model with interpolated Kneser-Ney smoothing, which sees the same training part. Settings and number
of steps were chosen on the splits of seeds 0 and 1. Measured with Python 3.11: 4.37 and 4.89 of the
5-gram model (seed 0), 3.77 and 3.92 (seed 1), 4.57 and 4.92 (seed 2, which chose nothing).

A place begins with vectors of its character and of the four before it; the rest is for attention
to find. Where it is the model learns from vectors that are added, from turned queries and keys
(rotary positions), or from scores that fall with the distance (ALiBi).

python examples/char_gpt.py [--positions rotary] [--steps 2500] [--seed 0] [--no-plot]
"""

import argparse
import ast
import math
import random
import sysconfig
from pathlib import Path

from tqdm import tqdm

import zero
import zero.nn.functional as F
from zero import nn

CONTEXT = 128  # characters
WIDTH = 128
HEADS = 4
NEAR = 5  # characters whose vectors a place begins with
LAYERS = 4
BATCH = 8
RATE = 6e-3
WARM_UP = 100  # steps
ORDER = 5  # of the model it is compared with
EXCLUDED = ("encodings", "idlelib", "site-packages", "test")


# ---- text ----------------------------------------------------------------------------------------
def docstrings(path: Path) -> list:
    """Those of a module, its classes and functions."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(path.read_bytes())
    found = (ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds))
    return [text for text in found if text and text.isascii()]


def load(seed: int) -> tuple:
    """Training part and held-out part as indices of characters, and the characters."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(library.glob("*.py")) + sorted(library.glob("[a-z]*[a-z]/*.py"))
    files = [f for f in files if f.parent.name not in EXCLUDED]
    random.Random(seed).shuffle(files)
    parts: tuple[list, list] = ([], [])
    seen = set()
    for i, file in enumerate(files):
        for text in docstrings(file):
            if text not in seen:
                seen.add(text)
                parts[i % 10 == 0].append(text)
    train, held_out = ("\n\n".join(texts) for texts in parts)
    characters = sorted({*train, *held_out})
    index = {c: i for i, c in enumerate(characters)}
    return (
        zero.tensor([index[c] for c in train]),
        zero.tensor([index[c] for c in held_out]),
        characters,
    )


# ---- the model it is compared with ---------------------------------------------------------------
class KneserNey:
    """Interpolated Kneser-Ney: each order discounts what it counted and leaves the rest to the
    order below, which counts in how many contexts a character was met.

    Grams are numbers: their characters are the digits, the last one the lowest.
    """

    def __init__(self, text: zero.Tensor, order: int, size: int) -> None:
        self.size = size
        self.tables = []
        grams, counts = zero.unique(self.grams(text, order), return_counts=True)
        for n in range(order, 0, -1):
            once, twice = ((counts == k).sum().item() for k in (1, 2))
            discount = once / max(once + 2 * twice, 1)
            contexts, which = zero.unique(grams // size, return_inverse=True)
            totals = zero.bincount(which, counts.double())
            kinds = zero.bincount(which)
            self.tables.append((n, grams, counts.double(), contexts, totals, kinds, discount))
            grams, counts = zero.unique(grams % size ** (n - 1), return_counts=True)

    def grams(self, text: zero.Tensor, n: int) -> zero.Tensor:
        digits = zero.tensor([self.size ** (n - 1 - i) for i in range(n)])
        return (text.unfold(0, n, 1) * digits).sum(1)

    def probabilities(self, text: zero.Tensor) -> zero.Tensor:
        """That of each character after those before it, from the first with a whole context."""
        order = self.tables[0][0]
        p = zero.full((len(text) - order + 1,), 1 / self.size, dtype=zero.float64)
        for n, grams, counts, contexts, totals, kinds, discount in reversed(self.tables):
            asked = self.grams(text, n)[order - n :]
            count = self.look_up(asked, grams, counts)
            context = asked // self.size
            total = self.look_up(context, contexts, totals)
            rest = discount * self.look_up(context, contexts, kinds)
            own = (count - discount).clamp(min=0)
            p = zero.where(total > 0, (own + rest * p) / total.clamp(min=1), p)
        return p

    @staticmethod
    def look_up(asked: zero.Tensor, keys: zero.Tensor, values: zero.Tensor) -> zero.Tensor:
        """The values of keys, which are sorted; 0 for others."""
        place = zero.searchsorted(keys, asked).clamp(max=len(keys) - 1)
        return zero.where(keys[place] == asked, values[place].double(), 0.0)

    def perplexity(self, text: zero.Tensor) -> float:
        return math.exp(-self.probabilities(text).log().mean().item())


# ---- GPT -----------------------------------------------------------------------------------------
def rotary_tables(length: int, width: int) -> tuple:
    """Cosines and sines of the angles by which pairs of a head are turned, [length, width / 2].

    Su et al., RoFormer, 2021: a turned query and a turned key know only their distance.
    """
    speeds = 10_000.0 ** (-zero.arange(0, width, 2) / width)
    angles = zero.arange(length).unsqueeze(1) * speeds
    return angles.cos(), angles.sin()


def turn(x: zero.Tensor, cosine: zero.Tensor, sine: zero.Tensor) -> zero.Tensor:
    """Turns [..., L, D], whose pairs are i and i + D / 2."""
    a, b = x.chunk(2, -1)
    return zero.cat((a * cosine - b * sine, b * cosine + a * sine), -1)


def alibi_mask(length: int, heads: int) -> zero.Tensor:
    """Scores that fall with the distance, faster in each head, and hide what is ahead: [H, L, L].

    Press, Smith and Lewis, Train short, test long, 2022.
    """
    slopes = 2.0 ** (-8 * zero.arange(1, heads + 1) / heads)
    places = zero.arange(length)
    distance = places.unsqueeze(1) - places
    mask = -slopes.view(-1, 1, 1) * distance
    return mask.masked_fill(distance < 0, -math.inf)


class Block(nn.Module):
    def __init__(self, positions: str) -> None:
        super().__init__()
        self.positions = positions
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x: zero.Tensor, tables: tuple) -> zero.Tensor:
        n, length, _ = x.shape
        qkv = self.qkv(x).view(n, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)  # [N, H, L, D] each
        if self.positions == "rotary":
            q, k = turn(q, *tables), turn(k, *tables)
        if self.positions == "alibi":
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=tables[0])
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(n, length, WIDTH))

    def forward(self, x: zero.Tensor, tables: tuple) -> zero.Tensor:  # [N, L, WIDTH]
        x = x + self.attend(self.norm1(x), tables)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, size: int, positions: str) -> None:
        super().__init__()
        self.positions = positions
        self.embed = nn.ModuleList([nn.Embedding(size, WIDTH) for _ in range(NEAR)])
        if positions == "learned":
            self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList([Block(positions) for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, size, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                scale = 0.02
                if name.endswith(("out.weight", "down.weight")):  # what is added up
                    scale /= math.sqrt(2 * LAYERS)
                nn.init.normal_(parameter, std=scale)

    def forward(self, text: zero.Tensor) -> zero.Tensor:  # [N, L] -> [N, L, size]
        length = text.shape[1]
        x = self.embed[0](text)
        for i in range(1, NEAR):  # that of the character i places before
            x = x + F.pad(self.embed[i](text[:, :-i]), (0, 0, i, 0))
        tables: tuple = ()
        if self.positions == "learned":
            x = x + self.places.weight[:length]
        elif self.positions == "rotary":
            tables = rotary_tables(length, WIDTH // HEADS)
        else:
            tables = (alibi_mask(length, HEADS),)
        for block in self.blocks:
            x = block(x, tables)
        return self.head(self.norm(x))


def train(model: GPT, text: zero.Tensor, steps: int) -> list:
    """AdamW; the rate rises, then falls to 0. Returns the loss of each step in nats."""
    matrices = [p for p in model.parameters() if p.dim() == 2]
    rest = [p for p in model.parameters() if p.dim() != 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    optimizer = zero.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.95))
    window = zero.arange(CONTEXT + 1)
    losses = []
    bar = tqdm(range(steps), desc="training", unit="step")
    for step in bar:
        rate = RATE * min((step + 1) / WARM_UP, (steps - step) / steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        starts = zero.randint(len(text) - CONTEXT, (BATCH, 1))
        batch = text[starts + window]
        scores = model(batch[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 10 == 0:
            bar.set_postfix(loss=f"{losses[-1]:.3f}")
    return losses


def perplexity(model: GPT, text: zero.Tensor) -> float:
    """Of all characters but the first few, in windows that overlap by half.

    Each window is asked for its second half only, so that there is something to go by.
    """
    model.eval()
    half = CONTEXT // 2
    windows = text.unfold(0, CONTEXT + 1, half)
    total = 0.0
    with zero.no_grad():
        for batch in windows.split(64):
            scores = model(batch[:, :-1])[:, half:].flatten(0, 1)
            total += F.cross_entropy(scores, batch[:, half + 1 :].flatten(), reduction="sum").item()
    return math.exp(total / (len(windows) * half))


def sample(model: GPT, characters: list, prompt: str, count: int, temperature: float) -> str:
    """The prompt, continued."""
    model.eval()
    text = zero.tensor([[characters.index(c) for c in prompt]])
    with zero.no_grad():
        for _ in range(count):
            scores = model(text[:, -CONTEXT:])[:, -1] / temperature
            text = zero.cat((text, zero.multinomial(scores.softmax(-1), 1)), 1)
    return "".join(characters[i] for i in text[0].tolist())


def plot(losses: list, lines: dict, path: str) -> None:
    """The loss of each step and its mean over 20, and the held-out results as lines."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    axes.plot(losses, color="0.8", label="training, each step")
    n = 20
    means = [sum(losses[i : i + n]) / n for i in range(len(losses) - n + 1)]
    axes.plot(range(n - 1, len(losses)), means, label=f"training, mean of {n} steps")
    for color, (label, nats) in zip(("C1", "C3"), lines.items(), strict=True):
        axes.axhline(nats, color=color, linestyle="--", label=f"{label}, {nats:.3f}")
    axes.set(xlabel="step", ylabel="nats a character", title="A GPT of characters")
    axes.legend()
    figure.savefig(path, dpi=120)
    print(f"plot written to {path}")


def main() -> tuple:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", choices=("learned", "rotary", "alibi"), default="rotary")
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=0, help="of the split, the start and the draws")
    parser.add_argument("--no-plot", action="store_true", help="don't write char_gpt.png")
    options = parser.parse_args()

    zero.manual_seed(options.seed)
    text, held_out, characters = load(options.seed)
    print(f"{len(text):,} characters to train on, {len(held_out):,} held out")
    half = CONTEXT // 2
    asked = held_out[: len(held_out) // half * half + 1]  # what fills windows
    grams = KneserNey(text, ORDER, len(characters)).perplexity(asked[half + 1 - ORDER + 1 :])
    model = GPT(len(characters), options.positions)
    losses = train(model, text, options.steps)
    found = perplexity(model, asked)
    for prompt in ("Return ", "Raise an exception if "):
        print(f"\n{sample(model, characters, prompt, 300, temperature=0.7)}")
    print(f"\nheld-out perplexity: {found:.3f}; {ORDER}-gram model: {grams:.3f}")
    if not options.no_plot:
        lines = {"GPT, held out": math.log(found), f"{ORDER}-grams, held out": math.log(grams)}
        plot(losses, lines, "char_gpt.png")
    return found, grams


if __name__ == "__main__":
    main()
