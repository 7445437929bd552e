// The mechanism of all reductions. Dimensions are sorted into kept and reduced ones and merged, the
// outputs are cut into tiles, and a kernel folds the elements of one tile into states, which the op
// turns into results. Few outputs with many elements each are cut along the reduced dimensions as
// well, into parts that depend on the shape only and are combined as a binary tree.
#pragma once

#include <cstring>
#include <limits>

#include "zero/autograd/record.h"
#include "zero/kernels/table.h"
#include "zero/ops/ops.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

// ---- which dimensions ---------------------------------------------------------------------------

// The reduced dimensions of one call, and what they do to the shape.
struct Selection {
  Selection(const char* op, const Tensor& x, const Dims& dims) : reduced(x.dim(), dims.empty()) {
    if (!dims.empty()) {
      for (int64_t d : wrap_dims(op, dims, x.dim()))
        if (d < x.dim()) reduced[d] = true;
    }
    for (int64_t d = 0; d < x.dim(); ++d)
      if (reduced[d]) count *= x.size(d);
  }

  Dims sizes(const Tensor& x, bool keepdim) const {
    Dims out;
    for (int64_t d = 0; d < x.dim(); ++d) {
      if (!reduced[d]) {
        out.push_back(x.size(d));
      } else if (keepdim) {
        out.push_back(1);
      }
    }
    return out;
  }

  // max, argmax, … have no value for nothing.
  void check_not_empty(const char* op, const Tensor& x) const {
    for (int64_t d = 0; d < x.dim(); ++d)
      ZERO_CHECK(!reduced[d] || x.size(d) > 0, IndexError, op,
                 ": nothing to reduce along dimension ", d, "; got ", x.sizes(),
                 ", expected at least one element in each reduced dimension");
  }

  SmallVector<bool, 8> reduced;
  int64_t count = 1;  // elements per output
};

// ---- the plan -----------------------------------------------------------------------------------

inline constexpr int64_t kChunk = 32768;  // elements of one part of a long reduction
inline constexpr int64_t kMaxChunks = 64;
inline constexpr int64_t kEnoughTiles =
    16;  // to occupy the threads without cutting reduced dimensions
inline constexpr int64_t kRowUnit = 2048,
                         kColumnUnit = 64;  // parts end where the kernels' own tree has a joint

struct Kept {
  int64_t size, stride, out;  // strides in bytes, and in elements of the result
};

struct Tile {
  const char* in;
  int64_t out, n;  // first element of the result, number of outputs
};

class Plan {
 public:
  Plan(const Tensor& x, const Selection& selection, bool ordered) : in_(x.data<char>()) {
    type_ = compute_type(x.dtype());
    const int64_t item = itemsize(x.dtype());
    int64_t out = 1, weight = 1;
    for (int64_t d = x.dim() - 1; d >= 0; --d) {
      const int64_t size = x.size(d), stride = x.stride(d) * item;
      if (selection.reduced[d]) {
        if (size != 1) reduced_.push_back({size, stride, weight});
        weight *= size;
      } else {
        if (size != 1) kept_.push_back({size, stride, out});
        out *= size;
      }
    }
    outputs_ = out;
    count_ = weight;
    if (!ordered) sort(reduced_);
    sort(kept_);
    merge(
        reduced_,
        [](const ReduceDim& a, const ReduceDim& b) {
          return b.stride == a.stride * a.size && b.weight == a.weight * a.size;
        },
        ordered);
    merge(
        kept_,
        [](const Kept& a, const Kept& b) {
          return b.stride == a.stride * a.size && b.out == a.out * a.size;
        },
        true);
    if (reduced_.empty()) reduced_.push_back({1, item, 1});
    if (kept_.empty()) kept_.push_back({1, 0, 1});
    columns_ = kept_[0].stride == item && reduced_[0].stride != item;
    const int64_t rows = 16384 / std::max<int64_t>(count_, 1);
    tile_ = columns_ ? kReduceTile : std::clamp<int64_t>(rows, 1, kReduceTile);
    tiles_per_run_ = (kept_[0].size + tile_ - 1) / tile_;
    tiles_ = outputs_ == 0 ? 0 : outputs_ / kept_[0].size * tiles_per_run_;
    if (tiles_ < kEnoughTiles && outputs_ * count_ > 2 * kChunk) {
      const ReduceDim& outer = reduced_.back();
      unit_ = reduced_.size() > 1 ? 1 : columns_ ? kColumnUnit : kRowUnit;
      units_ = (outer.size + unit_ - 1) / unit_;
      chunks_ = std::min({outputs_ * count_ / tiles_ / kChunk, kMaxChunks, units_});
      chunks_ = std::max<int64_t>(chunks_, 1);
    }
  }

  int64_t count() const { return count_; }
  int64_t out_stride() const { return kept_[0].out; }

