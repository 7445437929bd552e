"""Names of PyTorch that aren't there yet, told from slips of the pen in the error for them."""

from __future__ import annotations

from zero._version import __version__

__all__ = ["MISSING", "no_attribute"]

# Names of PyTorch by module. One that is added to zero is taken off here (tests/test_missing.py).
MISSING = {
    "zero": (
        # modules
        "compiler distributed export fft futures fx hub jit library masked mtia "
        "nested onnx overrides package quantization quasirandom "
        "sparse types "
        # files, transforms of functions
        "from_file cond while_loop "
        # layers as functions
        "alpha_dropout "
        # other dtypes and layouts
        "cdouble cfloat chalf complex complex128 complex32 complex64 dequantize float8_e4m3fn "
        "float8_e5m2 hash_tensor hsmm hspmm istft polar qint32 qint8 "
        "quantize_per_channel quantize_per_tensor quint8 smm sparse_bsr sparse_coo "
        "sparse_coo_tensor sparse_csc sparse_csr sparse_csr_tensor spmm sspaddmm stft "
        "uint16 uint32 uint64 view_as_complex view_as_real "
        # the rest
        "Event Storage Stream UntypedStorage range segment_reduce set_warn_always"
    ),
    "zero.serialization": (
        "LoadEndianness SourceChangeWarning StorageType check_module_version_greater_or_equal "
        "default_restore_location get_default_load_endianness get_default_mmap_options "
        "location_tag mkdtemp normalize_storage_type register_package "
        "set_default_load_endianness set_default_mmap_options skip_data storage_to_tensor_type "
        "validate_cuda_device validate_hpu_device"
    ),
    "zero.nn": "DataParallel SyncBatchNorm parallel quantized",
    "zero.nn.attention": (
        "WARN_FOR_UNFUSED_KERNELS activate_flash_attention_impl bias current_flash_attention_impl "
        "flex_attention list_flash_attention_impls register_flash_attention_impl "
        "restore_flash_attention_impl varlen"
    ),
    "zero.nn.utils.parametrizations": "orthogonal",
    "zero.optim": "swap_in_optimizer_params_and_state",
    "zero.utils.checkpoint": (
        "CheckpointPolicy DefaultDeviceType GraphExecGroup SAC_IGNORED_OPS "
        "SelectiveCheckpointContext create_selective_checkpoint_contexts get_device_states "
        "set_device_states"
    ),
    "zero.utils.data": (
        "DFIterDataPipe DataChunk IterDataPipe MapDataPipe argument_validation datapipes "
        "functional_datapipe guaranteed_datapipes_determinism non_deterministic runtime_validation "
        "runtime_validation_disabled"
    ),
    "zero.autograd": "forward_ad",
    "zero.func": "functionalize rearrange",
    "zero.autograd.profiler": (
        "EnforceUnique KinetoStepTracker MemRecordsAcc emit_itt emit_nvtx load_nvprof "
        "parse_nvprof_trace"
    ),
    "zero.profiler": "DeviceType ExecutionTraceObserver itt kineto_available",
}


def no_attribute(module: str, name: str) -> AttributeError:
    """The error for a name that a module has not.

    Args:
        module: its name.
        name: what was asked for.

    Example:
        >>> from zero._missing import no_attribute
        >>> print(no_attribute("zero.nn", "Conv2"))
        module 'zero.nn' has no attribute 'Conv2'
    """
    text = f"module {module!r} has no attribute {name!r}"
    if name in MISSING.get(module, "").split():
        text += f": PyTorch has it, zero {__version__} does not have it yet"
    return AttributeError(text)
