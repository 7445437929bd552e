# The state of mixed precision, and gradients that were scaled. The rest is in zero.amp.
from zero._cpp cimport autocast as autocasts
from zero._cpp.autocast cimport CAutocastDevice, CAutocastState


cdef tuple autocast_devices = ("cpu", "cuda", "xpu", "mps")  # in the order of AutocastDevice


cdef CAutocastDevice autocast_device(object device_type) except *:
    if device_type not in autocast_devices:
        raise RuntimeError(f"autocast: no such device; got {short_repr(device_type)}, expected one "
                           f"of {', '.join(autocast_devices)}")
    return <CAutocastDevice> <int> autocast_devices.index(device_type)


def _autocast_state(device_type):
    """Whether autocast is on for a device, and its dtype."""
    cdef CAutocastState state = autocasts.autocast_state(autocast_device(device_type))
    return state.enabled, dtype_object(state.dtype)


def _set_autocast_state(device_type, enabled, dtype):
    """Sets both; None leaves one as it is."""
    cdef CAutocastDevice device = autocast_device(device_type)
    cdef CAutocastState state = autocasts.autocast_state(device)
    if enabled is not None:
        state.enabled = bool(enabled)
    if dtype is not None:
        state.dtype = as_dtype(dtype, "autocast")
    autocasts.set_autocast_state(device, state)


def _autocast_cache(enabled=None):
    """Whether copies of weights are kept; sets it if told to."""
    cdef bint before = autocasts.autocast_cache_enabled()
    if enabled is not None:
        autocasts.set_autocast_cache_enabled(bool(enabled))
    return before != 0


def _autocast_nesting(change):
    """Enters (1) or leaves (-1) a context, or forgets the copies of weights (0)."""
    if change == 0:
        autocasts.clear_autocast_cache()
        return 0
    return autocasts.enter_autocast() if change > 0 else autocasts.leave_autocast()


def _autocast_float32(*tensors):
    """The tensors, under autocast those of 16 bits as float32: what a composed loss begins with."""
    if not autocasts.autocast_on:
        return tensors
    return tuple([wrap(autocasts.autocast_float32((<Tensor> x).c)) if isinstance(x, Tensor) else x
                  for x in tensors])


def _amp_foreach_non_finite_check_and_unscale_(list grads not None, Tensor found_inf not None,
                                               Tensor inv_scale not None):
    """Multiplies gradients by inv_scale, in place; found_inf becomes 1 if one is not finite."""
    autocasts.unscale_(as_tensors(grads, "unscale", "grads"), found_inf.c, inv_scale.c)