  // f(tile), from several threads.
  template <class F>
  void for_each_tile(F&& f) const {
    const DenormalGuard denormal;
    if (tiles_ == 1 || chunks_ > 1) {  // one section for all folds, which share the pointers
      const BlockingSection section(outputs_ * count_ >= 16 * kGrainSize);
      for (int64_t t = 0; t < tiles_; ++t) f(tile_at(t));
      return;
    }
    const int64_t work = tiles_ == 0 ? 1 : outputs_ * count_ / tiles_ + 1;
    parallel_for(tiles_, std::max<int64_t>(1, kGrainSize / work), [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) f(tile_at(t));
    });
  }

  // The states of a tile's outputs.
  void fold(ReduceOp op, const Tile& tile, const double* shift, void* states) const {
    const ReduceKernel& kernel = kernels().reduce[static_cast<int>(op)][static_cast<int>(type_)];
    const FoldArgs args{tile.in,
                        tile.n,
                        kept_[0].stride,
                        reduced_.data(),
                        static_cast<int>(reduced_.size()),
                        columns_,
                        shift,
                        0};
    if (chunks_ == 1) return kernel.fold(args, states);
    const int64_t step = tile.n * kernel.state_size;
    struct Scratch {
      explicit Scratch(size_t n) : data(static_cast<char*>(allocate(n))), size(n) {}
      ~Scratch() { deallocate(data, size); }
      char* data;
      size_t size;
    } parts(static_cast<size_t>(chunks_ * step));
    parallel_for(chunks_, 1, [&](int64_t begin, int64_t end) {
      SmallVector<ReduceDim, 4> dims = reduced_;
      FoldArgs part = args;
      part.dims = dims.data();
      const int64_t size = dims.back().size;
      for (int64_t c = begin; c < end; ++c) {
        const int64_t first = units_ * c / chunks_ * unit_;
        const int64_t last = std::min(size, units_ * (c + 1) / chunks_ * unit_);
        dims.back().size = last - first;
        part.in = args.in + first * dims.back().stride;
        part.index = first * dims.back().weight;
        kernel.fold(part, parts.data + c * step);
      }
    });
    for (int64_t width = 1; width < chunks_; width *= 2)
      for (int64_t c = 0; c + width < chunks_; c += 2 * width)
        kernel.combine(parts.data + c * step, parts.data + (c + width) * step, tile.n);
    std::memcpy(states, parts.data, static_cast<size_t>(step));
  }

  // Writes one value per output of the tile, `value_stride` bytes apart, into `out`.
  void store(const Tensor& out, const Tile& tile, DType from, const void* values,
             int64_t value_stride) const {
    const int64_t item = itemsize(out.dtype());
    char* const data[2] = {out.data<char>() + tile.out * item,
                           static_cast<char*>(const_cast<void*>(values))};
    const int64_t strides[4] = {kept_[0].out * item, value_stride, 0, 0};
    kernels().cast[static_cast<int>(from)][static_cast<int>(out.dtype())](data, strides, tile.n, 1,
                                                                          nullptr);
  }

 private:
  // Smallest stride first; what is broadcast (stride 0) goes last.
  template <class V>
  static void sort(V& dims) {
    auto key = [](int64_t stride) {
      return stride == 0 ? std::numeric_limits<int64_t>::max() : stride;
    };
    for (int64_t i = 1; i < dims.size(); ++i)
      for (int64_t j = i; j > 0 && key(dims[j].stride) < key(dims[j - 1].stride); --j)
        std::swap(dims[j], dims[j - 1]);
  }
  // Joins neighbours that are one dimension. Where the order of the elements is free, their weights
  // don't matter.
  template <class V, class Joined>
  static void merge(V& dims, Joined&& joined, bool ordered) {
    int64_t last = 0;
    for (int64_t i = 1; i < dims.size(); ++i) {
      auto &a = dims[last], &b = dims[i];
      if (ordered ? joined(a, b) : b.stride == a.stride * a.size) {
        a.size *= b.size;
      } else {
        dims[++last] = b;
      }
    }
    while (dims.size() > last + 1) dims.pop_back();
  }

  Tile tile_at(int64_t t) const {
    const int64_t first = t % tiles_per_run_ * tile_;
    Tile tile{in_ + first * kept_[0].stride, first * kept_[0].out,
              std::min(tile_, kept_[0].size - first)};
    int64_t rest = t / tiles_per_run_;
    for (int64_t d = 1; d < kept_.size(); ++d) {
      const int64_t i = rest % kept_[d].size;
      rest /= kept_[d].size;
      tile.in += i * kept_[d].stride;
      tile.out += i * kept_[d].out;
    }
    return tile;
  }

  const char* in_;
  ComputeType type_;
  SmallVector<Kept, 4> kept_;          // innermost first, never empty
  SmallVector<ReduceDim, 4> reduced_;  // likewise
  int64_t outputs_, count_;
  bool columns_;
  int64_t tile_, tiles_per_run_, tiles_;
  int64_t chunks_ = 1, unit_ = 1, units_ = 1;
};

// x in a dtype that has kernels.
inline Tensor computable(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  GradModeGuard no_grad(false);
  return to(x, dtype, x.device());
}
inline Tensor computable(const Tensor& x) { return computable(x, compute_dtype(x.dtype())); }

// The gradient of a result, with size 1 where x was reduced.
inline Tensor with_kept_dims(const Tensor& g, const Dims& kept) {
  return g.sizes() == kept ? g : reshape(g, kept);
}

}  // namespace zero
