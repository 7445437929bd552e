"""Deep learning on CPUs: tensors, gradients, layers, optimizers, with PyTorch's names.

The program of the README:

    >>> import zero
    >>> model = zero.nn.Linear(2, 1)
    >>> optimizer = zero.optim.SGD(model.parameters(), lr=0.05)
    >>> x = zero.tensor([[1.0, 2.0], [2.0, 1.0]])
    >>> target = zero.tensor([[5.0], [4.0]])
    >>> for _ in range(100):
    ...     prediction = model(x)
    ...     difference = prediction - target
    ...     loss = (difference * difference).mean()
    ...     optimizer.zero_grad()
    ...     loss.backward()
    ...     optimizer.step()
    >>> loss.item() < 1e-3
    True
"""

from math import e as e, inf as inf, nan as nan, pi as pi

from zero._version import __version__ as __version__
from zero._zero import *
from zero._zero import (
    _activation as _activation,
    _adaptive_avg_pool as _adaptive_avg_pool,
    _adaptive_max_pool as _adaptive_max_pool,
    _all_values as _all_values,
    _amp_foreach_non_finite_check_and_unscale_ as _amp_foreach_non_finite_check_and_unscale_,
    _anomaly as _anomaly,
    _attach as _attach,
    _attention_backends as _attention_backends,
    _autocast_cache as _autocast_cache,
    _autocast_float32 as _autocast_float32,
    _autocast_nesting as _autocast_nesting,
    _autocast_state as _autocast_state,
    _avg_pool as _avg_pool,
    _backward as _backward,
    _batched as _batched,
    _become as _become,
    _bin_counts as _bin_counts,
    _call_module as _call_module,
    _clip_grad_norm_ as _clip_grad_norm_,
    _clip_grad_value_ as _clip_grad_value_,
    _clip_grads_with_norm_ as _clip_grads_with_norm_,
    _ctc_loss as _ctc_loss,
    _current_pass as _current_pass,
    _deliver as _deliver,
    _dressed as _dressed,
    _drop_grads as _drop_grads,
    _enable_winograd as _enable_winograd,
    _enter_vmap as _enter_vmap,
    _first_failure as _first_failure,
    _foreach_lerp_ as _foreach_lerp_,
    _fractional_max_pool as _fractional_max_pool,
    _from_dlpack as _from_dlpack,
    _function_apply as _function_apply,
    _FunctionContext as _FunctionContext,
    _fused_sdp_choice as _fused_sdp_choice,
    _get_total_norm as _get_total_norm,
    _glu as _glu,
    _grad as _grad,
    _gradient_edge as _gradient_edge,
    _grid_sample as _grid_sample,
    _grid_sample_gradients as _grid_sample_gradients,
    _increment_version as _increment_version,
    _last_sequence_nr as _last_sequence_nr,
    _leave_vmap as _leave_vmap,
    _linalg as _linalg,
    _max_pool as _max_pool,
    _Memory as _Memory,
    _memory_of as _memory_of,
    _move_to as _move_to,
    _Node as _Node,
    _optimizer_step as _optimizer_step,
    _overwrite as _overwrite,
    _pad as _pad,
    _pair_loss as _pair_loss,
    _pass_is_partial as _pass_is_partial,
    _pass_reaches as _pass_reaches,
    _pop_saved_tensors_hooks as _pop_saved_tensors_hooks,
    _profile_begin as _profile_begin,
    _profile_end as _profile_end,
    _profile_events as _profile_events,
    _profile_start as _profile_start,
    _profile_stop as _profile_stop,
    _push_saved_tensors_hooks as _push_saved_tensors_hooks,
    _quick_slots as _quick_slots,
    _reaches_others as _reaches_others,
    _resample as _resample,
    _saved_tensors_hooks_disabled as _saved_tensors_hooks_disabled,
    _scaled_dot_product_attention as _scaled_dot_product_attention,
    _set_anomaly as _set_anomaly,
    _set_attention_backends as _set_attention_backends,
    _set_autocast_state as _set_autocast_state,
    _set_batching as _set_batching,
    _special_binary as _special_binary,
    _special_unary as _special_unary,
    _stand_in as _stand_in,
    _standard_gamma as _standard_gamma,
    _start_states as _start_states,
    _to_dlpack as _to_dlpack,
    _unsafe_view as _unsafe_view,
    _vmap_level as _vmap_level,
    _winograd_enabled as _winograd_enabled,
)

# isort: split
# What follows uses the names above.
from zero import (
    _composed,
    _later,
    autograd as autograd,
    errors as errors,
    nn as nn,
    optim as optim,
    return_types as return_types,
    utils as utils,
)

newaxis = None  # x[newaxis] is x[None]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero import (
        accelerator as accelerator,
        amp as amp,
        backends as backends,
        cpu as cpu,
        cuda as cuda,
        distributions as distributions,
        func as func,
        linalg as linalg,
        mps as mps,
        multiprocessing as multiprocessing,
        profiler as profiler,
        random as random,
        safetensors as safetensors,
        serialization as serialization,
        signal as signal,
        special as special,
        storage as storage,
        testing as testing,
        version as version,
        xpu as xpu,
    )
    from zero._composed.activations import *
    from zero._composed.contract import *
    from zero._composed.copies import *
    from zero._composed.diagonal import *
    from zero._composed.distances import *
    from zero._composed.eigenpairs import *
    from zero._composed.embed import *
    from zero._composed.exchange import *
    from zero._composed.grids import *
    from zero._composed.losses import *
    from zero._composed.lowrank import *
    from zero._composed.matrices import *
    from zero._composed.norms import *
    from zero._composed.numbers import *
    from zero._composed.order import *
    from zero._composed.pooling import *
    from zero._composed.products import *
    from zero._composed.reduce import *
    from zero._composed.sampling import *
    from zero._composed.shape import *
    from zero._composed.shuffle import *
    from zero._composed.statistics import *
    from zero._composed.tables import *
    from zero._composed.views import *
    from zero._composed.windows import *
    from zero._info import *
    from zero._legacy import *
    from zero._settings import *
    from zero._tensor_str import *
    from zero.amp import GradScaler as GradScaler, autocast as autocast
    from zero.amp.state import *
    from zero.func import vmap as vmap
    from zero.serialization import load as load, save as save
    from zero.utils import data as data
else:
    del TYPE_CHECKING, DTypeObject, DeviceObject  # the last two are public as dtype and device

    __getattr__, __dir__, __all__ = _later.attributes(
        "zero",
        ["__version__", *(name for name in globals() if name[0] != "_")],
        modules="accelerator amp backends cpu cuda distributions func linalg mps multiprocessing "
        "profiler random safetensors serialization signal special storage testing version xpu",
        names={
            **{f"_composed.{module}": names for module, names in _composed.FUNCTIONS.items()},
            "_info": "finfo iinfo",
            "_legacy": "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor "
            "HalfTensor IntTensor LongTensor ShortTensor set_default_tensor_type typename",
            "_settings": "are_deterministic_algorithms_enabled compile "
            "get_deterministic_debug_mode get_float32_matmul_precision get_num_interop_threads "
            "is_deterministic_algorithms_warn_only_enabled set_deterministic_debug_mode "
            "set_float32_matmul_precision set_num_interop_threads use_deterministic_algorithms",
            "_tensor_str": "get_printoptions printoptions set_printoptions",
            "amp": "GradScaler autocast",
            "utils": "data",
            "amp.state": "autocast_decrement_nesting autocast_increment_nesting "
            "clear_autocast_cache get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype "
            "is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled "
            "set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled "
            "set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype",
            "func": "vmap",
            "serialization": "load save",
        },
    )
