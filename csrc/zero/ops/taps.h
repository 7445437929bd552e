// Linear maps along the last dimensions of a tensor, one sparse matrix for each of them: windows
// that are summed up, interpolation, padding with the input's own elements. The gradient is the map
// by the transposed matrices, so it has gradients of any order.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "zero/core/tensor.h"

namespace zero {

// The matrix of one dimension.
class TapMatrix {
 public:
  // To be described output by output. Raises where a size is beyond 2^31 - 1; `op` names who asks.
  TapMatrix(const char* op, int64_t in) : TapMatrix(in) {
    check(op, in);
    op_ = op;
  }
  // Every output is one input, number source(i).
  template <class F>
  static TapMatrix moving(const char* op, int64_t in, int64_t out, F source) {
    check(op, std::max(in, out));
    TapMatrix result(in);
    result.moves_ = true;
    result.index_.resize(static_cast<size_t>(out));
    for (int64_t i = 0; i < out; ++i)
      result.index_[static_cast<size_t>(i)] = static_cast<int32_t>(source(i));
    return result;
  }

  // The output that comes next takes weight times this input, too. (Neighbours that are the same
  // input become one.)
  void add(int64_t input, double weight = 1);
  void close();  // that was all of it; raises where there are more than 2^31 - 1 taps by now

  int64_t in() const { return in_; }
  int64_t out() const { return static_cast<int64_t>(moves_ ? index_.size() : start_.size() - 1); }
  int64_t taps() const { return static_cast<int64_t>(index_.size()); }
  bool moves() const { return moves_; }
  // Taps begin(i) to begin(i + 1) are those of output i.
  int32_t begin(int64_t i) const {
    return moves_ ? static_cast<int32_t>(i) : start_[static_cast<size_t>(i)];
  }
  const std::vector<int32_t>& index() const { return index_; }
  double weight(int64_t k) const { return moves_ ? 1 : weight_[static_cast<size_t>(k)]; }
  TapMatrix transposed() const;

 private:
  explicit TapMatrix(int64_t in) : in_(in), start_{0} {}
  static void check(const char* op, int64_t size);

  int64_t in_;
  const char* op_ = "";
  bool moves_ = false;  // then start_ and weight_ are not there
  std::vector<int32_t> start_, index_;
  std::vector<double> weight_;
};

// The matrices of the last dimensions, outermost first: at most three.
using TapMatrices = std::vector<TapMatrix>;
using SharedTaps = std::shared_ptr<const TapMatrices>;

// x mapped, then divided by `divisor` (a number if that tensor is undefined; else it has the sizes
// of the last dimensions of the result, in the dtype that x computes in). `node` is the name of the
// gradient's node. Integers compute in int64, and their quotients are cut off.
Tensor map_taps(const char* node, const Tensor& x, const SharedTaps& taps, double divisor = 1,
                const Tensor& divisors = {});

}  // namespace zero
