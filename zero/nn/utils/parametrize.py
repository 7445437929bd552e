"""Parameters as functions of others: a module computes the tensor each time it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy

import zero
from zero import Parameter, Tensor
from zero.errors import ValueError
from zero.nn.container import ModuleDict, ModuleList
from zero.nn.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    AnyModule = TypeVar("AnyModule", bound=Module)

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache_depth = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Within it each parametrized tensor is computed once, when it is first asked for.

    Example:
        >>> import zero
        >>> from zero.nn.utils import parametrize
        >>> layer = zero.nn.utils.parametrizations.weight_norm(zero.nn.Linear(2, 3))
        >>> with parametrize.cached():
        ...     layer.weight is layer.weight
        True
    """
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if _cache_depth == 0:
            _cache.clear()


def _set(tensor: Tensor, value: Tensor) -> None:
    """The tensor shows the memory of value, and stays the object that an optimizer knows."""
    if tensor is not value:
        tensor.data = value.detach()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _check(what: str, got: object, dtype: zero.dtype, shape: Sequence[int] | None = None) -> None:
    if not isinstance(got, Tensor):
        raise ValueError(f"{what} is no tensor; got {type(got).__name__}, expected a Tensor")
    if got.dtype != dtype:
        raise ValueError(
            f"{what} has another dtype; got {got.dtype}, expected {dtype} unless unsafe=True"
        )
    if shape is not None and tuple(got.shape) != tuple(shape):
        raise ValueError(
            f"{what} has another shape; got {tuple(got.shape)}, expected {tuple(shape)} unless "
            "unsafe=True"
        )


class ParametrizationList(ModuleList):
    """The modules that compute a parametrized tensor, one after the other, and what from.

    That is the parameter (or buffer) `original`, or `original0`, `original1`, … where
    ``right_inverse`` of the first module gives several. Made by :func:`register_parametrization`.

    Args:
        modules: one or more.
        original: the parameter or buffer.
        unsafe: whether dtype and shape may change.

    Raises:
        ValueError: there are no modules, or dtype or shape change.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.parametrizations.spectral_norm(zero.nn.Linear(2, 3))
        >>> parts = layer.parametrizations.weight
        >>> type(parts).__name__, len(parts), parts.original.shape
        ('ParametrizationList', 1, zero.Size([3, 2]))
    """

    original: Tensor

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList: no modules, expected one or more")
        super().__init__(modules)
        self.unsafe = unsafe
        dtype, shape, before = original.dtype, original.shape, original.detach()
        new: Any = original
        with zero.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass  # as if it had none
        self.is_tensor = isinstance(new, Tensor)
        if self.is_tensor:
            _check("register_parametrization: the result of right_inverse", new, dtype)
            self.ntensors = 1
            _set(original, new)
            _register(self, "original", original)
        else:
            if not isinstance(new, Sequence) or not all(isinstance(x, Tensor) for x in new):
                raise ValueError(
                    "register_parametrization: right_inverse gives neither a tensor nor a sequence "
                    f"of tensors; got {type(new).__name__}"
                )
            self.ntensors = len(new)
            for i, part in enumerate(new):
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                _register(self, f"original{i}", part)
        if not unsafe:
            try:
                _check("register_parametrization: the parametrized tensor", self(), dtype, shape)
            except Exception:
                _set(original, before)
                raise

    def _originals(self) -> list[Tensor]:
        names = ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]
        return [getattr(self, name) for name in names]

    def right_inverse(self, value: Tensor) -> None:
        """Sets what the tensor is computed from so that it becomes `value`.

        Args:
            value: what the tensor is to be.

        Raises:
            RuntimeError: a parametrization has no right_inverse.
            ValueError: right_inverse gives something else than at the start.
        """
        new: Any = value
        with zero.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrize: {type(module).__name__} has no right_inverse, so the tensor "
                        "cannot be set"
                    )
                new = module.right_inverse(new)
            parts = [new] if self.is_tensor else new
            if not isinstance(parts, Sequence) or len(parts) != self.ntensors:
                raise ValueError(
                    f"parametrize: right_inverse does not give {self.ntensors} tensors; got "
                    f"{type(new).__name__}"
                )
            originals = self._originals()
            for original, part in zip(originals, parts, strict=True):
                _check("parametrize: the result of right_inverse", part, original.dtype)
            for original, part in zip(originals, parts, strict=True):
                _set(original, part.clone() if part is value else part)

    def forward(self) -> Tensor:
        modules = list(self)
        x: Tensor = modules[0](*self._originals())
        for module in modules[1:]:
            x = module(x)
        return x


def _inject_new_class(module: Module) -> None:
    """The module gets a class of its own, derived from its class, that can have properties."""
    cls = type(module)

    def getstate(self: Module) -> object:
        raise RuntimeError(
            f"pickle: a parametrized {cls.__name__} cannot be pickled, since its class exists only "
            "here; save its state_dict()"
        )

    def copied(self: Module, memo: dict[int, Any]) -> Module:
        if id(self) not in memo:
            shared = type(self)  # has properties, which come and go for each module alone
            own: Any = type(shared.__name__, shared.__bases__, dict(shared.__dict__))
            copy = own.__new__(own)
            memo[id(self)] = copy
            copy.__dict__.update(deepcopy(self.__dict__, memo))
        result: Module = memo[id(self)]
        return result

    members: dict[str, Any] = {"__getstate__": getstate, "__module__": cls.__module__}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = copied
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _inject_property(module: Module, tensor_name: str) -> None:
    def get(self: Any) -> Tensor:
        compute = self.parametrizations[tensor_name]
        if _cache_depth == 0:
            tensor: Tensor = compute()
            return tensor
        key = (id(self), tensor_name)
        if key not in _cache:
            _cache[key] = compute()
        return _cache[key]

    def set(self: Any, value: Tensor) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(get, set))


