// Rows of one table added to rows of another, which lists of indices name: sums over bags, and the
// gradients of embeddings.
#include "zero/kernels/embedding.h"

#include "zero/kernels/common.inl"

namespace zero::ZERO_ISA_NS {
namespace {

template <class T>
ZERO_INLINE void add_row(const T* x, T* y, int64_t n) {
  ZERO_SIMD
  for (int64_t c = 0; c < n; ++c) y[c] += x[c];
}

template <class T>
ZERO_INLINE void add_scaled_row(const T* x, T scale, T* y, int64_t n) {
  ZERO_SIMD
  for (int64_t c = 0; c < n; ++c) y[c] += scale * x[c];
}

template <class T>
void add_rows(const AddRowsArgs& args) {
  const T* const x = static_cast<const T*>(args.x) + args.begin;
  T* const y = static_cast<T*>(args.out) + args.begin;
  const T* const scale = static_cast<const T*>(args.scale);
  const int64_t n = args.end - args.begin;
  for (int64_t i = 0; i < args.n; ++i) {
    const int64_t from = args.from ? args.from[i] : i, into = args.into ? args.into[i] : i;
    if (from < 0 || into < 0) continue;
    const T* const row = x + from * args.columns;
    if (scale) {
      add_scaled_row(row, scale[i], y + into * args.columns, n);
    } else {
      add_row(row, y + into * args.columns, n);
    }
  }
}

}  // namespace

void fill_embedding(KernelTable& table) {
  static constexpr EmbeddingKernels kernels{{add_rows<float>, add_rows<double>}};
  table.embedding = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
