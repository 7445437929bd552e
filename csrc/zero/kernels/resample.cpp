// Linear maps along the last three dimensions (resample.h). A row of the result is a sum of rows of
// the input, which is mapped along the row then: only one row is kept between the two.
#include "zero/kernels/resample.h"

#include "zero/kernels/common.inl"
#include "zero/kernels/grid_sample.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// row = u a, row = u a + v b, row += u a
template <class T>
ZERO_NOINLINE void set_row(const T* a, T u, int64_t n, T* row) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) row[i] = u * a[i];
}
template <class T>
ZERO_NOINLINE void set_rows(const T* a, T u, const T* b, T v, int64_t n, T* row) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) row[i] = u * a[i] + v * b[i];
}
template <class T>
ZERO_NOINLINE void add_row(const T* a, T u, int64_t n, T* row) {
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i) row[i] += u * a[i];
}

// The rows that row [d, h] of the result takes, added up; a single one itself.
template <class T>
const T* sum_rows(const ResampleArgs& args, const T* plane, int64_t d, int64_t h, T* row) {
  const int64_t n = args.w.in;
  const T* const weight_d = static_cast<const T*>(args.d.weight);
  const T* const weight_h = static_cast<const T*>(args.h.weight);
  const T* first = nullptr;
  T first_weight = 0;
  bool several = false;
  for (int64_t i = args.d.start[d]; i < args.d.start[d + 1]; ++i) {
    for (int64_t j = args.h.start[h]; j < args.h.start[h + 1]; ++j) {
      const T* const from = plane + (args.d.index[i] * args.h.in + args.h.index[j]) * n;
      const T weight = weight_d[i] * weight_h[j];
      if (several) {
        add_row(from, weight, n, row);
      } else if (first != nullptr) {
        set_rows(first, first_weight, from, weight, n, row);
        several = true;
      } else {
        first = from;
        first_weight = weight;
      }
    }
  }
  if (!several) {
    if (first != nullptr && first_weight == T(1) && !args.w.ragged) return first;
    if (first != nullptr) {
      set_row(first, first_weight, n, row);
    } else {
      for (int64_t i = 0; i < n; ++i) row[i] = 0;
    }
  }
  row[n] = 0;
  return row;
}

template <class T>
ZERO_NOINLINE void map_row(const Taps& taps, const T* row, T* out) {
  const int64_t n = taps.out;
  if (taps.width == 0) {
    const T* const weight = static_cast<const T*>(taps.weight);
    for (int64_t i = 0; i < n; ++i) {
      T sum = 0;
      for (int64_t k = taps.start[i]; k < taps.start[i + 1]; ++k)
        sum += weight[k] * row[taps.index[k]];
      out[i] = sum;
    }
    return;
  }
  const int32_t* index = taps.column_index;
  const T* weight = static_cast<const T*>(taps.column_weight);
  if (taps.width == 1) {
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) out[i] = weight[i] * row[index[i]];
    return;
  }
  ZERO_SIMD
  for (int64_t i = 0; i < n; ++i)
    out[i] = weight[i] * row[index[i]] + weight[n + i] * row[index[n + i]];
  for (int64_t k = 2; k < taps.width; ++k) {
    const int32_t* const index_k = index + k * n;
    const T* const weight_k = weight + k * n;
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) out[i] += weight_k[i] * row[index_k[i]];
  }
}

template <class T>
void resample(const ResampleArgs& args) {
  const int64_t plane = args.d.in * args.h.in * args.w.in;
  T* out = static_cast<T*>(args.out) + args.begin * args.w.out;
  for (int64_t r = args.begin; r < args.end; ++r, out += args.w.out) {
    const int64_t h = r % args.h.out, rest = r / args.h.out;
    const T* const x = static_cast<const T*>(args.x) + rest / args.d.out * plane;
    const T* const row = sum_rows(args, x, rest % args.d.out, h, static_cast<T*>(args.scratch));
    map_row(args.w, row, out);
  }
}

template <class T>
void move(const MoveArgs& args) {
  const int64_t plane = args.in_d * args.in_h * args.in_w, n = args.out_w;
  const int64_t run = args.run_end - args.run_begin, bytes = static_cast<int64_t>(sizeof(T));
  T* out = static_cast<T*>(args.out) + args.begin * n;
  const T* before = nullptr;
  for (int64_t r = args.begin; r < args.end; ++r, out += n) {
    const int64_t h = args.h[r % args.out_h], rest = r / args.out_h;
    const T* const row = static_cast<const T*>(args.x) + rest / args.out_d * plane +
                         (args.d[rest % args.out_d] * args.in_h + h) * args.in_w;
    if (row == before) {  // once more
      copy_bytes(out, out - n, n * bytes);
      continue;
    }
    before = row;
    for (int64_t i = 0; i < args.run_begin; ++i) out[i] = row[args.w[i]];
    if (run > 0) copy_bytes(out + args.run_begin, row + args.w[args.run_begin], run * bytes);
    for (int64_t i = args.run_end; i < n; ++i) out[i] = row[args.w[i]];
  }
}

}  // namespace

void fill_resample(KernelTable& table) {
  static constexpr ResampleKernels kernels = {
      {resample<float>, resample<double>, resample<int64_t>, nullptr, nullptr},
      {grid_sample<float>, grid_sample<double>, nullptr, nullptr, nullptr},
      {grid_sample_input_gradient<float>, grid_sample_input_gradient<double>, nullptr, nullptr,
       nullptr},
      {grid_sample_grid_gradient<float>, grid_sample_grid_gradient<double>, nullptr, nullptr,
       nullptr},
      {move<uint8_t>, move<uint16_t>, move<uint32_t>, move<uint64_t>}};
  static_assert(static_cast<int>(ComputeType::F32) == 0 &&
                static_cast<int>(ComputeType::F64) == 1 && static_cast<int>(ComputeType::I64) == 2);
  table.resample = &kernels;
}

}  // namespace zero::ZERO_ISA_NS
