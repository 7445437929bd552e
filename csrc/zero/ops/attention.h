// Scaled dot-product attention: softmax(scale query key^T + mask) value, for each head. One front,
// which several engines serve.
#pragma once

#include <optional>

#include "zero/core/generator.h"
#include "zero/core/tensor.h"

namespace zero {

// PyTorch's names and numbers for engines. Math is composed of operators; Flash and Efficient are
// the one engine that works in tiles (attention_tiled.cpp); there are none of the others.
enum class AttentionBackend : int8_t { Error = -1, Math, Flash, Efficient, Cudnn, Overrideable };
using AttentionBackends = SmallVector<AttentionBackend, 6>;

struct AttentionOptions {
  double dropout = 0;
  bool causal = false;
  std::optional<double> scale;  // else 1 / sqrt(E)
  bool grouped = false;         // several heads of the query share one of key and value
};

// query [..., L, E], key [..., S, E], value [..., S, V] -> [..., L, V]; the dimensions before
// broadcast. `mask`, which may be undefined, broadcasts to [..., L, S]: bools say which keys take
// part, numbers are added to the scores. A query that sees no key gets 0.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& mask, const AttentionOptions& options);

// Which engine that call would take; Error if none of those allowed can serve it.
AttentionBackend attention_backend(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const Tensor& mask, const AttentionOptions& options);

// The engines that calls may take, the first that can serve; for all threads.
AttentionBackends attention_backends();
void set_attention_backends(const AttentionBackends& allowed);

// ---- between the front and its engines ----------------------------------------------------------

// Small values that a call and its gradient share.
struct AttentionCall {
  double scale;
  bool causal;
  int64_t group;  // so many heads of the query in a row share one of key and value
  double dropout;
  Generator::Draw draw;  // element i of [..., L, S] is dropped by place i of this draw
};

// The operands have the same dimensions in front but for the group; all are float32 or float64,
// the mask is bool or of any floating dtype.
struct AttentionResult {
  Tensor y;
  Tensor stats;  // [2, heads, L]: the largest score and one over the sum of exponentials
  bool reads_y;  // whether the pass back needs y
};
AttentionResult tiled_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                const Tensor& mask, const AttentionCall& call, bool keep_stats);
struct AttentionNeeds { bool q, k, v; };
// The gradients of q, k and v; those not needed are undefined.
Tensors tiled_attention_backward(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const Tensor& mask, const AttentionResult& result, const Tensor& g,
                                 const AttentionCall& call, AttentionNeeds needs);

}  // namespace zero
