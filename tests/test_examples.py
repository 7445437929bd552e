"""The examples run, learn what they should, and leave files where they say."""

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from children import run_child

import zero

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
INF = float("inf")


def accuracy(text: str) -> float:
    return float(re.search(r"accuracy on 3\d\d held-out digits: ([\d.]+)%", text)[1])


def test_digits_quickly_with_a_plot(tmp_path):
    for module in ("sklearn", "tqdm", "matplotlib"):
        pytest.importorskip(module)
    text = run_child(EXAMPLES / "digits.py", "--epochs", 8, "--seed", 1, cwd=tmp_path)
    assert accuracy(text) > 80  # a tenth would be chance
    picture = tmp_path / "digits.png"
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and picture.stat().st_size > 20_000


def test_digits_reach_what_is_promised(tmp_path):
    for module in ("sklearn", "tqdm"):
        pytest.importorskip(module)
    text = run_child(EXAMPLES / "digits.py", "--no-plot", cwd=tmp_path)
    assert accuracy(text) >= 96
    assert list(tmp_path.iterdir()) == []


def test_the_split_is_stratified_and_without_overlap():
    pytest.importorskip("sklearn")
    pytest.importorskip("tqdm")
    sys.path.insert(0, str(EXAMPLES))
    try:
        import digits
    finally:
        sys.path.remove(str(EXAMPLES))
    x, y, x_test, y_test = digits.load(0)
    assert (
        len(x) + len(x_test) == 1797
        and len(y) == len(x)
        and 0 <= x.min().item()
        and x.max().item() == 1
    )
    for k in range(10):
        n, m = (y == k).sum().item(), (y_test == k).sum().item()
        assert abs(m / (n + m) - 0.2) < 0.01
    rows = {tuple(r) for r in x.tolist()}
    assert sum(tuple(r) in rows for r in x_test.tolist()) == 0
    assert (
        x_test.tolist() != digits.load(1)[2].tolist()
        and x_test.tolist() == digits.load(0)[2].tolist()
    )


def test_mnist_cnn_on_digits(tmp_path):
    for module in ("sklearn", "tqdm", "matplotlib"):
        pytest.importorskip(module)
    text = run_child(EXAMPLES / "mnist_cnn.py", "--epochs", 15, cwd=tmp_path, timeout=300)
    assert accuracy(text) > 95
    picture = tmp_path / "mnist_cnn.png"
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and picture.stat().st_size > 20_000


