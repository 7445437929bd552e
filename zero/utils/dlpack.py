"""Exchange of memory with other array libraries by DLPack."""

from __future__ import annotations

import enum

from zero._composed.exchange import from_dlpack, to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """DLPack's numbers of devices; zero's tensors are on kDLCPU.

    Example:
        >>> import zero
        >>> zero.ones(2).__dlpack_device__()
        (<DLDeviceType.kDLCPU: 1>, 0)
    """

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17
