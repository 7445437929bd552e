"""Checkpoint files with faults: mutations that are drawn from a seed.

As a program, ``mutants.py N SEED``, it loads N of them and prints what came of it.
"""

import argparse
import collections
import io
import random
import struct
import sys
import time
import zlib

import numpy as np
import torch_files

import zero
from zero.serialization import CheckpointError


def make(k):
    zero.manual_seed(k)
    x = zero.arange(40.0)
    m = zero.nn.Linear(3, 2)
    o = zero.optim.AdamW(m.parameters())
    m(zero.ones(1, 3)).sum().backward()
    o.step()
    w = zero.ones(3)
    w.tag = "hi"
    obj = {
        "model": m.state_dict(),
        "opt": o.state_dict(),
        "rng": zero.get_rng_state(),
        "p": m.weight,
        "views": [x[:6], x[2:4], x.view(zero.int32)[3:5]],
        "dt": zero.float16,
        "dev": zero.device("cpu"),
        "sz": zero.Size([1, 2]),
        "c": 1 + 2j,
        "set": {1, 2, "x"},
        "b": b"abc\xff",
        "ba": bytearray(b"x"),
        "meta": zero.empty(2, device="meta"),
        "e": zero.empty(0, 3),
        "bf": zero.ones(2, dtype=zero.bfloat16),
        "bool": zero.tensor([True, False]),
        "big": 2**100,
        "ctr": collections.Counter("aab"),
        "tup": (1, 2, 3, 4, ()),
        (1, "a"): None,
        7: -1.5,
        "w": w,
        "np": np.float64(1.5),
        "na": np.arange(6, dtype=">i4").reshape(2, 3),
        "fs": frozenset([1]),
        "dd": collections.defaultdict(list, {1: [2]}),
        "ns": argparse.Namespace(lr=1),
        "t": zero.ones(2, 3).t(),
    }
    f = io.BytesIO()
    zero.save(obj, f)
    return f.getvalue()


def records(data):
    """name -> (local header offset, data offset, size, central offset)"""
    end = data.rfind(b"PK\5\6")
    n, _, start = struct.unpack_from("<HLL", data, end + 10)
    found, at = {}, start
    for _ in range(n):
        f = struct.unpack_from("<4sHHHHHHLLLHHHHHLL", data, at)
        name = data[at + 46 : at + 46 + f[10]].decode()
        nl, xl = struct.unpack_from("<HH", data, f[16] + 26)
        found[name] = (f[16], f[16] + 30 + nl + xl, f[9], at)
        at += 46 + f[10] + f[11] + f[12]
    return found


def fix_crc(data, name, rec):
    _, off, size, central = rec[name]
    crc = struct.pack("<L", zlib.crc32(data[off : off + size]))
    data[off + size + 4 : off + size + 8] = crc
    data[central + 16 : central + 20] = crc


OPS = b"\x80\x95N\x88\x89JKM\x8a\x8bGX\x8c\x8dBC\x8eUT\x96(01)]}\x8f\x85\x86\x87teasu"
OPS += b"\x90\x91hjqr\x94c\x93R\x81\x92bQ."
NUMBERS = [0, 1, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1]


def mutate(base, rng, old):
    data = bytearray(base)
    kind = rng.randrange(9)
    if old:
        kind = rng.choice([0, 1, 2, 3, 8])
        lo, hi = 0, min(len(data), 1500)
    else:
        rec = records(base)
        name = "archive/data.pkl"
        lo, hi = rec[name][1], rec[name][1] + rec[name][2]
    if kind == 0:  # bit flips anywhere
        for _ in range(rng.choice([1, 1, 2, 8])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == 1:  # truncation
        del data[rng.randrange(len(data)) :]
    elif kind == 2:  # spliced bytes
        a, b, n = rng.randrange(len(data)), rng.randrange(len(data)), rng.randrange(1, 200)
        if rng.random() < 0.5:
            data[a:a] = data[b : b + n]
        else:
            data[a : a + n] = data[b : b + n]
    elif kind in (3, 4, 5):  # the pickle: bytes, instructions, parts of it
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            at = rng.randrange(lo, hi)
            how = rng.randrange(5)
            if how == 0:
                data[at] = rng.choice(OPS)
            elif how == 1:
                data[at] = rng.randrange(256)
            elif how == 2:
                b = rng.randrange(lo, hi)
                n = rng.randrange(1, 40)
                part = data[b : b + n][: hi - at]
                data[at : at + len(part)] = part
            elif how == 3:
                data[at : at + 4] = struct.pack("<L", rng.choice(NUMBERS))[: hi - at]
            else:
                k = min(hi - at, 2)
                data[at : at + k] = bytes(rng.choice(OPS) for _ in range(k))
        if not old:
            fix_crc(data, name, rec)
    elif kind == 6:  # fields of the headers and the list at the end
        start = min(r[3] for r in rec.values())
        for _ in range(rng.choice([1, 1, 2])):
            if rng.random() < 0.7:
                at = rng.randrange(start, len(data) - 4)
            else:
                at = rng.choice(list(rec.values()))[0] + rng.randrange(30)
            n = rng.choice([1, 2, 4, 8])
            value = rng.choice([*NUMBERS, len(data), start, rng.randrange(len(data))])
            data[at : at + n] = value.to_bytes(8, "little")[:n]
    elif kind == 7:  # fields of one entry of the list
        r = rng.choice(list(rec.values()))[3]
        at, n = rng.choice(
            [(8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)]
        )
        other = rng.choice(list(rec.values()))
        value = rng.choice([*NUMBERS, *other, rng.randrange(len(data))])
        data[r + at : r + at + n] = value.to_bytes(8, "little")[:n]
    else:  # bytes set to others
        for _ in range(rng.choice([1, 4, 16])):
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def use(x):
    """Computes with all that was loaded."""
    todo = [x]
    while todo:
        x = todo.pop()
        if isinstance(x, dict):
            todo += [*x.keys(), *x.values()]
        elif isinstance(x, (list, tuple, set, frozenset)):
            todo += list(x)
        elif isinstance(x, zero.Tensor) and x.device.type == "cpu" and x.numel() < 10**6:
            x.detach().clone().float().sum().item()
            repr(x)
        elif isinstance(x, np.ndarray):
            x.sum() if x.dtype.kind in "biuf" else repr(x)


def run(n, seed, keep=None):
    """Loads n mutants: what came of them, the longest time, and what went wrong."""
    rng = random.Random(seed)
    files = [make(k) for k in range(4)]
    counts, slowest, wrong = collections.Counter(), 0.0, []
    for i in range(n):
        old = rng.random() < 0.15
        data = mutate(torch_files.OLD if old else rng.choice(files), rng, old)
        start = time.perf_counter()
        try:
            found = zero.load(io.BytesIO(data))
        except CheckpointError as error:
            counts["error"] += 1
            if not str(error).startswith("load: the BytesIO "):
                wrong.append((i, str(error)))
        except BaseException as error:
            counts[type(error).__name__] += 1
            wrong.append((i, repr(error)))
            if keep is not None:
                with open(f"{keep}/mutant_{seed}_{i}.pt", "wb") as file:
                    file.write(data)
        else:
            counts["loaded"] += 1
            use(found)
        slowest = max(slowest, time.perf_counter() - start)
    return counts, slowest, wrong


if __name__ == "__main__":
    counts, slowest, wrong = run(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
    print(dict(counts), f"the slowest took {slowest:.3f} s", *wrong, sep="\n")
    sys.exit(bool(wrong))
