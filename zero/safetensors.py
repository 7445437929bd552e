"""Tensors in the format of safetensors: names, shapes and bytes, and nothing else.

The package ``safetensors`` writes and checks the files: ``pip install zerograd[safetensors]``.
Names and arguments are those of its module ``safetensors.torch``. A tensor is written in row-major
order. Where several names share memory, each has its own copy in the file.

Example:
    >>> import zero
    >>> from zero import safetensors
    >>> data = safetensors.save({"weight": zero.ones(2, dtype=zero.bfloat16)})
    >>> safetensors.load(data)
    {'weight': tensor([1., 1.], dtype=zero.bfloat16)}
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import zero
from zero import Tensor, _later
from zero.errors import DTypeError
from zero.serialization import CheckpointError
from zero.serialization._files import Source, bytes_of, replaced

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["load", "load_file", "load_model", "safe_open", "save", "save_file", "save_model"]

CODES = {
    "BOOL": zero.bool, "U8": zero.uint8, "I8": zero.int8, "I16": zero.int16, "I32": zero.int32,
    "I64": zero.int64, "F16": zero.float16, "BF16": zero.bfloat16, "F32": zero.float32,
    "F64": zero.float64,
}  # fmt: skip


def _package(op: str) -> Any:
    try:
        import safetensors
    except ImportError:
        raise ImportError(
            f"{op}: the package safetensors is not installed; pip install 'zerograd[safetensors]'"
        ) from None
    return safetensors


# ---- writing -------------------------------------------------------------------------------------
def _specs(op: str, tensors: Mapping[str, Tensor]) -> tuple[Any, dict[str, Any], list[Tensor]]:
    package = _package(op)
    if sys.byteorder != "little":
        raise RuntimeError(f"{op}: not supported on a big-endian machine")
    if not isinstance(tensors, dict):
        raise TypeError(
            f"{op}: no dict; got a {type(tensors).__name__}, expected names and tensors"
        )
    specs, kept = {}, []
    for name, x in tensors.items():
        if not isinstance(name, str) or not isinstance(x, Tensor):
            raise DTypeError(
                f"{op}: [{name!r}]: no tensor under a name; got a {type(name).__name__} and a "
                f"{type(x).__name__}, expected a str and a Tensor"
            )
        if x.device.type == "meta":
            raise DTypeError(f"{op}: [{name!r}]: a tensor on meta has no content to save")
        x = x.detach().contiguous()
        kept.append(x)
        specs[name] = package.TensorSpec(
            dtype=x.dtype.name,
            shape=list(x.shape),
            data_ptr=x.data_ptr(),
            data_len=x.numel() * x.element_size(),
        )
    return package, specs, kept


def save(tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """The content of a file with tensors.

    Args:
        tensors: by name.
        metadata: texts by name, to be kept with them.

    Raises:
        ImportError: the package is not installed.
        TypeError: something is no tensor.
    """
    package, specs, kept = _specs("save", tensors)
    result = package.serialize(specs, metadata)
    del kept
    return bytes(result)


def save_file(
    tensors: Mapping[str, Tensor], filename: Any, metadata: dict[str, str] | None = None
) -> None:
    """Writes tensors to a file, which takes the place of an older one in one step.

    Args:
        tensors: by name.
        filename: the path.
        metadata: texts by name, to be kept with them.

    Raises:
        ImportError: the package is not installed.
        TypeError: something is no tensor.
    """
    package, specs, kept = _specs("save_file", tensors)
    with replaced(filename, named=True) as file:
        package.serialize_file(specs, file.name, metadata)
    del kept


def save_model(
    model: zero.nn.Module,
    filename: Any,
    metadata: dict[str, str] | None = None,
    force_contiguous: bool = True,
) -> None:
    """Writes a model's ``state_dict()``; of names that share a tensor, only the first.

    Args:
        model: the model.
        filename: the path.
        metadata: texts by name; the names that were left out are added.
        force_contiguous: whether parameters may be written in another order than they are in
            memory; False makes such ones an error.
    """
    tensors: dict[str, Tensor] = {}
    first: dict[Any, str] = {}
    metadata = dict(metadata or {})
    for name, x in model.state_dict().items():
        place = (x.data_ptr(), tuple(x.shape), tuple(x.stride()), x.dtype)
        if x.numel() and first.setdefault(place, name) != name:
            metadata[name] = first[place]
            continue
        if not force_contiguous and not x.is_contiguous():
            raise zero.errors.ValueError(
                f"save_model: [{name!r}]: not contiguous; force_contiguous=True writes it in "
                "row-major order"
            )
        tensors[name] = x
    save_file(tensors, filename, metadata or None)


# ---- reading -------------------------------------------------------------------------------------
def load(data: bytes) -> dict[str, Tensor]:
    """The tensors in the content of a file.

    Args:
        data: what :func:`save` returns, or a file's bytes.

    Raises:
        ImportError: the package is not installed.
        zero.serialization.CheckpointError: the content is damaged.
    """
    package = _package("load")
    try:
        found = package.deserialize(bytes(data))
    except package.SafetensorError as error:
        raise CheckpointError(f"load: the content is damaged: {error}") from None
    result = {}
    for name, about in found:
        dtype = _dtype(name, about["dtype"], "load")
        content = about["data"]
        flat = zero.empty(len(content), dtype=zero.uint8, device="cpu")
        if content:
            bytes_of(flat)[:] = content
        result[name] = _shaped(flat, dtype, about["shape"])
    return result


def _dtype(name: str, code: str, op: str) -> zero.dtype:
    if code not in CODES:
        raise DTypeError(f"{op}: [{name!r}]: zero has no such dtype; got {code}")
    return CODES[code]


def _shaped(flat: Tensor, dtype: zero.dtype, shape: list[int]) -> Tensor:
    if dtype is zero.bool and flat.numel() and int(flat.max()) > 1:
        flat.copy_(flat != 0)  # loops rely on 0 and 1
    return zero.empty(0, dtype=dtype, device="cpu").set_(flat.view(dtype)).view(shape)


def load_file(filename: Any, device: Any = "cpu", *, backend: str = "mmap") -> dict[str, Tensor]:
    """Reads all tensors of a file.

    Args:
        filename: the path.
        device: cpu, or meta for shapes only.
        backend: as of :class:`safe_open`.

    Raises:
        ImportError: the package is not installed.
        zero.serialization.CheckpointError: the file is damaged.
    """
    with safe_open(filename, "pt", device, backend=backend) as file:
        return {name: file.get_tensor(name) for name in file.keys()}


def load_model(
    model: zero.nn.Module, filename: Any, strict: bool = True, device: Any = "cpu"
) -> tuple[list[str], list[str]]:
    """Reads a file into a model, also one of :func:`save_model` that left out shared names.

    Args:
        model: the model.
        filename: the path.
        strict: whether missing and unexpected names are errors.
        device: cpu.

    Returns:
        The names that are missing, and those that are unexpected.
    """
    with safe_open(filename, "pt", device) as file:
        found = {name: file.get_tensor(name) for name in file.keys()}
        for name, kept in (file.metadata() or {}).items():
            if name not in found and kept in found:
                found[name] = found[kept]
    answer = model.load_state_dict(found, strict=strict)
    return answer.missing_keys, answer.unexpected_keys


class safe_open:
    """A file whose tensors are read when they are asked for, to be used in a ``with`` block.

    Args:
        filename: the path.
        framework: ``"pt"``: tensors are zero's.
        device: where they go: cpu, or meta for shapes only.
        backend: ``"mmap"`` gives tensors whose memory is the file's, read when it is first used and
            written to in memory only; ``"pread"`` reads them at once.

    Raises:
        ImportError: the package is not installed.
        zero.serialization.CheckpointError: the file is damaged.

    Example:
        >>> import os, tempfile, zero
        >>> from zero.safetensors import safe_open, save_file
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "model.safetensors")
        ...     save_file({"weight": zero.arange(6).view(2, 3)}, path)
        ...     with safe_open(path, framework="pt") as file:
        ...         file.keys(), file.get_slice("weight")[:, 1:]
        (['weight'], tensor([[1, 2],
                [4, 5]]))
    """

    def __init__(
        self, filename: Any, framework: str = "pt", device: Any = "cpu", *, backend: str = "mmap"
    ) -> None:
        package = _package("safe_open")
        if framework not in ("pt", "zero", "torch", "pytorch"):
            raise zero.errors.ValueError(
                f"safe_open: framework is another one; got {framework!r}, expected 'pt', which "
                "gives zero's tensors"
            )
        if backend not in ("mmap", "pread"):
            raise zero.errors.ValueError(
                f"safe_open: no such backend; got {backend!r}, expected 'mmap' or 'pread'"
            )
        self._device = zero.empty(0, device=device).device
        self._path = os.fspath(filename)
        self._mapped = backend == "mmap"
        try:
            # It checks the list of tensors against the file.
            self._checked = package.safe_open(self._path, framework="numpy")
        except package.SafetensorError as error:
            raise CheckpointError(f"safe_open: {self._path!r} is damaged: {error}") from None
        self._file: Any = open(self._path, "rb", buffering=0)
        self._source = Source(self._file, repr(self._path))
        self._start, self._list = _header(self._file)
        self._memory: Any = None

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self._memory = None  # stays while a tensor uses it
        self._checked = None

    def keys(self) -> list[str]:
        """The names of the tensors."""
        return list(self._list)

    def offset_keys(self) -> list[str]:
        """The names of the tensors in the order of the file."""
        return sorted(self._list, key=lambda name: self._list[name]["data_offsets"])

    def metadata(self) -> dict[str, str] | None:
        """The texts that were saved with the tensors."""
        return self._checked.metadata()  # type: ignore[no-any-return]

    def get_tensor(self, name: str) -> Tensor:
        """A tensor."""
        if name not in self._list:
            raise CheckpointError(f"safe_open: {self._path!r} has no tensor {name!r}")
        about = self._list[name]
        dtype = _dtype(name, about["dtype"], "safe_open")
        if self._device.type == "meta":
            return zero.empty(about["shape"], dtype=dtype, device="meta")
        first, end = about["data_offsets"]
        return _shaped(self._bytes(self._start + first, end - first, dtype), dtype, about["shape"])

    def get_slice(self, name: str) -> Slice:
        """A tensor of which a part is taken by an index."""
        return Slice(self, name)

    def _bytes(self, start: int, size: int, dtype: zero.dtype) -> Tensor:
        if self._file.closed:
            raise zero.errors.ValueError(
                f"safe_open: {self._path!r} is closed; tensors are read inside of the with block"
            )
        if self._mapped and size and start % dtype.itemsize == 0:
            if self._memory is None:
                import mmap

                self._memory = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_COPY)
            return zero.frombuffer(self._memory, dtype=zero.uint8, count=size, offset=start)
        flat = zero.empty(size, dtype=zero.uint8, device="cpu")
        if size:
            self._source.fill(start, bytes_of(flat))
        return flat


class Slice:
    """A tensor of a file of which only a part is taken: ``file.get_slice(name)[index]``."""

    def __init__(self, file: safe_open, name: str) -> None:
        self._file, self._name = file, name
        self._about = file._list[name]

    def get_shape(self) -> list[int]:
        """The shape of the whole."""
        return list(self._about["shape"])

    def get_dtype(self) -> str:
        """The format's name of the dtype, such as F32."""
        return str(self._about["dtype"])

    def __getitem__(self, index: Any) -> Tensor:
        return self._file.get_tensor(self._name)[index]


def _header(file: Any) -> tuple[int, dict[str, Any]]:
    """Where the content begins, and what stands in the list before it, which is checked already."""
    import json

    size = int.from_bytes(file.read(8), "little")
    found = json.loads(file.read(size))
    found.pop("__metadata__", None)
    return 8 + size, found


if not TYPE_CHECKING:
    __getattr__ = _later.missing("zero.safetensors")
