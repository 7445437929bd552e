// The kernels for any processor of the architecture: SSE2 on x86-64, NEON on aarch64.
#if defined(__aarch64__) || defined(_M_ARM64)
#define ZERO_ISA_NS neon
#else
#define ZERO_ISA_NS baseline
#endif

#include "zero/kernels/families.inl"
