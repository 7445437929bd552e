"""Weights divided by their largest singular value, by a hook before each forward()."""

from __future__ import annotations

import zero
from zero import Parameter, Tensor
from zero.errors import ValueError
from zero.nn.functional import normalize
from zero.nn.utils._weight_norm import checked_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from zero.nn.module import Module

    AnyModule = TypeVar("AnyModule", bound=Module)

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """One dimension as the rows, all others as the columns."""
    return weight.movedim(dim, 0).flatten(1)


def default_dim(module: Module) -> int:
    """The dimension of the outputs: 1 of transposed convolutions."""
    from zero.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d

    return 1 if isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d) else 0


class SpectralNorm:
    """The hook of :func:`spectral_norm`."""

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"spectral_norm: got n_power_iterations {n_power_iterations}, expected 1 or more"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight with a row for each output."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight divided by u W v, after steps that bring u and v nearer to what they are for.

        Args:
            module: the layer.
            do_power_iteration: whether to do the steps.
        """
        weight: Tensor = getattr(module, self.name + "_orig")
        u: Tensor = getattr(module, self.name + "_u")
        v: Tensor = getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with zero.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(zero.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(zero.mv(matrix, v), dim=0, eps=self.eps))
            # The next forward() writes to them, perhaps before this one's backward().
            u, v = u.clone(), v.clone()
        return weight / zero.dot(u, zero.mv(matrix, v))

    @staticmethod
    def apply(
        module: Module, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Makes the parameter and the buffers, and registers the hook."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"spectral_norm: the parameter {name!r} has one already")
        fn = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"spectral_norm: the parameter {name!r} is None")
        checked_lazy("spectral_norm", name, weight)
        with zero.no_grad():
            u, v = (
                normalize(zero.randn(n, dtype=weight.dtype, device=weight.device), dim=0, eps=eps)
                for n in fn.reshape_weight_to_matrix(weight).shape
            )
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)  # so that it can be asked for before the first call
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module: Module) -> None:
        """Makes the weight a parameter again."""
        with zero.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: AnyModule,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> AnyModule:
    """Divides a weight, as a matrix, by its largest singular value.

    That is about ``u W v`` with two unit vectors, buffers of the layer, which each forward() in
    training brings nearer to the singular ones by steps of power iteration. The parameter is then
    called `<name>_orig`. The newer form is :func:`zero.nn.utils.parametrizations.spectral_norm`.

    Args:
        module: the layer, which is changed and returned.
        name: of the parameter.
        n_power_iterations: steps in each forward().
        eps: the least norm that is divided by.
        dim: the dimension of the outputs: the matrix's rows. None: 1 for transposed convolutions,
            else 0.

    Raises:
        RuntimeError: the parameter is normalised already.
        ValueError: n_power_iterations is not positive.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.spectral_norm(zero.nn.Linear(20, 40))
        >>> layer.weight_u.shape, layer.weight_v.shape
        (zero.Size([40]), zero.Size([20]))

    Source: Miyato et al., Spectral normalization for generative adversarial networks, 2018.
    """
    dim = default_dim(module) if dim is None else dim
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Undoes :func:`spectral_norm`: the weight, as it is divided now, is a parameter again.

    Args:
        module: the layer, which is changed and returned.
        name: of the parameter.

    Raises:
        ValueError: it is not normalised.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.spectral_norm(zero.nn.Linear(20, 40))
        >>> sorted(dict(zero.nn.utils.remove_spectral_norm(layer).named_parameters()))
        ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(
        f"remove_spectral_norm: {name!r} of {type(module).__name__} has no spectral_norm"
    )
