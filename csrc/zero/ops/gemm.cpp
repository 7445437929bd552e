#include "zero/ops/gemm.h"

#include <climits>

#include "zero/core/allocator.h"
#include "zero/kernels/packed_gemm.h"
#include "zero/ops/half_gemm.h"
#include "zero/runtime/blas.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

// Measured against OpenBLAS on Zen 3: below this many multiply-adds, and for up to kFewRows rows or
// columns, the portable kernel wins (16x16x16: 0.17 µs, OpenBLAS 0.26; one row, 256 x 784: 15, 52).
constexpr double kSmallProduct = 32 * 32 * 32;
constexpr int64_t kFewRows = 4;
constexpr double kOneBlock = 64 * 64 * 64;  // not worth a second thread: ~6 µs
constexpr double kGrain = 1 << 20;          // multiply-adds that are worth a range of their own
constexpr int64_t kMinBlock = 128, kMaxBlock = 512;
constexpr int64_t kMinDepth = 2048;  // part of k, when c is too small to be cut
constexpr int64_t kMaxParts = 16;
constexpr int64_t kUnpackedRows = 24;        // that read b as it is, where it is dense
constexpr int64_t kPackedBytes = 512 << 10;  // of b at a time, for each thread: a part of its L2
constexpr double kPackedWork = 1 << 23;      // multiply-adds that are worth a copy and its barriers
constexpr int64_t kChunk = 256;              // of k; the kernels' sums are cut there anyway
constexpr int64_t kPackGrain = 1 << 16;      // elements that are worth a range of their own
constexpr int64_t kBlocksOfThread = 4, kLeastRows = 24;
constexpr int64_t kStrip = 6;  // rows that the kernels have in registers at a time

double work(const Gemm& g) {
  return static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}

