"""Another name of :mod:`zero.utils.data`: ``import zero.data`` gives that very module."""

import sys
from importlib import import_module

# Its modules, too: else ``import zero.data.sampler`` would make a second one.
for _name in (
    "",
    ".dataloader",
    ".dataset",
    ".distributed",
    ".sampler",
    "._utils",
    "._utils.collate",
    "._utils.fetch",
    "._utils.pin_memory",
    "._utils.worker",
):
    sys.modules[f"zero.data{_name}"] = import_module(f"zero.utils.data{_name}")
