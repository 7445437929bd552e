// Samples at places that a grid names (resample.h). Locations are worked on in blocks: first the
// elements that each takes along the axes, their weights and, for the gradient of the grid, the
// derivatives of these by the grid; then all products of them; then the channels.
#pragma once

#include "zero/kernels/common.inl"

namespace zero::ZERO_ISA_NS {
namespace {

constexpr int kLocations = 64;  // of a block
constexpr int kMostTaps = 16;   // of a location: 4 x 4 or 2 x 2 x 2

ZERO_INLINE float round_down(float x) { return ZERO_LIBM(floorf)(x); }
ZERO_INLINE double round_down(double x) { return ZERO_LIBM(floor)(x); }
ZERO_INLINE float round_even(float x) { return ZERO_LIBM(rintf)(x); }
ZERO_INLINE double round_even(double x) { return ZERO_LIBM(rint)(x); }

// Moves places into the input; slope is by how much they move with the ones that were given. (Each
// line compares once: what has several conditions does not become vector code.)
template <class T>
ZERO_NOINLINE void move_inside(GridPadding padding, bool align, T size, int n, T* place, T* slope) {
  if (padding == GridPadding::Zeros) {  // anything outside, NaN too, as a small number
    ZERO_SIMD
    for (int i = 0; i < n; ++i) {
      const T above = place[i] > -2 ? place[i] : T(-2);
      place[i] = above < size + 1 ? above : size + 1;
      slope[i] = 1;
    }
    return;
  }
  const T low = align ? T(0) : T(-0.5), span = align ? size - 1 : size, last = size - 1;
  if (padding == GridPadding::Border) {
    for (int i = 0; i < n; ++i) slope[i] = 1;
  } else {
    ZERO_SIMD
    for (int i = 0; i < n; ++i) {
      const T distance = place[i] - low, far = distance < 0 ? -distance : distance;
      const T flips = round_down(far / span), rest = far - flips * span;
      const T odd = flips - 2 * round_down(flips / 2);  // 0 or 1
      slope[i] = (distance < 0 ? T(-1) : T(1)) * (1 - 2 * odd);
      place[i] = rest + odd * (span - 2 * rest) + low;
    }
  }
  ZERO_SIMD
  for (int i = 0; i < n; ++i) {
    const T x = place[i], above = x > 0 ? x : T(0);  // NaN becomes 0
    const T inner = x > 0 ? slope[i] : T(0);
    slope[i] = x < last ? inner : T(0);
    place[i] = above < last ? above : last;
  }
}

template <class T>
ZERO_INLINE T cubic_near(T x) {
  return (T(1.25) * x - T(2.25)) * x * x + 1;
}
template <class T>
ZERO_INLINE T cubic_far(T x) {
  return ((T(-0.75) * x + T(3.75)) * x - 6) * x + 3;
}
template <class T>
ZERO_INLINE T cubic_near_slope(T x) {
  return (T(3.75) * x - T(4.5)) * x;
}
template <class T>
ZERO_INLINE T cubic_far_slope(T x) {
  return (T(-2.25) * x + T(7.5)) * x - 6;
}

// What the locations of a block take along one axis: tap k of all of them side by side. An element
// outside has the index -1.
template <class T>
struct AxisTaps {
  int32_t index[4][kLocations];
  T weight[4][kLocations], slope[4][kLocations];
};

ZERO_INLINE int taps_of(GridMode mode) {
  return mode == GridMode::Nearest ? 1 : mode == GridMode::Linear ? 2 : 4;
}

// -1 for what is outside.
ZERO_INLINE int32_t checked_index(int32_t i, int32_t size) {
  return static_cast<uint32_t>(i) < static_cast<uint32_t>(size) ? i : -1;
}

template <class T>
ZERO_NOINLINE void find_taps(const GridSampleArgs& args, int axis, const T* grid, int n,
                             AxisTaps<T>& taps) {
  const bool align = args.align_corners;
  const int dims = args.dims;
  const int32_t length = static_cast<int32_t>(args.size[axis]);
  const T size = static_cast<T>(length);
  const T scale = align ? (size - 1) / 2 : size / 2;
  const T centre = (size - 1) / 2;
  T place[kLocations], slope[kLocations];
  for (int i = 0; i < n; ++i) place[i] = grid[i * dims + axis] * scale + centre;
  if (args.mode == GridMode::Cubic) {
    ZERO_SIMD
    for (int i = 0; i < n; ++i) {
      // Places beyond all elements, and NaN, have no neighbours.
      const T above = place[i] > T(-1e9) ? place[i] : T(-1e9);
      const T x = above < T(1e9) ? above : T(1e9);
      const T left = round_down(x), t = x - left;
      taps.weight[0][i] = cubic_far(t + 1);
      taps.weight[1][i] = cubic_near(t);
      taps.weight[2][i] = cubic_near(1 - t);
      taps.weight[3][i] = cubic_far(2 - t);
      taps.slope[0][i] = scale * cubic_far_slope(t + 1);
      taps.slope[1][i] = scale * cubic_near_slope(t);
      taps.slope[2][i] = -scale * cubic_near_slope(1 - t);
      taps.slope[3][i] = -scale * cubic_far_slope(2 - t);
      place[i] = left;
    }
    for (int k = 0; k < 4; ++k) {
      T at[kLocations];
      for (int i = 0; i < n; ++i) at[i] = place[i] + static_cast<T>(k - 1);
      move_inside(args.padding, align, size, n, at, slope);
      ZERO_SIMD
      for (int i = 0; i < n; ++i)
        taps.index[k][i] = checked_index(static_cast<int32_t>(at[i]), length);
    }
    return;
  }
  move_inside(args.padding, align, size, n, place, slope);
  if (args.mode == GridMode::Nearest) {
    ZERO_SIMD
    for (int i = 0; i < n; ++i) {
      taps.index[0][i] = checked_index(static_cast<int32_t>(round_even(place[i])), length);
      taps.weight[0][i] = 1;
      taps.slope[0][i] = 0;
    }
    return;
  }
  ZERO_SIMD
  for (int i = 0; i < n; ++i) {
    const T left = round_down(place[i]);
    taps.weight[0][i] = 1 - (place[i] - left);
    taps.weight[1][i] = place[i] - left;
    taps.slope[0][i] = -scale * slope[i];
    taps.slope[1][i] = scale * slope[i];
    taps.index[0][i] = checked_index(static_cast<int32_t>(left), length);
    taps.index[1][i] = checked_index(static_cast<int32_t>(left) + 1, length);
  }
}

// All taps of the locations of a block: the products of those along the axes.
template <class T>
struct Block {
  AxisTaps<T> axes[3];
  int number;                            // of taps
  int32_t index[kMostTaps][kLocations];  // in a plane
  // Both are 0 for what is outside, where the index is 0, too; inside is else 1.
  T weight[kMostTaps][kLocations], inside[kMostTaps][kLocations];
};

// The taps along each axis that tap k of a location is made of.
struct Choice {
  Choice(int k, int taps, int dims) {
    for (int axis = 0; axis < 3; ++axis, k /= taps) of[axis] = axis < dims ? k % taps : 0;
  }
  int of[3];
};

template <class T>
ZERO_NOINLINE void fill_block(const GridSampleArgs& args, int64_t first, int n, Block<T>& block) {
  const T* const grid = static_cast<const T*>(args.grid) + first * args.dims;
  for (int axis = 0; axis < args.dims; ++axis) find_taps(args, axis, grid, n, block.axes[axis]);
  if (args.dims == 2) {
    for (int i = 0; i < n; ++i) block.axes[2].index[0][i] = 0, block.axes[2].weight[0][i] = 1;
  }
  const int taps = taps_of(args.mode);
  block.number = args.dims == 2 ? taps * taps : taps * taps * taps;
  const int32_t width = static_cast<int32_t>(args.size[0]),
                height = static_cast<int32_t>(args.size[1]);
  for (int k = 0; k < block.number; ++k) {
    const Choice choice(k, taps, args.dims);
    const int32_t *x = block.axes[0].index[choice.of[0]], *y = block.axes[1].index[choice.of[1]],
                  *z = block.axes[2].index[choice.of[2]];
    const T *u = block.axes[0].weight[choice.of[0]], *v = block.axes[1].weight[choice.of[1]],
            *w = block.axes[2].weight[choice.of[2]];
    ZERO_SIMD
    for (int i = 0; i < n; ++i) {
      const int32_t signs = x[i] | y[i] | z[i];
      const T weight = u[i] * v[i] * w[i];
      const int32_t index = (z[i] * height + y[i]) * width + x[i];
      block.index[k][i] = signs < 0 ? 0 : index;
      block.weight[k][i] = signs < 0 ? T(0) : weight;
      block.inside[k][i] = signs < 0 ? T(0) : T(1);
    }
  }
}

// f(first location, number of locations, block) for the blocks of a range.
template <class T, class F>
ZERO_INLINE void each_block(const GridSampleArgs& args, int64_t begin, int64_t end, F f) {
  Block<T> block;
  for (int64_t first = begin; first < end; first += kLocations) {
    const int n = static_cast<int>(end - first < kLocations ? end - first : kLocations);
    fill_block(args, first, n, block);
    f(first, n, block);
  }
}

template <class T>
void grid_sample(const GridSampleArgs& args) {
  const int64_t plane = args.size[0] * args.size[1] * args.size[2];
  each_block<T>(args, args.begin, args.end, [&](int64_t first, int n, const Block<T>& block) {
    for (int64_t c = 0; c < args.channels; ++c) {
      const T* const x = static_cast<const T*>(args.x) + c * plane;
      T* const out = static_cast<T*>(args.out) + c * args.locations + first;
      T sum[kLocations] = {};
      for (int k = 0; k < block.number; ++k) {
        const int32_t* const index = block.index[k];
        const T* const weight = block.weight[k];
        ZERO_SIMD
        for (int i = 0; i < n; ++i) {  // (0 times infinity would be NaN)
          const T term = weight[i] * x[index[i]];
          sum[i] += weight[i] != 0 ? term : T(0);
        }
      }
      for (int i = 0; i < n; ++i) out[i] = sum[i];
    }
  });
}

// For channels from begin to end.
template <class T>
void grid_sample_input_gradient(const GridSampleArgs& args) {
  const int64_t plane = args.size[0] * args.size[1] * args.size[2];
  each_block<T>(args, 0, args.locations, [&](int64_t first, int n, const Block<T>& block) {
    for (int64_t c = args.begin; c < args.end; ++c) {
      const T* const g = static_cast<const T*>(args.g) + c * args.locations + first;
      T* const out = static_cast<T*>(args.out) + c * plane;
      for (int k = 0; k < block.number; ++k)
        for (int i = 0; i < n; ++i)
          if (block.weight[k][i] != 0) out[block.index[k][i]] += block.weight[k][i] * g[i];
    }
  });
}

template <class T>
void grid_sample_grid_gradient(const GridSampleArgs& args) {
  const int64_t plane = args.size[0] * args.size[1] * args.size[2];
  const int taps = taps_of(args.mode);
  each_block<T>(args, args.begin, args.end, [&](int64_t first, int n, const Block<T>& block) {
    T total[3][kLocations] = {};
    for (int k = 0; k < block.number; ++k) {
      T sum[kLocations] = {};  // of the channels
      const int32_t* const index = block.index[k];
      const T* const inside = block.inside[k];
      for (int64_t c = 0; c < args.channels; ++c) {
        const T* const x = static_cast<const T*>(args.x) + c * plane;
        const T* const g = static_cast<const T*>(args.g) + c * args.locations + first;
        ZERO_SIMD
        for (int i = 0; i < n; ++i) {
          const T term = g[i] * x[index[i]];
          sum[i] += inside[i] != 0 ? term : T(0);
        }
      }
      const Choice choice(k, taps, args.dims);
      for (int axis = 0; axis < args.dims; ++axis) {
        const int a = (axis + 1) % 3, b = (axis + 2) % 3;
        const T* const slope = block.axes[axis].slope[choice.of[axis]];
        const T *v = block.axes[a].weight[choice.of[a]], *w = block.axes[b].weight[choice.of[b]];
        ZERO_SIMD
        for (int i = 0; i < n; ++i) total[axis][i] += slope[i] * v[i] * w[i] * sum[i];
      }
    }
    T* const out = static_cast<T*>(args.out) + first * args.dims;
    for (int i = 0; i < n; ++i)
      for (int axis = 0; axis < args.dims; ++axis) out[i * args.dims + axis] = total[axis][i];
  });
}

}  // namespace
}  // namespace zero::ZERO_ISA_NS