// Bytes for one call, on the stack if they are few.
class Scratch {
 public:
  explicit Scratch(int64_t bytes)
      : bytes_(bytes), data_(bytes <= kInline ? inline_ : allocate(bytes)) {}
  ~Scratch() {
    if (data_ != inline_) deallocate(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data() { return static_cast<char*>(data_); }

 private:
  static constexpr int64_t kInline = 16384;
  int64_t bytes_;
  void* data_;
  alignas(kAlignment) char inline_[kInline];
};

const void* offset(const void* data, int64_t elements, int64_t item) {
  return static_cast<const char*>(data) + elements * item;
}
void* offset(void* data, int64_t elements, int64_t item) {
  return static_cast<char*>(data) + elements * item;
}

void run_portable(const Gemm& g) {
  const KernelTable& table = kernels();
  GemmArgs args{g.m,     g.n,        g.k, g.a.data, g.a.row, g.a.column, g.b.data,
                g.b.row, g.b.column, g.c, g.c_row,  g.bias,  g.add};
  if (g.n == 1 && g.c_row == 1 && g.a.row == 1 && !g.bias) {
    // A column of c is a row of its transpose, and a^T is dense in the direction that vectors run.
    args = {1,          g.m,     g.k, g.b.data, g.b.column, g.b.row, g.a.data,
            g.a.column, g.a.row, g.c, g.m,      nullptr,    g.add};
  }
  Scratch scratch(table.gemm_scratch(args.m, args.n, args.k, itemsize(g.dtype)));
  table.gemm[static_cast<int>(compute_type(g.dtype))](args, scratch.data());
}

struct BlasOperand {
  BlasTranspose transpose;
  int64_t ld;
};
// False where neither stride is 1, or where rows overlap.
bool blas_operand(const GemmOperand& x, int64_t rows, int64_t columns, BlasOperand* out) {
  if ((x.column == 1 || columns == 1) && (x.row >= columns || rows == 1)) {
    *out = {kNoTrans, rows == 1 ? columns : x.row};
  } else if ((x.row == 1 || rows == 1) && (x.column >= rows || columns == 1)) {
    *out = {kTrans, columns == 1 ? rows : x.column};
  } else {
    return false;
  }
  return out->ld <= INT_MAX;
}

// to += from, an m x n matrix each; from_row = 0 adds one row to all.
void add_rows(const Gemm& g, void* to, int64_t to_row, const void* from, int64_t from_row) {
  const int64_t item = itemsize(g.dtype);
  char* data[3] = {static_cast<char*>(to), static_cast<char*>(to),
                   static_cast<char*>(const_cast<void*>(from))};
  const int64_t strides[6] = {item, item, item, to_row * item, to_row * item, from_row * item};
  const int type = static_cast<int>(compute_type(g.dtype));
  kernels().elementwise[static_cast<int>(ElementwiseOp::Add)][type](data, strides, g.n, g.m,
                                                                    nullptr);
}

void add_bias(const Gemm& g) {
  if (g.bias) add_rows(g, g.c, g.c_row, g.bias, 0);
}

// The kernels that share a copy of b; null where the BLAS is faster.
const PackedGemm* own_kernels(const Gemm& g) {
  return kernels().packed_gemm[static_cast<int>(compute_type(g.dtype))];
}

bool suits_blas(const Gemm& g) {
  return is_floating(g.dtype) && !own_kernels(g) && g.m > kFewRows && g.n > kFewRows &&
         work(g) > kSmallProduct;
}

bool run_blas(const Gemm& g) {
  if (!suits_blas(g)) return false;
  BlasOperand a, b;
  if (!blas_operand(g.a, g.m, g.k, &a) || !blas_operand(g.b, g.k, g.n, &b)) return false;
  if (std::max({g.m, g.n, g.k, g.c_row}) > INT_MAX) return false;
  const Blas* library = blas();
  if (!library) return false;
  const int m = static_cast<int>(g.m), n = static_cast<int>(g.n), k = static_cast<int>(g.k);
  const int lda = static_cast<int>(a.ld), ldb = static_cast<int>(b.ld),
            ldc = static_cast<int>(g.c_row);
  const BlasCall call;
  if (g.dtype == DType::Float32) {
    library->sgemm(kRowMajor, a.transpose, b.transpose, m, n, k, 1.0f,
                   static_cast<const float*>(g.a.data), lda, static_cast<const float*>(g.b.data),
                   ldb, g.add ? 1.0f : 0.0f, static_cast<float*>(g.c), ldc);
  } else {
    library->dgemm(kRowMajor, a.transpose, b.transpose, m, n, k, 1.0,
                   static_cast<const double*>(g.a.data), lda, static_cast<const double*>(g.b.data),
                   ldb, g.add ? 1.0 : 0.0, static_cast<double*>(g.c), ldc);
  }
  add_bias(g);
  return true;
}

// One block, in this thread.
void run_block(const Gemm& g) {
  if (!run_blas(g)) run_portable(g);
}

// How c is cut along its longer side: by its shape alone.
struct Cut {
  int64_t blocks, step;
  bool rows;
};
Cut cut(const Gemm& g) {
  const bool rows = g.m >= g.n;
  const int64_t longer = rows ? g.m : g.n;
  if (longer < 2 * kMinBlock || work(g) <= kOneBlock) return {1, longer, rows};
  const int64_t step = std::clamp((longer / 8 + 63) / 64 * 64, kMinBlock, kMaxBlock);
  return {(longer + step - 1) / step, step, rows};
}

Gemm block_of(const Gemm& g, const Cut& c, int64_t index) {
  const int64_t item = itemsize(g.dtype), begin = index * c.step;
  Gemm block = g;
  if (c.rows) {
    block.m = std::min(c.step, g.m - begin);
    block.a.data = offset(g.a.data, begin * g.a.row, item);
    block.c = offset(g.c, begin * g.c_row, item);
  } else {
    block.n = std::min(c.step, g.n - begin);
    block.b.data = offset(g.b.data, begin * g.b.column, item);
    block.c = offset(g.c, begin, item);
    if (g.bias) block.bias = offset(g.bias, begin, item);
  }
  return block;
}

int64_t grain_for(double work_per_task) {
  return work_per_task >= kGrain ? 1
                                 : static_cast<int64_t>(kGrain / std::max(work_per_task, 1.0)) + 1;
}

// Whether to let the interpreter's lock go. The BLAS is loaded before: were it loaded without the
// lock, a fork() in another thread could leave a child with half a library.
bool is_large(const Gemm& g, double count) {
  const bool large = work(g) * count > 1e7;
  if (large && suits_blas(g)) blas();
  return large;
}

// c = the sum of the parts, in order, (+ c) (+ bias).
void add_parts(const Gemm& g, char* parts, int64_t count) {
  const int64_t item = itemsize(g.dtype), size = g.m * g.n * item;
  for (int64_t p = 1; p < count; ++p) add_rows(g, parts, g.n, parts + p * size, g.n);
  if (g.add) {
    add_rows(g, g.c, g.c_row, parts, g.n);
  } else {
    char* data[2] = {static_cast<char*>(g.c), parts};
    const int64_t strides[4] = {item, item, g.c_row * item, g.n * item};
    const int type = static_cast<int>(g.dtype);
    kernels().cast[type][type](data, strides, g.n, g.m, nullptr);
  }
  add_bias(g);
}

// Whether one copy of b serves all rows: not where few of them read it.
bool suits_packed(const Gemm& g) {
  const bool few = g.n <= kFewRows || g.m <= kFewRows || (g.m <= kUnpackedRows && g.b.column == 1);
  return own_kernels(g) && !few && work(g) > kSmallProduct;
}

// A copy of a part of b, so large that it stays in the cache, and then blocks of c that read it.
// Bits depend neither on the parts nor on the blocks, so threads may have their number of them.
void run_packed(const Gemm& g, const PackedGemm& way) {
  const int64_t item = itemsize(g.dtype), panel = way.panel;
  const int64_t threads = in_parallel_region() ? 1 : num_threads();
  const int64_t elements = std::max(kPackedBytes / item * threads,
                                    static_cast<int64_t>(kPackedWork / static_cast<double>(g.m)));
  const int64_t depth = std::max(elements / g.n / kChunk, int64_t{1}) * kChunk;
  if (g.k > depth) {
    for (int64_t p = 0; p < g.k; p += depth) {
      Gemm part = g;
      part.k = std::min(depth, g.k - p);
      part.a.data = offset(g.a.data, p * g.a.column, item);
      part.b.data = offset(g.b.data, p * g.b.row, item);
      part.add = g.add || p > 0;
      if (p + part.k < g.k) part.bias = nullptr;
      run_packed(part, way);
    }
    return;
  }
  const int64_t most = std::max(panel, elements / g.k / panel * panel);
  const int64_t scratch_bytes = kernels().gemm_scratch(g.m, g.n, g.k, item);
  for (int64_t first = 0; first < g.n; first += most) {
    const int64_t n = std::min(most, g.n - first), panels = (n + panel - 1) / panel;
    const int64_t padded = panels * panel;
    Scratch packed(padded * g.k * item);
    const void* const b = offset(g.b.data, first * g.b.column, item);
    parallel_for(panels, 1 + kPackGrain / (g.k * panel), [&](int64_t begin, int64_t end) {
      way.pack({g.k, begin * panel, std::min(end * panel, n) - begin * panel, b, g.b.row,
                g.b.column, packed.data(), padded});
    });
    // Blocks of rows, and of columns where there are few rows.
    const int64_t wanted = threads == 1 ? 1 : kBlocksOfThread * threads;
    const int64_t strips = (g.m + kStrip - 1) / kStrip;
    const int64_t down = std::min(wanted, (g.m + kLeastRows - 1) / kLeastRows);
    const int64_t across = std::min((wanted + down - 1) / down, panels);
    // As even as whole strips and panels allow: threads wait for the one with a block more.
    const auto row = [&](int64_t block) { return std::min(block * strips / down * kStrip, g.m); };
    const auto column = [&](int64_t block) { return std::min(block * panels / across * panel, n); };
    const void* const bias = g.bias ? offset(g.bias, first, item) : nullptr;
    parallel_for(across * down, grain_for(work(g) / static_cast<double>(across * down)),
                 [&](int64_t begin, int64_t end) {
                   Scratch scratch(scratch_bytes);
                   for (int64_t task = begin; task < end; ++task) {
                     const int64_t down_i = task / across, across_i = task % across;
                     const int64_t i = row(down_i), j = column(across_i);
                     way.multiply(
                         {row(down_i + 1) - i, column(across_i + 1) - j, g.k,
                          offset(g.a.data, i * g.a.row, item), g.a.row, g.a.column, nullptr, 0, 0,
                          offset(g.c, i * g.c_row + first, item), g.c_row, bias, g.add},
                         packed.data(), padded, j, scratch.data());
                   }
                 });
  }
}

// A small c with a long k, such as the gradient of a narrow layer's weight: parts of k, added in
// order.
bool run_parts(const Gemm& g, const Cut& c) {
  if (c.blocks > 1 || g.k < 2 * kMinDepth || work(g) <= kOneBlock || !is_floating(g.dtype))
    return false;
  const int64_t item = itemsize(g.dtype);
  const int64_t parts = std::min(g.k / kMinDepth, kMaxParts);
  const int64_t depth = (g.k + parts - 1) / parts;
  Scratch scratch(parts * g.m * g.n * item);
  parallel_for(
      parts, grain_for(work(g) / static_cast<double>(parts)),
      [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          Gemm part = g;
          part.k = std::min(depth, g.k - p * depth);
          part.a.data = offset(g.a.data, p * depth * g.a.column, item);
          part.b.data = offset(g.b.data, p * depth * g.b.row, item);
          part.c = scratch.data() + p * g.m * g.n * item;
          part.c_row = g.n;
          part.add = false;
          part.bias = nullptr;
          run_block(part);
        }
      },
      kMaxGemmThreads);
  add_parts(g, scratch.data(), parts);
  return true;
}

}  // namespace

