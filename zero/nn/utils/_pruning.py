"""The methods of :mod:`zero.nn.utils.prune`: what each of them prunes."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real

import zero
from zero import Tensor
from zero.errors import IndexError, ShapeError, ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zero.nn.module import Module

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "check_scores",
]


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, Real) or isinstance(amount, bool):
        raise TypeError(f"prune: amount is no number; got {amount!r}, expected an int or a float")
    if float(amount) < 0 or (not isinstance(amount, Integral) and float(amount) > 1):
        raise ValueError(
            f"prune: amount is neither a count nor a fraction; got {amount}, expected an int from "
            "0 on or a float in [0, 1]"
        )


def _count(amount: float, total: int) -> int:
    """How many of `total` an amount is."""
    if not isinstance(amount, Integral):
        return round(amount * total)
    if amount > total:
        raise ValueError(f"prune: amount is larger than what there is; got {amount} of {total}")
    return int(amount)


def _norms(t: Tensor, n: float | str, dim: int) -> Tensor:
    """The n-norm of each slice along a dimension."""
    return t.movedim(dim, 0).flatten(1).norm(2.0 if n == "fro" else float(n), 1)


def _check_channels(t: Tensor, dim: int) -> None:
    if t.dim() < 2:
        raise ValueError(
            f"prune: no channels; got shape {tuple(t.shape)}, expected at least 2 dimensions: "
            "unstructured pruning takes any"
        )
    if not -t.dim() <= dim < t.dim():
        raise IndexError(f"prune: no such dimension; got {dim} for shape {tuple(t.shape)}")


def check_scores(importance_scores: Tensor | None, t: Tensor) -> Tensor:
    if importance_scores is None:
        return t
    if importance_scores.shape != t.shape:
        raise ShapeError(
            f"prune: importance_scores do not fit; got {tuple(importance_scores.shape)}, expected "
            f"{tuple(t.shape)}"
        )
    return importance_scores


class BasePruningMethod:
    """What prunes a parameter; a subclass says in :meth:`compute_mask` what stays.

    It also says with ``PRUNING_TYPE`` ('unstructured', 'structured' or 'global') what it is shown
    of a parameter that is pruned already: elements that are left, channels that are left (along
    its attribute `dim`), or all.

    Example:
        >>> import zero
        >>> prune = zero.nn.utils.prune
        >>> class Negative(prune.BasePruningMethod):
        ...     PRUNING_TYPE = "unstructured"
        ...     def compute_mask(self, t, default_mask):
        ...         return default_mask * (t >= 0)
        >>> layer = zero.nn.Linear(2, 1)
        >>> layer.weight.data = zero.tensor([[-1.0, 2.0]])
        >>> _ = Negative.apply(layer, "weight")
        >>> layer.weight_mask
        tensor([[0., 1.]])
    """

    PRUNING_TYPE: str
    _tensor_name: str = ""

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """A mask of ones and zeros.

        Args:
            t: how important each element is.
            default_mask: the mask so far, which is not to be changed.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__}: has no compute_mask()")

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter with zeros where it is pruned.

        Args:
            module: whose parameter it is.
        """
        mask: Tensor = getattr(module, self._tensor_name + "_mask")
        original: Tensor = getattr(module, self._tensor_name + "_orig")
        return mask.to(original.dtype) * original

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:
        """Prunes a parameter of a module, on top of what was pruned before.

        Args:
            module: which is changed.
            name: of the parameter.
            args: for the class.
            importance_scores: how important each element is; the parameter itself if None.
            kwargs: for the class.
        """
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        hooks = module._forward_pre_hooks
        before = [
            (key, hook)
            for key, hook in hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        parameter = getattr(module, name)
        scores = check_scores(importance_scores, parameter)
        if before:
            mask = getattr(module, name + "_mask").detach().clone()
            key, old = before[-1]
            container = old if isinstance(old, PruningContainer) else PruningContainer(old)
            container.add_pruning_method(method)
            try:
                mask = container.compute_mask(scores, default_mask=mask)
            except Exception:
                container._pruning_methods = container._pruning_methods[:-1]
                raise
            del hooks[key]
            method = container
        else:
            mask = method.compute_mask(scores, default_mask=zero.ones_like(parameter.detach()))
            del module._parameters[name]
            module.register_parameter(name + "_orig", parameter)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """A tensor with zeros where this method prunes it.

        Args:
            t: the tensor.
            default_mask: what was pruned before; nothing if None.
            importance_scores: how important each element is; the tensor itself if None.
        """
        scores = check_scores(importance_scores, t)
        mask = zero.ones_like(t.detach()) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Makes the pruned tensor the parameter; what was pruned stays 0.

        Args:
            module: whose parameter it is.
        """
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        assert original is not None
        original.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, applied one after the other to one parameter.

    Args:
        args: the methods.

    Example:
        >>> import zero
        >>> prune = zero.nn.utils.prune
        >>> layer = prune.identity(zero.nn.Linear(2, 3), "bias")
        >>> methods = prune.L1Unstructured.apply(layer, "bias", amount=1)
        >>> type(methods).__name__, [type(method).__name__ for method in methods]
        ('PruningContainer', ['Identity', 'L1Unstructured'])
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Adds a method.

        Args:
            method: of the same parameter as the others.

        Raises:
            TypeError: it is no pruning method.
            ValueError: it is of another parameter.
        """
        if not isinstance(method, BasePruningMethod):
            raise TypeError(
                f"add_pruning_method: no pruning method; got {type(method).__name__}, expected a "
                "BasePruningMethod"
            )
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                f"add_pruning_method: of another parameter; got {method._tensor_name!r}, expected "
                f"{self._tensor_name!r}"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far with what the last method prunes in addition.

        Args:
            t: how important each element is.
            default_mask: the mask so far.
        """
        method: Any = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype)
        part: Any
        if method.PRUNING_TYPE == "unstructured":
            part = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()
            left = default_mask.movedim(dim, 0).flatten(1).sum(1) != 0
            part = (*(slice(None) for _ in range(dim)), left)
        elif method.PRUNING_TYPE == "global":
            part = ...
        else:
            raise ValueError(
                f"prune: no such PRUNING_TYPE; got {method.PRUNING_TYPE!r}, expected "
                "'unstructured', 'structured' or 'global'"
            )
        mask = mask.clone()
        mask[part] = method.compute_mask(t[part], default_mask=default_mask[part]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the mask.

    Example:
        >>> import zero
        >>> zero.nn.utils.prune.Identity().prune(zero.tensor([0.5, -3.0]))
        tensor([ 0.5000, -3.0000])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random.

    Args:
        amount: how many, an int, or which part of them, a float in [0, 1].

    Example:
        >>> import zero
        >>> int(zero.nn.utils.prune.RandomUnstructured(amount=0.5).prune(zero.ones(8)).sum())
        4
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without_least(zero.rand(t.shape), default_mask, self.amount)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements that are nearest to 0.

    Args:
        amount: how many, an int, or which part of them, a float in [0, 1].

    Example:
        >>> import zero
        >>> zero.nn.utils.prune.L1Unstructured(amount=1).prune(zero.tensor([0.5, -3.0]))
        tensor([ 0., -3.])
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without_least(t.detach().abs(), default_mask, self.amount)


def _without_least(scores: Tensor, mask: Tensor, amount: float) -> Tensor:
    least = scores.flatten().topk(_count(amount, scores.numel()), largest=False).indices
    return mask.flatten().index_fill(0, least, 0).reshape(mask.shape)


def _without_channels(scores: Tensor, mask: Tensor, amount: float, dim: int) -> Tensor:
    """Zeros in the channels whose scores are the least."""
    least = scores.topk(_count(amount, scores.numel()), largest=False).indices
    return mask.index_fill(dim, least, 0)


class RandomStructured(BasePruningMethod):
    """Prunes whole channels at random.

    Args:
        amount: how many, an int, or which part of them, a float in [0, 1].
        dim: the dimension of the channels.

    Example:
        >>> import zero
        >>> x = zero.nn.utils.prune.RandomStructured(amount=1, dim=0).prune(zero.ones(2, 3))
        >>> sorted(x.sum(1).tolist())
        [0.0, 3.0]
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _check_channels(t, self.dim)
        return _without_channels(zero.rand(t.shape[self.dim]), default_mask, self.amount, self.dim)


class LnStructured(BasePruningMethod):
    """Prunes the whole channels with the smallest norms.

    Args:
        amount: how many, an int, or which part of them, a float in [0, 1].
        n: of the n-norm.
        dim: the dimension of the channels.

    Example:
        >>> import zero
        >>> x = zero.tensor([[0.5, 3.0], [1.0, 1.0]])
        >>> zero.nn.utils.prune.LnStructured(amount=1, n=2, dim=0).prune(x)
        tensor([[0.5000, 3.0000],
                [0.0000, 0.0000]])
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _check_channels(t, self.dim)
        scores = _norms(t.detach(), self.n, self.dim)
        return _without_channels(scores, default_mask, self.amount, self.dim)


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says.

    Args:
        mask: of the parameter's shape; 0 where it is pruned.

    Example:
        >>> import zero
        >>> zero.nn.utils.prune.CustomFromMask(zero.tensor([1, 0])).prune(zero.tensor([0.5, 3.0]))
        tensor([0.5000, 0.0000])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise ShapeError(
                f"custom_from_mask: the mask does not fit; got {tuple(self.mask.shape)}, expected "
                f"{tuple(default_mask.shape)}"
            )
        return default_mask * self.mask.to(default_mask.dtype)
