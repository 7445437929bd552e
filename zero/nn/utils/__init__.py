"""Functions on the parameters of models and their gradients."""

from zero import _later
from zero.nn.utils.clip_grad import (
    clip_grad_norm as clip_grad_norm,
    clip_grad_norm_ as clip_grad_norm_,
    clip_grad_value_ as clip_grad_value_,
    clip_grads_with_norm_ as clip_grads_with_norm_,
    get_total_norm as get_total_norm,
)
from zero.nn.utils.convert_parameters import (
    parameters_to_vector as parameters_to_vector,
    vector_to_parameters as vector_to_parameters,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.nn.utils import (
        parametrizations as parametrizations,
        parametrize as parametrize,
        prune as prune,
        rnn as rnn,
        stateless as stateless,
    )
    from zero.nn.utils._spectral_norm import (
        remove_spectral_norm as remove_spectral_norm,
        spectral_norm as spectral_norm,
    )
    from zero.nn.utils._weight_norm import (
        remove_weight_norm as remove_weight_norm,
        weight_norm as weight_norm,
    )
    from zero.nn.utils.fusion import *
    from zero.nn.utils.init import *
    from zero.nn.utils.memory_format import *
else:
    __getattr__, __dir__, __all__ = _later.attributes(
        "zero.nn.utils",
        [
            "clip_grad_norm",
            "clip_grad_norm_",
            "clip_grad_value_",
            "clip_grads_with_norm_",
            "get_total_norm",
            "parameters_to_vector",
            "vector_to_parameters",
        ],
        modules="parametrizations parametrize prune rnn stateless",
        names={
            "fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval "
            "fuse_linear_bn_weights",
            "init": "skip_init",
            "memory_format": "convert_conv2d_weight_memory_format "
            "convert_conv3d_weight_memory_format",
            "_spectral_norm": "remove_spectral_norm spectral_norm",
            "_weight_norm": "remove_weight_norm weight_norm",
        },
    )
