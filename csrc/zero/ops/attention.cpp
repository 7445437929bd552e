// Attention: the front with its checks, the choice of an engine, and the engine that is composed of
// operators. That one serves gradients of gradients of the other engine, too.
#include "zero/ops/attention.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "zero/autograd/record.h"
#include "zero/ops/autocast.h"
#include "zero/ops/draw.h"
#include "zero/ops/ops.h"

namespace zero {

namespace {

constexpr const char* kOp = "scaled_dot_product_attention";
constexpr double kLowest = -std::numeric_limits<double>::infinity();

// ---- operands -----------------------------------------------------------------------------------

// Query, key and value with the same dimensions in front, but for the heads of groups.
struct Operands {
  Tensor q, k, v;
  int64_t group = 1;
};

void check(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
           const AttentionOptions& options) {
  ZERO_CHECK(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2, ShapeError, kOp,
             ": an operand is no matrix; got query ", q.sizes(), ", key ", k.sizes(), " and value ",
             v.sizes(), ", expected at least 2 dimensions each");
  ZERO_CHECK(is_floating(q.dtype()), DTypeError, kOp, ": not defined for integers; got query ",
             q.dtype(), ", expected floating point tensors");
  ZERO_CHECK(q.dtype() == k.dtype() && q.dtype() == v.dtype(), DTypeError, kOp,
             ": dtypes differ; got query ", q.dtype(), ", key ", k.dtype(), " and value ",
             v.dtype(), ", expected one dtype; to() converts");
  ZERO_CHECK(q.device() == k.device() && q.device() == v.device() &&
                 (!mask.defined() || mask.device() == q.device()),
             Error, kOp, ": tensors are on two devices; got query on ", q.device(), ", key on ",
             k.device(), ", value on ", v.device(), ", expected one device, also for attn_mask");
  ZERO_CHECK(q.size(q.dim() - 1) == k.size(k.dim() - 1), ShapeError, kOp,
             ": query and key differ in their last dimension; got query ", q.sizes(), " and key ",
             k.sizes(), ", expected [..., L, E] and [..., S, E]");
  ZERO_CHECK(k.size(k.dim() - 2) == v.size(v.dim() - 2), ShapeError, kOp,
             ": key and value differ in their length; got key ", k.sizes(), " and value ",
             v.sizes(), ", expected [..., S, E] and [..., S, V]");
  ZERO_CHECK(options.dropout >= 0 && options.dropout <= 1, ValueError, kOp,
             ": dropout_p is no probability; got ", options.dropout,
             ", expected 0 <= dropout_p <= 1");
  if (!mask.defined()) return;
  ZERO_CHECK(!options.causal, ValueError, kOp,
             ": a mask and is_causal exclude each other; got attn_mask ", mask.sizes(),
             " and is_causal=True, expected one of them");
  ZERO_CHECK(
      mask.dtype() == DType::Bool || mask.dtype() == DType::Float32 || mask.dtype() == q.dtype(),
      DTypeError, kOp, ": the dtype of the mask doesn't fit; got attn_mask ", mask.dtype(),
      " and query ", q.dtype(), ", expected bool, float32 or the dtype of the query");
}

Dims batch_of(const Tensor& x, int64_t without) {
  return Dims(x.sizes().begin(), x.sizes().end() - without);
}

Tensor with_batch(const Tensor& x, Dims sizes, int64_t kept) {
  for (int64_t d = x.dim() - kept; d < x.dim(); ++d) sizes.push_back(x.size(d));
  return x.sizes() == sizes ? x : expand(x, sizes);
}

// Each head `times` times.
Tensor repeated_heads(const Tensor& x, int64_t times) {
  if (times == 1) return x;
  Dims sizes = x.sizes();
  const int64_t head = x.dim() - 3;
  sizes.insert(head + 1, times);
  Dims flat = x.sizes();
  flat[head] *= times;
  return reshape(expand(unsqueeze(x, head + 1), sizes), flat);
}

Operands with_common_batch(const Tensor& query, const Tensor& key, const Tensor& value,
                           bool grouped) {
  Operands o{query, key, value};
  const bool plain = query.dim() == key.dim() && key.dim() == value.dim();
  int64_t own = 2;  // dimensions that don't broadcast
  if (grouped) {
    ZERO_CHECK(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3, ShapeError, kOp,
               ": no dimension of heads; got query ", query.sizes(), ", key ", key.sizes(),
               " and value ", value.sizes(), ", expected [..., heads, L, E] for enable_gqa=True");
    const int64_t heads = query.size(query.dim() - 3), of_key = key.size(key.dim() - 3),
                  of_value = value.size(value.dim() - 3);
    ZERO_CHECK(of_key > 0 && of_value > 0 && heads % of_key == 0 && heads % of_value == 0,
               ShapeError, kOp, ": heads cannot be grouped; got ", heads, " of the query, ", of_key,
               " of the key and ", of_value,
               " of the value, expected a multiple of the last two for the query");
    own = 3;
    o.group = heads / of_key;
    if (of_key != of_value) {
      o.k = repeated_heads(key, heads / of_key);
      o.v = repeated_heads(value, heads / of_value);
      o.group = 1;
    }
  }
  const Dims of_q = batch_of(query, own), of_k = batch_of(key, own), of_v = batch_of(value, own);
  if (plain && of_q == of_k && of_k == of_v) return o;
  const Dims batch = broadcast_shapes(kOp, broadcast_shapes(kOp, of_q, of_k), of_v);
  o.q = with_batch(o.q, batch, own);
  o.k = with_batch(o.k, batch, own);
  o.v = with_batch(o.v, batch, own);
  return o;
}

void check_mask(const Tensor& mask, const Operands& o) {
  if (!mask.defined()) return;
  Dims scores = o.q.sizes();
  scores.back() = o.k.size(o.k.dim() - 2);
  ZERO_CHECK(expands_to(mask.sizes(), scores), ShapeError, kOp,
             ": the mask doesn't fit; got attn_mask ", mask.sizes(), ", expected ", scores,
             " or what broadcasts to it");
}

// ---- the choice ---------------------------------------------------------------------------------

// The list of allowed engines, four bits each, the first one lowest; 15 ends it.
constexpr uint32_t kAllBackends = 0xf43021;
std::atomic<uint32_t> allowed_backends{kAllBackends};

const char* name_of(AttentionBackend backend) {
  switch (backend) {
    case AttentionBackend::Math: return "MATH";
    case AttentionBackend::Flash: return "FLASH_ATTENTION";
    case AttentionBackend::Efficient: return "EFFICIENT_ATTENTION";
    case AttentionBackend::Cudnn: return "CUDNN_ATTENTION";
    case AttentionBackend::Overrideable: return "OVERRIDEABLE";
    default: return "ERROR";
  }
}

// Null if it can serve the call.
const char* why_not(AttentionBackend backend, const Tensor& mask) {
  switch (backend) {
    case AttentionBackend::Math: return nullptr;
    case AttentionBackend::Flash:
    case AttentionBackend::Efficient:
      return any_requires_grad({&mask}) ? "the mask requires a gradient, which only MATH computes"
                                        : nullptr;
    default: return "there is no such engine for CPUs";
  }
}

AttentionBackend choose(const Tensor& mask) {
  for (uint32_t rest = allowed_backends.load(std::memory_order_relaxed); (rest & 15) != 15;
       rest >>= 4) {
    const auto backend = static_cast<AttentionBackend>(rest & 15);
    if (why_not(backend, mask) == nullptr) return backend;
  }
  return AttentionBackend::Error;
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_choice(const Tensor& mask) {
  MessageText reasons;
  const AttentionBackends allowed = attention_backends();
  for (int64_t i = 0; i < allowed.size(); ++i)
    reasons.out() << (i ? "; " : "") << name_of(allowed[i]) << " (" << why_not(allowed[i], mask)
                  << ')';
  if (allowed.empty()) reasons.out() << "none";
  fail<Error>(kOp, ": no engine that sdpa_kernel allows can serve this call; got ", reasons.text(),
              ", expected MATH, or another that can, among them");
}

// ---- the engine composed of operators -----------------------------------------------------------

Tensor swapped(const Tensor& x) { return transpose(x, x.dim() - 2, x.dim() - 1); }

// 1 / (1 - p) where an element of [..., L, S] is kept, else 0: as the other engine draws it.
Tensor dropout_noise(const Dims& sizes, const AttentionCall& call, TensorOptions options) {
  Tensor y = empty(sizes, options);
  if (y.is_meta() || y.numel() == 0) return y;
  const BernoulliParams params{1 - call.dropout};
  const RandomFn fill = kernels().random.bernoulli;
  const double value = call.dropout < 1 ? 1 / (1 - call.dropout) : 0;
  const auto choose = [&](auto* out, int64_t begin, int64_t n) {
    using T = std::remove_pointer_t<decltype(out)>;
    constexpr int64_t kBlock = 512;
    const T values[2] = {0, static_cast<T>(value)};
    uint8_t kept[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i);
      fill(kept, begin + i, m, call.draw.seed, call.draw.offset, &params);
      for (int64_t k = 0; k < m; ++k) out[i + k] = values[kept[k]];
    }
  };
  if (options.dtype == DType::Float64)
    fill_blocks<double>(y, choose);
  else
    fill_blocks<float>(y, choose);
  return y;
}

// [..., heads, rows, columns] with the heads of a group as a dimension of their own.
Tensor with_groups(const Tensor& x, int64_t group) {
  if (group == 1 || !x.defined() || x.dim() < 3) return x;
  const int64_t head = x.dim() - 3;
  Dims sizes = x.sizes();
  sizes[head] = x.size(head) == 1 ? 1 : x.size(head) / group;
  sizes.insert(head + 1, x.size(head) == 1 ? 1 : group);
  return reshape(x, sizes);
}
// The same for key and value, of which a group shares one.
Tensor for_groups(const Tensor& x, int64_t group) {
  return group == 1 ? x : unsqueeze(x, x.dim() - 2);
}

// softmax(scale q k^T + mask), 0 in rows that see no key.
Tensor probabilities(const Tensor& q, const Tensor& k, const Tensor& mask,
                     const AttentionCall& call) {
  Tensor scores = mul(matmul(q, swapped(k)), call.scale);
  const int64_t queries = scores.size(scores.dim() - 2), keys = scores.size(scores.dim() - 1);
  if (call.causal) {
    const Tensor seen = tril(ones({queries, keys}, {DType::Bool, q.device()}));
    scores = where(seen, scores, kLowest);
  }
  if (!mask.defined() || keys == 0) return softmax(scores, -1);
  if (mask.dtype() == DType::Bool) {
    scores = where(mask, scores, kLowest);
  } else {
    const Tensor numbers = to(mask, scores.dtype());
    scores = where(eq(numbers, kLowest), kLowest, add(scores, numbers));
  }
  Tensor blind;
  {
    GradModeGuard no_grad(false);
    blind = eq(amax(scores, {-1}, true), kLowest);
  }
  // Twice: once so that nothing is NaN, also in the gradient, once for the result.
  return where(blind, 0.0, softmax(where(blind, 0.0, scores), -1));
}

Tensor composed(const Operands& o, const Tensor& mask, const AttentionCall& call) {
  const DType dtype = o.q.dtype(), wide = compute_dtype(dtype);
  const Tensor q = with_groups(to(o.q, wide), call.group),
               k = for_groups(to(o.k, wide), call.group), v = for_groups(to(o.v, wide), call.group);
  Tensor p = probabilities(q, k, with_groups(mask, call.group), call);
  if (call.dropout > 0) p = mul(p, dropout_noise(p.sizes(), call, p.options()));
  Tensor y = matmul(p, v);
  if (call.group > 1) {
    Dims sizes = o.q.sizes();
    sizes.back() = v.size(v.dim() - 1);
    y = reshape(y, sizes);
  }
  return to(y, dtype);
}

// The gradients of q, k and v as functions of all operands, which have gradients in turn.
Tensors composed_backward(const Tensor& query, const Tensor& key, const Tensor& value,
                          const Tensor& mask, const Tensor& gradient, const AttentionCall& call,
                          AttentionNeeds needs) {
  const DType dtype = query.dtype(), wide = compute_dtype(dtype);
  const int64_t group = call.group;
  const Tensor q = with_groups(to(query, wide), group), g = with_groups(to(gradient, wide), group),
               k = for_groups(to(key, wide), group), v = for_groups(to(value, wide), group);
  const Tensor p = probabilities(q, k, with_groups(mask, group), call);
  const Tensor noise = call.dropout > 0 ? dropout_noise(p.sizes(), call, p.options()) : Tensor();
  const auto dropped = [&](const Tensor& x) { return noise.defined() ? mul(x, noise) : x; };
  const auto joined = [&](const Tensor& x) {  // of a group's heads, for key and value
    return to(group == 1 ? x : sum(x, {-3}), dtype);
  };
  Tensors grads(3);
  if (needs.v) grads[2] = joined(matmul(swapped(dropped(p)), g));
  if (!needs.q && !needs.k) return grads;
  const Tensor of_p = dropped(matmul(g, swapped(v)));
  const Tensor of_scores = mul(mul(p, sub(of_p, sum(mul(p, of_p), {-1}, true))), call.scale);
  if (needs.q) grads[0] = to(reshape(matmul(of_scores, k), query.sizes()), dtype);
  if (needs.k) grads[1] = joined(matmul(swapped(of_scores), q));
  return grads;
}

// ---- the engine in tiles, recorded --------------------------------------------------------------

Tensor tiled(const Operands& o, const Tensor& mask, const AttentionCall& call) {
  const Tensor &q = o.q, &k = o.k, &v = o.v;
  const bool recorded = any_requires_grad({&q, &k, &v});
  AttentionResult result{};
  Tensor kept;  // the result before it is rounded to 16 bits
  if (q.is_meta()) {
    Dims sizes = q.sizes();
    sizes.back() = v.size(v.dim() - 1);
    result.y = empty(sizes, q.options());
  } else {
    GradModeGuard no_grad(false);
    const DType wide = compute_dtype(q.dtype());
    result = tiled_attention(to(q, wide), to(k, wide), to(v, wide), mask, call, recorded);
    if (result.reads_y) kept = result.y;
    result.y = to(result.y, q.dtype());
  }
  record("ScaledDotProductFlashAttentionForCpuBackward0", {}, result.y, {&q, &k, &v},
         {&q, &k, &v, &mask, &kept, &result.stats}, [call](Node& n, const Tensor& g) {
           const Tensor q = n.saved(0), k = n.saved(1), v = n.saved(2), mask = n.saved(3);
           const AttentionNeeds needs{n.needs(0), n.needs(1), n.needs(2)};
           if (grad_enabled() || g.is_meta())
             return composed_backward(q, k, v, mask, g, call, needs);
           const DType dtype = q.dtype(), wide = compute_dtype(dtype);
           const AttentionResult result{n.saved(4), n.saved(5), true};
           Grads grads = tiled_attention_backward(to(q, wide), to(k, wide), to(v, wide), mask,
                                                  result, to(g, wide), call, needs);
           for (Tensor& x : grads)
             if (x.defined()) x = to(x, dtype);
           return grads;
         });
  return result.y;
}

}  // namespace

AttentionBackends attention_backends() {
  AttentionBackends result;
  for (uint32_t rest = allowed_backends.load(std::memory_order_relaxed); (rest & 15) != 15;
       rest >>= 4)
    result.push_back(static_cast<AttentionBackend>(rest & 15));
  return result;
}

void set_attention_backends(const AttentionBackends& allowed) {
  uint32_t bits = 15, seen = 0;
  for (int64_t i = allowed.size() - 1; i >= 0; --i) {
    const auto number = static_cast<uint32_t>(allowed[i]);
    ZERO_CHECK(number <= static_cast<uint32_t>(AttentionBackend::Overrideable) &&
                   (seen >> number & 1) == 0,
               ValueError, "sdpa_kernel: no list of engines; got ", name_of(allowed[i]),
               ", expected each engine once, and none that is ERROR");
    seen |= 1u << number;
    bits = bits << 4 | number;
  }
  allowed_backends.store(bits, std::memory_order_relaxed);
}

AttentionBackend attention_backend(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const Tensor& mask, const AttentionOptions& options) {
  if (autocast_on)
    return autocast(CastTo::Lower, attention_backend, query, key, value, mask, options);
  check(query, key, value, mask, options);
  {
    GradModeGuard no_grad(false);
    check_mask(mask, with_common_batch(query, key, value, options.grouped));
  }
  return choose(mask);
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& mask, const AttentionOptions& options) {
  if (autocast_on)
    return autocast(CastTo::Lower, scaled_dot_product_attention, query, key, value, mask, options);
  check(query, key, value, mask, options);
  const Operands o = with_common_batch(query, key, value, options.grouped);
  check_mask(mask, o);
  const AttentionBackend backend = choose(mask);
  if (backend == AttentionBackend::Error) fail_choice(mask);
  const int64_t features = query.size(query.dim() - 1);
  const double usual = features > 0 ? 1 / std::sqrt(static_cast<double>(features)) : 1;
  AttentionCall call{options.scale.value_or(usual), options.causal, o.group, options.dropout, {}};
  if (call.dropout > 0 && !o.q.is_meta())
    call.draw = reserve(nullptr, numel(batch_of(o.q, 1)) * o.k.size(o.k.dim() - 2));
  return backend == AttentionBackend::Math ? composed(o, mask, call) : tiled(o, mask, call);
}

}  // namespace zero
