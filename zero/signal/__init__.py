"""Signal processing: windows."""

from zero import _later
from zero.signal import windows

__all__ = ["windows"]

TYPE_CHECKING = False
if not TYPE_CHECKING:  # else any name would do
    __getattr__ = _later.missing(__name__)
