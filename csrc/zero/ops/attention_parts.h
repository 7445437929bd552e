// What the two forms of the tiled engine share: operands as matrices, and what ends a softmax.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "zero/core/allocator.h"
#include "zero/kernels/attention.h"
#include "zero/ops/attention.h"

namespace zero {

inline int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// A matrix per head in the memory of a tensor [..., rows, columns], or the same for several.
class HeadMatrices {
 public:
  // `batch` are the sizes of the dimensions in front, for the heads of the query.
  HeadMatrices(const Tensor& x, const Dims& batch, int64_t group)
      : data_(static_cast<char*>(x.data())), item_(itemsize(x.dtype())), batch_(batch) {
    const auto stride = [&](int64_t d) {  // of dimension d from the end
      return d > x.dim() || x.size(x.dim() - d) == 1 ? 0 : x.stride(x.dim() - d);
    };
    row = stride(2);
    column = stride(1);
    strides_.resize(batch.size());
    for (int64_t d = 0; d < batch.size(); ++d) strides_[d] = stride(batch.size() + 2 - d);
    group_ = group;
  }

  char* at(int64_t head, int64_t i = 0, int64_t j = 0) const {
    int64_t offset = i * row + j * column;
    for (int64_t d = batch_.size() - 1; d >= 0; --d) {
      const int64_t index = head % batch_[d];
      head /= batch_[d];
      offset += (d == batch_.size() - 1 ? index / group_ : index) * strides_[d];
    }
    return data_ + offset * item_;
  }
  int64_t item() const { return item_; }

  int64_t row, column;  // strides in elements; 0 for a dimension of size 1

 private:
  char* data_;
  int64_t item_;
  Dims batch_, strides_;
  int64_t group_;
};

struct AttentionProblem {
  AttentionProblem(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
                   const AttentionCall& options)
      : call(options),
        dtype(query.dtype()),
        type(compute_type(dtype)),
        item(itemsize(dtype)),
        queries(query.size(query.dim() - 2)),
        keys(key.size(key.dim() - 2)),
        features(query.size(query.dim() - 1)),
        values(value.size(value.dim() - 1)),
        batch(query.sizes().begin(), query.sizes().end() - 2),
        heads(numel(batch)),
        q(query, batch, 1),
        k(key, batch, call.group),
        v(value, batch, call.group),
        mask(bias.defined() ? bias : query, batch, 1),
        masked(bias.defined()),
        mask_dtype(bias.defined() ? bias.dtype() : dtype) {}

  // The multiply-adds of all products over all scores.
  double work(int64_t products_of_features, int64_t products_of_values) const {
    const double scores = static_cast<double>(queries) * static_cast<double>(keys);
    return scores * static_cast<double>(heads) *
           static_cast<double>(products_of_features * features + products_of_values * values) *
           (call.causal ? 0.5 : 1.0);
  }

  AttentionCall call;
  DType dtype;
  ComputeType type;
  int64_t item, queries, keys, features, values;
  Dims batch;
  int64_t heads;
  HeadMatrices q, k, v, mask;
  bool masked;
  DType mask_dtype;
};

// Tasks that are worth a range of their own, for so many multiply-adds in all of them.
inline int64_t attention_grain(double work, int64_t tasks) {
  constexpr double kGrain = 1 << 19;
  const double each = work / static_cast<double>(std::max<int64_t>(tasks, 1));
  return each >= kGrain ? 1 : static_cast<int64_t>(kGrain / std::max(each, 1.0)) + 1;
}

// What is kept is multiplied by it.
inline double keep_value(const AttentionCall& call) {
  return call.dropout < 1 ? 1 / (1 - call.dropout) : 0;
}

// The start of a running softmax of n queries.
inline void start_softmax(const AttentionProblem& p, char* max, char* sum, int64_t n) {
  std::memset(sum, 0, static_cast<size_t>(n * p.item));
  if (p.dtype == DType::Float64) {
    std::fill_n(reinterpret_cast<double*>(max), n, -std::numeric_limits<double>::infinity());
  } else {
    std::fill_n(reinterpret_cast<float*>(max), n, -std::numeric_limits<float>::infinity());
  }
}

// All queries, up to kFewQueries, of the heads from begin to end.
inline constexpr int64_t kFewQueries = 4;
void few_queries(const AttentionProblem& p, const HeadMatrices& y, int64_t begin, int64_t end);

}  // namespace zero
