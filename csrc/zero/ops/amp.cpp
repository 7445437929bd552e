#include "zero/ops/amp.h"

#include <bit>

#include "zero/autograd/inplace.h"
#include "zero/ops/autocast.h"
#include "zero/ops/iterator.h"
#include "zero/runtime/denormal.h"

namespace zero {

namespace {

constexpr int64_t kBlock = 512;

// Multiplies a block and returns whether an exponent is all ones. The number of elements is a
// constant so that it becomes vector code.
template <class T, class Bits>
bool scale_block(T* block, T factor, Bits exponent) {
  Bits bad = 0;
  for (int64_t i = 0; i < kBlock; ++i) {
    block[i] *= factor;
    bad |= (std::bit_cast<Bits>(block[i]) & exponent) == exponent;
  }
  return bad != 0;
}

template <class T, class Bits>
bool scale(const Tensor& g, double factor, Bits exponent) {
  const int own = static_cast<int>(g.dtype()), wide = static_cast<int>(dtype_of<T>);
  const LoopFn load = kernels().cast[own][wide], store = kernels().cast[wide][own];
  std::atomic<bool> bad{false};
  const Tensor* const operands[] = {&g};
  const StridedLoop loop(operands, 1);
  const DenormalGuard denormal;
  loop.run(kGrainSize, [&](char* const* data, const int64_t* strides, int64_t n0, int64_t n1) {
    alignas(64) T block[kBlock] = {};
    constexpr int64_t item = sizeof(T);
    bool found = false;
    for (int64_t j = 0; j < n1; ++j) {
      for (int64_t i = 0; i < n0; i += kBlock) {
        const int64_t n = std::min(kBlock, n0 - i);
        char* const at = data[0] + j * strides[1] + i * strides[0];
        char* const to[2] = {reinterpret_cast<char*>(block), at};
        char* const from[2] = {at, reinterpret_cast<char*>(block)};
        const int64_t in[4] = {item, strides[0], 0, 0}, out[4] = {strides[0], item, 0, 0};
        if (n < kBlock) std::fill(block, block + kBlock, T(0));
        load(to, in, n, 1, nullptr);
        found |= scale_block(block, static_cast<T>(factor), exponent);
        store(from, out, n, 1, nullptr);
      }
    }
    if (found) bad.store(true, std::memory_order_relaxed);
  });
  return bad;
}

}  // namespace

Tensor autocast_float32(const Tensor& x) { return detail::autocast_argument(x, DType::Float32); }

void unscale_(const Tensors& grads, const Tensor& found_inf, const Tensor& inverse_scale) {
  for (const Tensor* x : {&found_inf, &inverse_scale})
    ZERO_CHECK(x->dtype() == DType::Float32 && x->numel() == 1 && !x->is_meta(), DTypeError,
               "unscale: found_inf and inv_scale are not one float32 each; got ", *x);
  for (const Tensor& g : grads) {
    ZERO_CHECK(is_floating(g.dtype()) && !g.is_meta(), DTypeError,
               "unscale: a gradient has no floating point numbers; got ", g);
    ZERO_CHECK(!overlaps_itself(g), Error,
               "unscale: several elements of a gradient share one place in memory; got ", g,
               " with strides ", g.strides(), ", expected a clone() of it");
  }
  const double factor = *inverse_scale.data<float>();
  for (const Tensor& g : grads) {
    if (g.numel() == 0) continue;
    const bool bad = g.dtype() == DType::Float64
                         ? scale<double, uint64_t>(g, factor, 0x7ff0000000000000u)
                         : scale<float, uint32_t>(g, factor, 0x7f800000u);
    g.impl()->version().bump();
    if (bad) *found_inf.data<float>() = 1;
  }
  found_inf.impl()->version().bump();
}

}  // namespace zero
