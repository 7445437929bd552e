// The little that the C++ tests need: a check that says where it failed, and exit codes.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (0)

#define CHECK_THROWS(ErrorType, ...)              \
  do {                                            \
    bool thrown = false;                          \
    try {                                         \
      __VA_ARGS__;                                \
    } catch (const ErrorType&) { thrown = true; } \
    CHECK(thrown && "throws " #ErrorType);        \
  } while (0)

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kFewer = 20;  // loops are that much shorter
#else
inline constexpr int kFewer = 1;
#endif
