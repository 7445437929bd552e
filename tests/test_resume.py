"""A training run that is killed at random moments ends with the same bits as one that is not."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import zero

PROGRAM = Path(__file__).resolve().parent / "resumed_program.py"
KILLS = int(os.environ.get("ZERO_TEST_KILLS", "6"))


def start(path, steps, workers):
    root = str(Path(zero.__file__).parent.parent)
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(path), str(steps), str(workers)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )


def result(process):
    lines = process.communicate(timeout=240)[0].splitlines()
    assert process.returncode == 0
    return lines[-1]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_run_ends_with_the_same_bits(tmp_path, workers):
    if workers and sys.platform == "win32":
        pytest.skip("the program's data set would have to be importable by its workers")
    steps = 4 * KILLS
    rng = random.Random(11)
    expected = result(start(tmp_path / "never.pt", steps, workers))
    assert expected.startswith("end ")
    path, during = tmp_path / "killed.pt", {"step": 0, "save": 0}
    for _ in range(KILLS):
        process = start(path, steps, workers)
        for _ in range(rng.randrange(1, 8)):
            line = process.stdout.readline()
        during[line.split()[0]] += 1
        time.sleep(rng.random() * 0.004)
        process.kill()
        process.communicate()
        if path.exists():
            assert set(zero.load(path)) >= {"model", "losses"}  # the old or the new, never half
    assert result(start(path, steps, workers)) == expected
    assert len(zero.load(path)["losses"]) == steps
    if KILLS > 5:
        assert all(during.values())
    left = [name for name in os.listdir(tmp_path) if not name.endswith(".pt")]
    assert len(left) <= KILLS if sys.platform != "linux" else len(left) <= 1, left