def register_parametrization(
    module: AnyModule, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> AnyModule:
    """Makes a parameter or buffer of a module the result of another module.

    ``module.<tensor_name>`` is from now on ``parametrization(original)``; the original is the
    parameter ``module.parametrizations.<tensor_name>.original``, and the object stays the same, so
    that an optimizer keeps it. Assigning to ``module.<tensor_name>`` calls the parametrization's
    method ``right_inverse``, which says what the original has to be; at the start it is called,
    too, if there is one. Several parametrizations of one tensor are applied one after the other.

    Args:
        module: the module, which is changed and returned.
        tensor_name: of the parameter or buffer.
        parametrization: a module of one input.
        unsafe: whether it may change dtype and shape; then nothing is checked.

    Raises:
        ValueError: there is no such parameter or buffer, or dtype or shape change.

    Example:
        >>> import zero
        >>> class Symmetric(zero.nn.Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).mT
        >>> layer = zero.nn.Linear(3, 3)
        >>> layer = zero.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> bool((layer.weight == layer.weight.T).all())
        True
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'parametrizations.weight.original']
    """
    parametrization.train(module.training)
    owner: Any = module
    if is_parametrized(module, tensor_name):
        if not unsafe:
            before = getattr(module, tensor_name)
            after = parametrization(before)
            what = "register_parametrization: the parametrized tensor"
            _check(what, after, before.dtype, before.shape)
            if hasattr(parametrization, "right_inverse"):
                try:
                    back = parametrization.right_inverse(after)
                except NotImplementedError:
                    pass
                else:
                    what = "register_parametrization: the result of right_inverse"
                    _check(what, back, before.dtype, before.shape)
        owner.parametrizations[tensor_name].append(parametrization)
        owner.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        if original is None:
            raise ValueError(f"register_parametrization: {tensor_name!r} is None")
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            owner.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        owner.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"register_parametrization: {type(module).__name__} has no parameter, buffer or "
            f"parametrized tensor {tensor_name!r}"
        )
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrized tensors, or the one of that name is.

    Args:
        module: the module.
        tensor_name: of the tensor; None for any.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.parametrizations.weight_norm(zero.nn.Linear(2, 3))
        >>> is_parametrized = zero.nn.utils.parametrize.is_parametrized
        >>> is_parametrized(layer), is_parametrized(layer, "bias")
        (True, False)
    """
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(
    module: AnyModule, tensor_name: str, leave_parametrized: bool = True
) -> AnyModule:
    """Undoes :func:`register_parametrization`: the tensor is a parameter or buffer again.

    Args:
        module: the module, which is changed and returned.
        tensor_name: of the tensor.
        leave_parametrized: whether its value is what was computed; else it is the original, which
            has to be a single tensor.

    Raises:
        ValueError: the tensor is not parametrized, or has no single original.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.parametrizations.weight_norm(zero.nn.Linear(2, 3))
        >>> zero.nn.utils.parametrize.remove_parametrizations(layer, "weight")
        Linear(in_features=2, out_features=3, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(
            f"remove_parametrizations: {type(module).__name__} has no parametrized {tensor_name!r}"
        )
    owner: Any = module
    parametrizations = owner.parametrizations[tensor_name]
    if leave_parametrized:
        with zero.no_grad():
            value = getattr(module, tensor_name)
    elif not parametrizations.is_tensor:
        raise ValueError(
            f"remove_parametrizations: {tensor_name!r} is computed from several tensors; got "
            "leave_parametrized=False, expected True"
        )
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            _set(original, value)
    else:
        wants_gradient = any(x.requires_grad for x in parametrizations._originals())
        original = Parameter(value) if wants_gradient else value
    delattr(type(module), tensor_name)
    del owner.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del owner.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before its first parametrization.

    Args:
        module: the module.

    Example:
        >>> import zero
        >>> layer = zero.nn.utils.parametrizations.weight_norm(zero.nn.Linear(2, 3))
        >>> zero.nn.utils.parametrize.type_before_parametrizations(layer) is zero.nn.Linear
        True
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: AnyModule, tensor_name: str | None = None
) -> AnyModule:
    """Gives a module the parametrizations of another one of the same class, with their originals.

    Args:
        from_module: where they are.
        to_module: which gets them; it is changed and returned.
        tensor_name: of the tensor; None for all.

    Raises:
        ValueError: from_module has none.

    Example:
        >>> import zero
        >>> a = zero.nn.utils.parametrizations.weight_norm(zero.nn.Linear(2, 3))
        >>> b = zero.nn.Linear(2, 3)
        >>> b = zero.nn.utils.parametrize.transfer_parametrizations_and_params(a, b)
        >>> bool((a.weight == b.weight).all())
        True
    """
    if not is_parametrized(from_module, tensor_name):
        raise ValueError(
            "transfer_parametrizations_and_params: from_module has no such parametrizations"
        )
    source: Any = from_module
    target: Any = to_module
    names = list(source.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        listed = source.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
        for parametrization in listed:
            register_parametrization(to_module, name, parametrization, unsafe=listed.unsafe)
        originals = target.parametrizations[name]._originals()
        for to, original in zip(originals, listed._originals(), strict=True):
            _set(to, original.clone())
    return to_module
