"""zero.safetensors: tensors in the format of safetensors, by way of the package."""

import io
import json
import os
import stat
import sys

import numpy as np
import pytest

import zero
from zero import safetensors
from zero.serialization import CheckpointError

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()


def tensors():
    made = {name: zero.tensor([[0, 1, 1], [1, 0, 0]], dtype=getattr(zero, name)) for name in DTYPES}
    x = zero.arange(6.0).view(2, 3)
    made |= {
        "transposed": x.t(),
        "row": x[1],
        "scalar": zero.tensor(3.5),
        "empty": zero.empty(0, 4),
    }
    made["parameter"] = zero.nn.Parameter(zero.ones(2))
    return made


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, x in expected.items():
        assert zero.equal(found[name], x) and found[name].dtype is x.dtype, name
        assert type(found[name]) is zero.Tensor and not found[name].requires_grad
        assert found[name].is_contiguous()


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    for call in (
        lambda: safetensors.save({}),
        lambda: safetensors.load(b""),
        lambda: safetensors.save_file({}, "x"),
        lambda: safetensors.load_file("x"),
        lambda: zero.load("x.safetensors"),
    ):
        with pytest.raises(ImportError, match=r"pip install 'zerograd\[safetensors\]'"):
            call()


class TestWithThePackage:
    @pytest.fixture(autouse=True)
    def package(self):
        return pytest.importorskip("safetensors")

    def test_bytes(self):
        same(safetensors.load(safetensors.save(tensors())), tensors())
        assert safetensors.load(safetensors.save({})) == {}

    @pytest.mark.parametrize("backend", ["mmap", "pread"])
    def test_files(self, tmp_path, backend):
        path = tmp_path / "x.safetensors"
        safetensors.save_file(tensors(), path, {"by": "a test"})
        assert os.listdir(tmp_path) == ["x.safetensors"]
        before = path.read_bytes()
        found = safetensors.load_file(path, backend=backend)
        same(found, tensors())
        found["float32"].fill_(7)
        assert path.read_bytes() == before
        same(zero.load(path), tensors())
        with safetensors.safe_open(path, framework="pt") as file:
            assert file.metadata() == {"by": "a test"}
            assert sorted(file.keys()) == sorted(tensors()) == sorted(file.offset_keys())
            part = file.get_slice("transposed")
            assert part.get_shape() == [3, 2] and part.get_dtype() == "F32"
            assert part[1:].tolist() == [[1, 4], [2, 5]]
            x = file.get_tensor("bfloat16")
            with pytest.raises(CheckpointError, match="no tensor 'none'"):
                file.get_tensor("none")
        assert x.sum() == 3
        with pytest.raises(ValueError, match="is closed"):
            file.get_tensor("bfloat16")
        assert safetensors.load_file(path, "meta")["row"].device.type == "meta"

    def test_numpy_reads_them(self, tmp_path):
        from safetensors.numpy import load_file, save_file

        known = {k: x for k, x in tensors().items() if x.dtype is not zero.bfloat16}
        safetensors.save_file(known, tmp_path / "x")
        found = load_file(tmp_path / "x")
        for name, x in known.items():
            assert np.array_equal(found[name], x.detach().numpy())
        save_file(found, tmp_path / "y")
        same(safetensors.load_file(tmp_path / "y"), known)

    def test_torch_reads_them(self, tmp_path):
        torch = pytest.importorskip("torch")
        from safetensors.torch import load_file, save_file

        safetensors.save_file(tensors(), tmp_path / "x")
        found = load_file(tmp_path / "x")
        for name, x in tensors().items():
            assert str(found[name].dtype).partition(".")[2] == x.dtype.name
            assert found[name].to(torch.float64).tolist() == x.to(zero.float64).tolist()
        save_file(found, tmp_path / "y")
        same(safetensors.load_file(tmp_path / "y"), tensors())

    def test_models(self, tmp_path):
        model = zero.nn.Sequential(zero.nn.Linear(2, 2), zero.nn.Linear(2, 2))
        model[1].weight = model[0].weight
        path = tmp_path / "model.safetensors"
        safetensors.save_model(model, path)
        assert "1.weight" not in safetensors.load_file(path)
        other = zero.nn.Sequential(zero.nn.Linear(2, 2), zero.nn.Linear(2, 2))
        assert safetensors.load_model(other, path) == ([], [])
        assert zero.equal(other[1].weight, model[0].weight)
        model[0].weight.data = zero.ones(2, 2).t()[:, :1].expand(2, 2)
        with pytest.raises(ValueError, match=r"\['0.weight'\]: not contiguous"):
            safetensors.save_model(model, path, force_contiguous=False)

    def test_arguments(self, tmp_path):
        for bad, match in (({"a": 1}, r"\['a'\]"), ({1: zero.ones(1)}, r"\[1\]"), ([], "no dict")):
            with pytest.raises(TypeError, match=match):
                safetensors.save(bad)
        with pytest.raises(TypeError, match="meta"):
            safetensors.save({"a": zero.empty(1, device="meta")})
        with pytest.raises(FileNotFoundError):
            safetensors.load_file(tmp_path / "none")
        safetensors.save_file({"a": zero.ones(1)}, tmp_path / "a")
        with pytest.raises(ValueError, match="framework"):
            safetensors.safe_open(tmp_path / "a", framework="tf")
        with pytest.raises(ValueError, match="backend"):
            safetensors.safe_open(tmp_path / "a", backend="x")
        with pytest.raises(ValueError, match="no locations"):
            safetensors.save_file({"a": zero.ones(1)}, tmp_path / "a.safetensors")
            zero.load(tmp_path / "a.safetensors", {})

    @pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
    def test_a_path_is_replaced_in_one_step(self, tmp_path):
        path = tmp_path / "x"
        safetensors.save_file({"a": zero.ones(1)}, path)
        assert stat.S_IMODE(os.stat(path).st_mode) & 0o200
        os.chmod(path, 0o604)
        old = safetensors.load_file(path)
        safetensors.save_file({"a": zero.zeros(1)}, path)
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o604 and old["a"] == 1
        with pytest.raises(TypeError):
            safetensors.save_file({"a": None}, path)
        assert os.listdir(tmp_path) == ["x"] and safetensors.load_file(path)["a"] == 0

    def test_damaged_files(self, tmp_path):
        data = safetensors.save({"a": zero.ones(3), "b": zero.tensor([True])})
        path = tmp_path / "x"
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])

        def changed(**fields):
            text = json.dumps(header | {"a": header["a"] | fields}).encode()
            return len(text).to_bytes(8, "little") + text + data[8 + size :]

        bad = [
            b"", data[:-1], data + b"x", data[:20], (2**60).to_bytes(8, "little") + data[8:],
            changed(shape=[4]), changed(shape=[2**40, 2**40]), changed(data_offsets=[0, 2**50]),
            changed(dtype="F99"), changed(data_offsets=[-4, 8]), b"\xff" * 100,
        ]  # fmt: skip
        for content in bad:
            path.write_bytes(content)
            with pytest.raises(CheckpointError, match="damaged"):
                safetensors.load(content)
            with pytest.raises(CheckpointError, match="damaged"):
                safetensors.load_file(path)
        flags = bytearray(data)
        flags[-1 if header["b"]["data_offsets"][0] else 8 + size] = 7
        assert safetensors.load(bytes(flags))["b"].view(zero.uint8).max() == 1
        path.write_bytes(changed(dtype="U32"))
        with pytest.raises(TypeError, match="no such dtype; got U32"):
            safetensors.load_file(path)
        assert isinstance(io.BytesIO(data).getvalue(), bytes)
