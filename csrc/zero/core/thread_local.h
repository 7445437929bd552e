// ZERO_THREAD_LOCAL: a thread-local variable of trivial type that a shared object reaches in one
// instruction.
#pragma once

#include <cstddef>  // brings __GLIBC__ where there is one

// The default model of a shared object calls __tls_get_addr (2-4 ns) at each access. glibc keeps
// room for initial-exec variables of objects loaded later; musl does not, so it keeps the default.
#if defined(__GLIBC__) && defined(__GNUC__)
#define ZERO_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) constinit thread_local
#else
#define ZERO_THREAD_LOCAL constinit thread_local
#endif
