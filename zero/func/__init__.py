"""Transforms of functions: gradients, Jacobians, products with them, and batches of calls."""

from zero import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.func._gradients import *
    from zero.func._jacobians import *
    from zero.func._modules import *
    from zero.func._vmap import *
else:
    __getattr__, __dir__, __all__ = _later.attributes(
        "zero.func",
        [],
        names={
            "_gradients": "grad grad_and_value jvp linearize vjp",
            "_jacobians": "hessian jacfwd jacrev",
            "_modules": "functional_call replace_all_batch_norm_modules_ stack_module_state",
            "_vmap": "debug_unwrap vmap",
        },
    )
