"""The error of files that cannot be loaded."""

from __future__ import annotations

from pickle import UnpicklingError

from zero import errors

__all__ = ["CheckpointError"]


class CheckpointError(UnpicklingError, errors.ValueError):
    """A file that is damaged, is no checkpoint, or holds what is not loaded.

    It is a RuntimeError and a ``pickle.UnpicklingError`` too, which programs written for PyTorch
    catch.
    """
