"""GradScaler: losses times a factor, so that small gradients don't vanish in float16."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable

import zero
from zero import Tensor, _amp_foreach_non_finite_check_and_unscale_
from zero.errors import ValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zero.optim import Optimizer

__all__ = ["GradScaler"]

READY, UNSCALED, STEPPED = "ready", "unscaled", "stepped"  # what happened since the last update()


class GradScaler:
    """Scales losses, and gradients back, by a factor that is as large as the gradients allow.

    A step whose gradients are infinite or NaN is left out, and the factor becomes smaller; after
    many good steps it becomes larger. float16 needs this, bfloat16 does not: its exponents are
    those of float32.

    Args:
        device: 'cpu'; with others it is switched off, with a warning.
        init_scale: the factor to begin with.
        growth_factor: what the factor is multiplied by after growth_interval good steps, above 1.
        backoff_factor: what it is multiplied by after a step that was left out, below 1.
        growth_interval: see above.
        enabled: False makes :meth:`step` the optimizer's and the other methods do nothing.

    Raises:
        ValueError: growth_factor or backoff_factor is on the wrong side of 1.

    Example:
        >>> import zero
        >>> model = zero.nn.Linear(2, 1)
        >>> optimizer = zero.optim.SGD(model.parameters(), lr=0.1)
        >>> scaler = zero.amp.GradScaler("cpu", init_scale=1024.0)
        >>> with zero.autocast("cpu", dtype=zero.float16):
        ...     loss = model(zero.ones(4, 2)).float().square().mean()
        >>> scaler.scale(loss).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> scaler.get_scale()
        1024.0

    Source: Micikevicius et al., Mixed precision training, 2018.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device != "cpu":
            warnings.warn(f"GradScaler: switched off, there is no device '{device}'", stacklevel=2)
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1:
            raise ValueError(f"GradScaler: growth_factor is not above 1; got {growth_factor}")
        if backoff_factor >= 1:
            raise ValueError(f"GradScaler: backoff_factor is not below 1; got {backoff_factor}")
        self._init_scale = init_scale
        self._init_growth_tracker = 0
        self._scale: Tensor | None = None  # both are made by the first scale()
        self._growth_tracker: Tensor | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._per_optimizer_states: dict[int, dict[str, Any]] = {}

    # ---- one step of training ----------------------------------------------------------------
    def scale(self, outputs: Any) -> Any:
        """The outputs times the factor.

        Args:
            outputs: a tensor, or an iterable of tensors (of which others may be a part).
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                scale, count = self._init_scale, self._init_growth_tracker
                self._scale = zero.tensor(scale, dtype=zero.float32, device="cpu")
                self._growth_tracker = zero.tensor(count, dtype=zero.int32, device="cpu")
            return outputs * self._scale
        if not isinstance(outputs, Iterable):
            raise ValueError(
                f"GradScaler.scale: got {type(outputs).__name__}, expected a Tensor or an iterable "
                "of them"
            )
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of an optimizer's parameters by the factor.

        :meth:`step` does it where it was not done. Call it to look at the gradients before, or to
        clip them.

        Args:
            optimizer: the one whose gradients are meant.

        Raises:
            RuntimeError: it was called before since the last :meth:`update`, or after :meth:`step`,
                or nothing was scaled.
            ValueError: a gradient is float16: in mixed precision parameters are float32.
        """
        if not self._enabled:
            return
        scale, _ = self._begun("unscale_")
        state = self._state(optimizer)
        if state["stage"] != READY:
            raise RuntimeError(
                "GradScaler.unscale_: called again since the last update(); expected one call for "
                f"each step, before it; got an optimizer that is {state['stage']}"
            )
        inverse = scale.double().reciprocal().float()
        state["found_inf_per_device"] = self._unscale(optimizer, inverse, allow_fp16=False)
        state["stage"] = UNSCALED

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)`` with unscaled gradients, unless one is not finite.

        Args:
            optimizer: the one that takes the step.
            args: passed on.
            kwargs: passed on; no closure.

        Returns:
            What the optimizer's step returns; None where it was left out.

        Raises:
            RuntimeError: it was called before since the last :meth:`update`, or with a closure.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError(
                "GradScaler.step: a closure is not supported; got one, expected none"
            )
        self._begun("step")
        state = self._state(optimizer)
        if state["stage"] == STEPPED:
            raise RuntimeError("GradScaler.step: called again since the last update()")
        if state["stage"] == READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise RuntimeError("GradScaler.step: no parameter of the optimizer has a gradient")
        finite = not any(found.item() for found in state["found_inf_per_device"].values())
        state["stage"] = STEPPED
        return optimizer.step(*args, **kwargs) if finite else None

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Changes the factor by what the steps since the last call have found.

        Args:
            new_scale: the factor itself, a number or a tensor with one element.

        Raises:
            RuntimeError: there was no step.
        """
        if not self._enabled:
            return
        scale, tracker = self._begun("update")
        if new_scale is not None:
            value = new_scale.item() if isinstance(new_scale, Tensor) else float(new_scale)
            scale.fill_(value)
        else:
            found = [
                inf.item()
                for state in self._per_optimizer_states.values()
                for inf in state["found_inf_per_device"].values()
            ]
            if not found:
                raise RuntimeError("GradScaler.update: no step was taken since the last update()")
            steps = 0 if any(found) else int(tracker.item()) + 1
            if any(found):
                scale.mul_(self._backoff_factor)
            elif steps == self._growth_interval:
                larger = scale * self._growth_factor
                if math.isfinite(larger.item()):
                    scale.copy_(larger)
                steps = 0
            tracker.fill_(steps)
        self._per_optimizer_states = {}

    def _begun(self, method: str) -> tuple[Tensor, Tensor]:
        if self._scale is None or self._growth_tracker is None:
            raise RuntimeError(
                f"GradScaler.{method}: nothing was scaled yet; expected scale(loss).backward()"
            )
        return self._scale, self._growth_tracker

    def _state(self, optimizer: Optimizer) -> dict[str, Any]:
        fresh = {"stage": READY, "found_inf_per_device": {}}
        return self._per_optimizer_states.setdefault(id(optimizer), fresh)

    def _unscale(
        self, optimizer: Optimizer, inverse: Tensor, allow_fp16: bool
    ) -> dict[zero.device, Tensor]:
        grads = [p.grad for group in optimizer.param_groups for p in group["params"]]
        grads = [grad for grad in grads if grad is not None]
        if not allow_fp16 and any(grad.dtype is zero.float16 for grad in grads):
            raise ValueError(
                "GradScaler: a gradient is float16; got one, expected float32 parameters, which "
                "autocast casts"
            )
        if not grads:
            return {}
        found = inverse.new_zeros(())
        _amp_foreach_non_finite_check_and_unscale_(grads, found, inverse)
        return {found.device: found}

    def _check_inf_per_device(self, optimizer: Optimizer) -> dict[zero.device, Tensor]:
        """Looks at the gradients without scaling them."""
        scale, _ = self._begun("_check_inf_per_device")
        found = self._unscale(optimizer, scale.new_ones(()), allow_fp16=True)
        self._state(optimizer)["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer: Optimizer) -> dict[zero.device, Tensor]:
        found: dict[zero.device, Tensor] = self._state(optimizer)["found_inf_per_device"]
        return found

    # ---- settings and state -------------------------------------------------------------------
    def is_enabled(self) -> bool:
        """Whether it scales."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor; 1.0 if it is switched off."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """What the factor is multiplied by after enough good steps."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets it.

        Args:
            new_factor: above 1.
        """
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the factor is multiplied by after a step that was left out."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets it.

        Args:
            new_factor: below 1.
        """
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many good steps in a row make the factor larger."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets it.

        Args:
            new_interval: a number of steps.
        """
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else int(tracker.item())

    def state_dict(self) -> dict[str, Any]:
        """The factor, the settings and the count of good steps; empty if it is switched off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what :meth:`state_dict` returned; does nothing if it is switched off.

        Args:
            state_dict: of a scaler that was not switched off.

        Raises:
            RuntimeError: it is empty.
            KeyError: a part of it is missing.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "GradScaler.load_state_dict: the state is empty; expected that of a scaler that is "
                "enabled"
            )
        names = ("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker")
        scale, growth, backoff, interval, tracker = (state_dict[name] for name in names)
        self._init_scale, self._init_growth_tracker = scale, tracker
        self._growth_factor, self._backoff_factor, self._growth_interval = growth, backoff, interval
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        if not self._enabled:
            return self.__dict__.copy()
        if self._per_optimizer_states:
            raise RuntimeError("GradScaler: pickled between step() and update(); expected it after")
        state = self.__dict__.copy()
        state["_init_scale"] = self.get_scale()
        state["_init_growth_tracker"] = self._get_growth_tracker()
        state["_scale"] = state["_growth_tracker"] = None
        return state
