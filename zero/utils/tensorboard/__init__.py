"""Files for TensorBoard, by the package ``tensorboard``: ``pip install zerograd[tensorboard]``."""

from zero import _later

try:
    from zero.utils.tensorboard.writer import (
        FileWriter as FileWriter,
        SummaryWriter as SummaryWriter,
    )
except ModuleNotFoundError as error:
    raise ImportError(
        "zero.utils.tensorboard: the package tensorboard makes the files, and it is not "
        f"installed ({error}); pip install tensorboard"
    ) from error

__all__ = ["FileWriter", "SummaryWriter"]

TYPE_CHECKING = False
if not TYPE_CHECKING:
    __getattr__ = _later.missing(__name__)
