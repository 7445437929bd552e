"""Parameter under PyTorch's path ``nn.parameter.Parameter``."""

from zero import Parameter

__all__ = ["Parameter"]