def write_idx(path, array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    data = head + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def test_mnist_cnn_reads_idx_files(tmp_path):
    for module in ("sklearn", "tqdm"):
        pytest.importorskip(module)
    rng = np.random.default_rng(0)
    for part, n, end in (("train", 512, ""), ("t10k", 300, ".gz")):
        labels = rng.integers(0, 10, n)
        images = rng.integers(0, 60, (n, 28, 28))
        images[np.arange(n), 4 + 2 * labels] = 255  # a line at the height of the class
        write_idx(tmp_path / f"{part}-images-idx3-ubyte{end}", images)
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte{end}", labels)
    text = run_child(
        EXAMPLES / "mnist_cnn.py", "--data", tmp_path, "--epochs", 4, "--no-plot", cwd=tmp_path,
        timeout=300,
    )  # fmt: skip
    assert accuracy(text) > 60  # a tenth would be chance; lines move by up to a pixel


def test_vae(tmp_path):
    for module in ("sklearn", "tqdm", "matplotlib"):
        pytest.importorskip(module)
    text = run_child(EXAMPLES / "vae.py", "--epochs", 20, cwd=tmp_path)
    bound = float(re.search(r"ELBO of 359 held-out digits: (\S+) nats", text)[1])
    # Independent pixels with the right means reach -27.1, 100 epochs -24.5.
    assert -26.5 < bound < -24
    assert (tmp_path / "vae.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_char_gpt(tmp_path):
    for module in ("tqdm", "matplotlib"):
        pytest.importorskip(module)
    text = run_child(EXAMPLES / "char_gpt.py", "--steps", 40, cwd=tmp_path, timeout=600)
    found = re.search(r"held-out perplexity: ([\d.]+); 5-gram model: ([\d.]+)", text)
    # 40 of 2,500 steps. Letters as often as they are have some 26, all alike 96.
    assert 3 < float(found[2]) < 6 and float(found[1]) < 24
    assert "\nReturn " in text and "\nRaise an exception if " in text
    assert (tmp_path / "char_gpt.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_what_char_gpt_is_made_of(monkeypatch):
    pytest.importorskip("tqdm")
    sys.path.insert(0, str(EXAMPLES))
    try:
        import char_gpt
    finally:
        sys.path.remove(str(EXAMPLES))
    text = zero.tensor([0, 1, 2, 0, 1, 2, 2, 0, 1, 1, 0, 1, 2])
    model = char_gpt.KneserNey(text, 3, 3)
    for context in ((0, 1), (1, 2), (2, 2), (1, 0), (2, 1)):
        p = [model.probabilities(zero.tensor([*context, c])).item() for c in range(3)]
        assert abs(sum(p) - 1) < 1e-12 and min(p) > 0
    assert model.perplexity(text) < 2
    # Turned queries and keys know their distance only.
    q, k = zero.randn(2, 1, 8).expand(2, 9, 8).double()
    q, k = (char_gpt.turn(x, *char_gpt.rotary_tables(9, 8)) for x in (q, k))
    scores = q @ k.T
    for shift in range(-8, 9):
        line = scores.diagonal(shift)
        assert (line - line[0]).abs().max().item() < 1e-5
    mask = char_gpt.alibi_mask(3, 2)
    assert mask[0].tolist() == [[0, -INF, -INF], [-1 / 16, 0, -INF], [-1 / 8, -1 / 16, 0]]
    assert mask[1, 2].tolist() == [-2 / 256, -1 / 256, 0]
    for name, value in (("CONTEXT", 16), ("WIDTH", 32), ("LAYERS", 2), ("BATCH", 8)):
        monkeypatch.setattr(char_gpt, name, value)
    for positions in ("learned", "rotary", "alibi"):
        model = char_gpt.GPT(3, positions)
        losses = char_gpt.train(model, text.repeat(30), 20)
        assert losses[-1] < losses[0]
        for parameter in model.parameters():
            zero.nn.init.normal_(parameter, std=0.3)
        tokens = zero.randint(3, (2, 12))
        other = tokens.clone()
        other[:, 7:] = 2 - other[:, 7:]
        a, b = model(tokens), model(other)
        assert (a[:, :7] - b[:, :7]).abs().max().item() < 1e-6
        assert (a[:, 7:] - b[:, 7:]).abs().max().item() > 1e-4


def test_lstm_timeseries(tmp_path):
    for module in ("statsmodels", "tqdm", "matplotlib"):
        pytest.importorskip(module)
    text = run_child(EXAMPLES / "lstm_timeseries.py", "--epochs", 15, cwd=tmp_path, timeout=300)
    found = dict(re.findall(r"months, ([\w ]+): (\S+) ppm", text))
    errors = {name: float(value) for name, value in found.items()}
    naive = min(errors["last value"], errors["a year ago"])
    assert errors["LSTM"] < 0.5 * naive and naive > 1
    picture = tmp_path / "lstm_timeseries.png"
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and picture.stat().st_size > 20_000


def test_linear_regression(tmp_path):
    text = run_child(EXAMPLES / "linear_regression.py", cwd=tmp_path)
    w0, w1, bias = map(float, re.search(r"found  y = (\S+) x0 (\S+) x1 (\S+)", text).groups())
    # 256 points with noise 0.1: a standard error of 0.1 / sqrt(256).
    assert abs(w0 - 2) < 0.03 and abs(w1 + 3) < 0.03 and abs(bias - 0.5) < 0.03
    losses = [float(v) for v in re.findall(r"loss ([\d.]+)", text)]
    assert losses[-1] < 0.02 < losses[0]
    again = run_child(EXAMPLES / "linear_regression.py", "--seed", 0, cwd=tmp_path)
    assert again == text


def test_cartpole_quickly_with_a_plot(tmp_path):
    for module in ("gymnasium", "tqdm", "matplotlib"):
        pytest.importorskip(module)
    text = run_child(EXAMPLES / "cartpole.py", "--updates", 25, "--seed", 1, cwd=tmp_path)
    assert float(re.search(r"greedy policy in 20 episodes: ([\d.]+)", text)[1]) > 100  # chance: 20
    picture = tmp_path / "cartpole.png"
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and picture.stat().st_size > 10_000


def test_cartpole_reaches_what_is_promised(tmp_path):
    for module in ("gymnasium", "tqdm"):
        pytest.importorskip(module)
    text = run_child(EXAMPLES / "cartpole.py", "--no-plot", cwd=tmp_path, timeout=300)
    assert float(re.search(r"greedy policy in 20 episodes: ([\d.]+)", text)[1]) >= 475
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="the command line of gcc and clang")
def test_the_core_trains_without_python(tmp_path):
    """examples/cpp/linear_regression.cpp on the objects of csrc, which know nothing of Python."""
    tool = ROOT / "tools" / "build_core.py"
    if not tool.exists():
        pytest.skip("not a source tree")
    if not any(shutil.which(c) for c in ("c++", "g++", "clang++")) and "CXX" not in os.environ:
        pytest.skip("no C++ compiler")
    program = tmp_path / "regression"
    run_child(
        tool,
        "--program",
        EXAMPLES / "cpp" / "linear_regression.cpp",
        "-o",
        program,
        cwd=ROOT,
        timeout=600,
    )
    text = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout
    assert float(re.search(r"loss after 100 steps: ([\d.]+)", text)[1]) < 1e-3
    if shutil.which("nm"):
        symbols = subprocess.run(["nm", "-D", str(program)], capture_output=True, text=True).stdout
        assert "Py" not in re.sub(r"_ZN\S+", "", symbols)
