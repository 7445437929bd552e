"""Weight and spectral normalisation as parametrizations."""

from __future__ import annotations

import zero
from zero import Tensor, _later
from zero.errors import IndexError, ValueError
from zero.nn.functional import normalize
from zero.nn.module import Module
from zero.nn.utils import parametrize
from zero.nn.utils._spectral_norm import as_matrix, default_dim
from zero.nn.utils._weight_norm import checked_dim, norm_except_dim, scaled_direction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    AnyModule = TypeVar("AnyModule", bound=Module)
else:  # else any name would do
    __getattr__ = _later.missing(__name__)

__all__ = ["spectral_norm", "weight_norm"]


def _weight(op: str, module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"{op}: {type(module).__name__} has no parameter or buffer {name!r}")
    return weight


class _WeightNorm(Module):
    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return scaled_direction(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: AnyModule, name: str = "weight", dim: int | None = 0) -> AnyModule:
    """Makes a weight the product of a length and a direction: ``w = g v / |v|``.

    g and v are the parameters ``parametrizations.<name>.original0`` and ``original1``. Files with
    those of the older :func:`zero.nn.utils.weight_norm` can be loaded.

    Args:
        module: the layer, which is changed and returned.
        name: of the parameter.
        dim: the dimension along which each slice has a length of its own; None for one length.

    Raises:
        ValueError: there is no such parameter or dimension.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.parametrizations.weight_norm(zero.nn.Linear(20, 40))
        >>> layer.parametrizations.weight.original0.shape
        zero.Size([40, 1])

    Source: Salimans and Kingma, Weight normalization, 2016.
    """
    dim = checked_dim("weight_norm", _weight("weight_norm", module, name), dim)
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(module: Module, state_dict: dict[str, Any], prefix: str, *_: object) -> None:
        for i, end in enumerate(("_g", "_v")):
            if f"{prefix}{name}{end}" in state_dict:
                new = f"{prefix}parametrizations.{name}.original{i}"
                state_dict[new] = state_dict.pop(f"{prefix}{name}{end}")

    module.register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """Divides by ``u W v``; u and v start with 15 steps of power iteration."""

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        ndim = weight.dim()
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"spectral_norm: no such dimension; got {dim}, expected {-ndim} to {ndim - 1}"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"spectral_norm: got n_power_iterations {n_power_iterations}, expected 1 or more"
            )
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            with zero.no_grad():
                matrix = as_matrix(weight, self.dim)
                for name, n in zip(("_u", "_v"), matrix.shape, strict=True):
                    start = zero.randn(n, dtype=weight.dtype, device=weight.device)
                    self.register_buffer(name, normalize(start, dim=0, eps=eps))
                self._power_method(matrix, 15)

    def _power_method(self, matrix: Tensor, steps: int) -> None:
        with zero.no_grad():
            for _ in range(steps):
                self._u.copy_(normalize(zero.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(zero.mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:  # its only singular value is its norm
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # The next forward() writes to them, perhaps before this one's backward().
        u, v = self._u.clone(), self._v.clone()
        return weight / zero.dot(u, zero.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: AnyModule,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> AnyModule:
    """Divides a weight, as a matrix, by its largest singular value; a vector by its norm.

    The value is about ``u W v`` with two unit vectors, which each use of the weight in training
    brings nearer to the singular ones by steps of power iteration.

    Args:
        module: the layer, which is changed and returned.
        name: of the parameter.
        n_power_iterations: steps for each use.
        eps: the least norm that is divided by.
        dim: the dimension of the outputs: the matrix's rows. None: 1 for transposed convolutions,
            else 0.

    Raises:
        ValueError: there is no such parameter, or n_power_iterations is not positive.
        IndexError: there is no such dimension.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.parametrizations.spectral_norm(zero.nn.Linear(4, 4))
        >>> for _ in range(100):
        ...     weight = layer.weight
        >>> v = layer.parametrizations.weight[0]._v
        >>> round((weight @ v).norm().item(), 3)
        1.0

    Source: Miyato et al., Spectral normalization for generative adversarial networks, 2018.
    """
    weight = _weight("spectral_norm", module, name)
    rows = default_dim(module) if dim is None else dim
    norm = _SpectralNorm(weight, n_power_iterations, rows, eps)
    return parametrize.register_parametrization(module, name, norm)
