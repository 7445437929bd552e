"""Automatic differentiation: backward passes, custom functions, hooks, modes, checks."""

from zero import (
    _later,
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from zero.autograd.engine import backward as backward, grad as grad
from zero.autograd.gradcheck import (  # at once: the function hides the module of its name
    GradcheckError as GradcheckError,
    gradcheck as gradcheck,
    gradgradcheck as gradgradcheck,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.autograd import (
        anomaly_mode as anomaly_mode,
        function as function,
        functional as functional,
        graph as graph,
        profiler as profiler,
        profiler_util as profiler_util,
        variable as variable,
    )
    from zero.autograd.anomaly_mode import (
        detect_anomaly as detect_anomaly,
        set_detect_anomaly as set_detect_anomaly,
    )
    from zero.autograd.function import Function as Function
    from zero.autograd.variable import Variable as Variable
else:
    __getattr__, __dir__, __all__ = _later.attributes(
        "zero.autograd",
        "GradcheckError backward enable_grad grad gradcheck gradgradcheck inference_mode "
        "is_grad_enabled no_grad set_grad_enabled".split(),
        modules="anomaly_mode function functional graph profiler profiler_util variable",
        names={
            "anomaly_mode": "detect_anomaly set_detect_anomaly",
            "function": "Function",
            "variable": "Variable",
        },
    )
