// A Python number on its way into an op: bool, int or float, kept as what it was.
#pragma once

#include <cmath>
#include <cstdint>
#include <ostream>

#include "zero/core/dtype.h"
#include "zero/core/error.h"

namespace zero {

class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, Float };

  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool v) : kind_(Kind::Bool), i_(v) {}
  Scalar(int v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(int64_t v) : kind_(Kind::Int), i_(v) {}
  Scalar(double v) : kind_(Kind::Float), f_(v) {}

  Kind kind() const { return kind_; }
  bool is_float() const { return kind_ == Kind::Float; }
  double to_double() const { return is_float() ? f_ : static_cast<double>(i_); }
  int64_t to_int() const { return is_float() ? static_cast<int64_t>(f_) : i_; }
  bool is_one() const { return is_float() ? f_ == 1 : i_ == 1; }
  bool to_bool() const { return is_float() ? f_ != 0 : i_ != 0; }

  // The dtype a scalar has on its own: bool, int64 or the default float.
  DType dtype() const {
    return kind_ == Kind::Bool ? DType::Bool : kind_ == Kind::Int ? DType::Int64 : default_dtype();
  }
  // The dtype of `tensor op scalar`: the tensor's, unless the scalar is of a higher category.
  DType result_with(DType tensor) const {
    return category(dtype()) > category(tensor) ? dtype() : tensor;
  }
  friend std::ostream& operator<<(std::ostream& out, const Scalar& s) {
    if (s.kind_ == Kind::Bool) return out << (s.i_ ? "True" : "False");
    return s.is_float() ? out << s.f_ : out << s.i_;
  }

 private:
  Kind kind_;
  union {
    int64_t i_;
    double f_;
  };
};

}  // namespace zero