void gemm(const Gemm& g) {
  if (g.m == 0 || g.n == 0) return;
  if (itemsize(g.dtype) == 2) return half_gemm(g, {});
  DenormalGuard guard;
  if (work(g) <= kSmallProduct) return run_portable(g);
  const Cut c = cut(g);
  BlockingSection section(is_large(g, 1));
  if (run_parts(g, c)) return;
  if (suits_packed(g)) return run_packed(g, *own_kernels(g));
  parallel_for(
      c.blocks, grain_for(work(g) / static_cast<double>(c.blocks)),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) run_block(block_of(g, c, i));
      },
      kMaxGemmThreads);
}

void gemm(const Gemm& g, const GemmBatch& batch) {
  if (itemsize(g.dtype) == 2) return half_gemm(g, batch);
  int64_t count = 1;
  for (const GemmBatch::Dim& dim : batch.dims) count *= dim.size;
  if (count == 0 || g.m == 0 || g.n == 0) return;
  if (count == 1) return gemm(g);
  DenormalGuard guard;
  const Cut c = cut(g);
  const int64_t item = itemsize(g.dtype);
  BlockingSection section(is_large(g, static_cast<double>(count)));
  parallel_for(
      count * c.blocks, grain_for(work(g) / static_cast<double>(c.blocks)),
      [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          int64_t index = task / c.blocks, a = 0, b = 0, out = 0;
          for (int64_t d = batch.dims.size() - 1; d >= 0; --d) {
            const GemmBatch::Dim& dim = batch.dims[d];
            const int64_t i = index % dim.size;
            index /= dim.size;
            a += i * dim.a;
            b += i * dim.b;
            out += i * dim.c;
          }
          Gemm one = g;
          one.a.data = offset(g.a.data, a, item);
          one.b.data = offset(g.b.data, b, item);
          one.c = offset(g.c, out, item);
          run_block(c.blocks == 1 ? one : block_of(one, c, task % c.blocks));
        }
      },
      kMaxGemmThreads);
}

}  // namespace zero
