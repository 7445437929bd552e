"""PyTorch's paths of layers: ``nn.modules.batchnorm.BatchNorm2d`` is ``nn.BatchNorm2d``.

What is a file there is a module here that looks its names up: public ones in `zero.nn`, others in
the files that define them. Only `utils` has names of its own.
"""

from __future__ import annotations

import sys
from types import ModuleType

from zero import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# PyTorch's file -> modules of zero.nn with the same layers.
_HOMES = {
    "activation": "activation rectifier multihead_attention",
    "adaptive": "adaptive",
    "batchnorm": "batchnorm",
    "channelshuffle": "upsampling",
    "container": "container parameter_container",
    "conv": "convolution",
    "distance": "distance",
    "dropout": "dropout",
    "flatten": "flatten",
    "fold": "fold",
    "instancenorm": "instancenorm",
    "lazy": "lazy",
    "linear": "linear",
    "loss": "loss margin_loss",
    "module": "module",
    "normalization": "normalization",
    "padding": "padding",
    "pixelshuffle": "upsampling",
    "pooling": "pooling",
    "rnn": "rnn",
    "sparse": "embedding",
    "transformer": "transformer transformer_layer",
    "upsampling": "upsampling",
}


class _Path(ModuleType):
    """One of PyTorch's files."""

    def __init__(self, name: str, homes: str) -> None:
        super().__init__(f"{__name__}.{name}", f"PyTorch's path of layers of zero.nn: {homes}.")
        self._homes = homes.split()

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            for home in self._homes:
                module = _later.import_module(f"zero.nn.{home}")
                if hasattr(module, name):
                    return getattr(module, name)
            if not name.startswith("_"):
                return getattr(sys.modules["zero.nn"], name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


for _name, _homes in _HOMES.items():
    _path = _Path(_name, _homes)
    sys.modules[_path.__name__] = globals()[_name] = _path


def __getattr__(name: str) -> Any:
    if name == "utils":
        return _later.import_module("zero.nn.modules.utils")
    return getattr(sys.modules["zero.nn"], name)
