// Exceptions of the core. Each names the Python exception it becomes (zero/_cpp/error.pxd).
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace zero {

struct Error : std::runtime_error {  // -> RuntimeError
  using std::runtime_error::runtime_error;
};
struct ShapeError : Error {  // -> ShapeError(ValueError, RuntimeError)
  using Error::Error;
};
struct ValueError : Error {  // -> ZeroValueError(ValueError, RuntimeError)
  using Error::Error;
};
struct DTypeError : Error {  // -> DTypeError(TypeError, RuntimeError)
  using Error::Error;
};
struct IndexError : Error {  // -> IndexError(builtins.IndexError, RuntimeError)
  using Error::Error;
};
struct NotImplementedError : Error {  // -> NotImplementedError, itself a RuntimeError
  using Error::Error;
};
struct OutOfMemoryError : Error {  // -> OutOfMemoryError(MemoryError, RuntimeError)
  using Error::Error;
};

// The text of a message, made and unmade out of line: half of the code of a check was that.
class MessageText {
 public:
  MessageText();
  ~MessageText();
  MessageText(const MessageText&) = delete;
  MessageText& operator=(const MessageText&) = delete;
  std::ostream& out();
  std::string text() const;

 private:
  std::ostringstream* stream_;
};

template <class... Parts>
[[gnu::cold]] std::string message(const Parts&... parts) {
  MessageText text;
  (text.out() << ... << parts);
  return text.text();
}

// Out of line and cold, so that a check costs its caller one compare and one jump.
template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const Parts&... parts) {
  throw E(message(parts...));
}

}  // namespace zero

// ZERO_CHECK(condition, ShapeError, "op: what is wrong; got ", a, ", expected ", b)
#define ZERO_CHECK(condition, ErrorType, ...)       \
  do {                                              \
    if (!(condition)) [[unlikely]]                  \
      ::zero::fail<::zero::ErrorType>(__VA_ARGS__); \
  } while (0)
