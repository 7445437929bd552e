// Winograd's F(4x4, 3x3) and its two gradients (A. Lavin, S. Gray, "Fast algorithms for
// convolutional neural networks", 2016). A polynomial of degree 5 is known by its values at the
// points 0, a, -a, b, -b and by its leading coefficient; one dimension of a tile multiplies two
// polynomials at these points. With a = 3/4 and b = 3/2 errors are a quarter to a half of those
// with the usual 1 and 2.
//
// At a stride of 2, result o takes elements 2o and 2o + 2 of its window with the taps 0 and 2,
// which is F(4, 2) on every other element, at five points, and element 2o + 1 with tap 1, a product
// as it stands: 9 x 9 products for a tile of 4 x 4 instead of 144, with 6 x 6 numbers of the
// weight.
#pragma once

#include "zero/kernels/registers.inl"

namespace zero::ZERO_ISA_NS {
namespace {

using Vector = LanesOf<float>::type;
constexpr int L = kVectorBytes / 4;  // lanes

ZERO_INLINE Vector load(const float* from) {
  Vector v;
  copy_bytes(&v, from, kVectorBytes);
  return v;
}
ZERO_INLINE void store(float* to, Vector v) { copy_bytes(to, &v, kVectorBytes); }

// ---- one dimension ------------------------------------------------------------------------------

constexpr float kA = 0.75f, kB = 1.5f, kA2 = kA * kA, kB2 = kB * kB;
constexpr float kN0 = 1 / (kA2 * kB2), kNA = 1 / (2 * kA2 * (kA2 - kB2)),
                kNB = 1 / (2 * kB2 * (kB2 - kA2));  // 1 / product of the distances of a point

struct Source {
  static constexpr int in = 6, out = 6;
  static ZERO_INLINE void map(const Vector (&d)[6], Vector (&o)[6]) {
    const Vector even_a = d[4] - kB2 * d[2], odd_a = kA * d[3] - (kA * kB2) * d[1];
    const Vector even_b = d[4] - kA2 * d[2], odd_b = kB * d[3] - (kB * kA2) * d[1];
    o[0] = (d[4] + (kA2 * kB2) * d[0]) - (kA2 + kB2) * d[2];
    o[1] = even_a + odd_a;
    o[2] = even_a - odd_a;
    o[3] = even_b + odd_b;
    o[4] = even_b - odd_b;
    o[5] = (d[5] + (kA2 * kB2) * d[1]) - (kA2 + kB2) * d[3];
  }
};

struct Weight {
  static constexpr int in = 3, out = 6;
  static ZERO_INLINE void map(const Vector (&w)[3], Vector (&o)[6]) {
    const Vector even_a = kNA * w[0] + (kNA * kA2) * w[2], odd_a = (kNA * kA) * w[1];
    const Vector even_b = kNB * w[0] + (kNB * kB2) * w[2], odd_b = (kNB * kB) * w[1];
    o[0] = kN0 * w[0];
    o[1] = even_a + odd_a;
    o[2] = even_a - odd_a;
    o[3] = even_b + odd_b;
    o[4] = even_b - odd_b;
    o[5] = w[2];
  }
};

struct Result {
  static constexpr int in = 6, out = 4;
  static ZERO_INLINE void map(const Vector (&m)[6], Vector (&o)[4]) {
    const Vector sum_a = m[1] + m[2], difference_a = m[1] - m[2];
    const Vector sum_b = m[3] + m[4], difference_b = m[3] - m[4];
    o[0] = m[0] + sum_a + sum_b;
    o[1] = kA * difference_a + kB * difference_b;
    o[2] = kA2 * sum_a + kB2 * sum_b;
    o[3] = (kA * kA2) * difference_a + (m[5] + (kB * kB2) * difference_b);
  }
};

// The weight's gradient is F(3x3, 4x4): 4 x 4 elements of the result's gradient are its weights.
struct Gradient {
  static constexpr int in = 4, out = 6;
  static ZERO_INLINE void map(const Vector (&g)[4], Vector (&o)[6]) {
    const Vector even_a = kNA * g[0] + (kNA * kA2) * g[2];
    const Vector odd_a = (kNA * kA) * g[1] + (kNA * kA * kA2) * g[3];
    const Vector even_b = kNB * g[0] + (kNB * kB2) * g[2];
    const Vector odd_b = (kNB * kB) * g[1] + (kNB * kB * kB2) * g[3];
    o[0] = kN0 * g[0];
    o[1] = even_a + odd_a;
    o[2] = even_a - odd_a;
    o[3] = even_b + odd_b;
    o[4] = even_b - odd_b;
    o[5] = g[3];
  }
};
struct WeightGradient {
  static constexpr int in = 6, out = 3;
  static ZERO_INLINE void map(const Vector (&m)[6], Vector (&o)[3]) {
    const Vector sum_a = m[1] + m[2], sum_b = m[3] + m[4];
    o[0] = m[0] + sum_a + sum_b;
    o[1] = kA * (m[1] - m[2]) + kB * (m[3] - m[4]);
    o[2] = kA2 * sum_a + (m[5] + kB2 * sum_b);
  }
};

// Those of a stride of 2. The first five points belong to F(4, 2), the others stay.
constexpr float kC = 0.5f, kD = 1.25f, kC2 = kC * kC, kD2 = kD * kD;
constexpr float kNC = 1 / (2 * kC * (kC2 - kD2)), kND = 1 / (2 * kD * (kD2 - kC2));

ZERO_INLINE void map_phase(Vector d0, Vector d1, Vector d2, Vector d3, Vector d4, Vector (&o)[9]) {
  const Vector odd_c = d3 - kD2 * d1, even_c = kC * d2 - (kC * kD2) * d0;
  const Vector odd_d = d3 - kC2 * d1, even_d = kD * d2 - (kD * kC2) * d0;
  o[0] = odd_c + even_c;
  o[1] = odd_c - even_c;
  o[2] = odd_d + even_d;
  o[3] = odd_d - even_d;
  o[4] = (d4 + (kC2 * kD2) * d0) - (kC2 + kD2) * d2;
}
ZERO_INLINE void unmap_phase(const Vector (&m)[9], Vector& o0, Vector& o1, Vector& o2, Vector& o3) {
  const Vector sum_c = m[0] + m[1], difference_c = m[0] - m[1];
  const Vector sum_d = m[2] + m[3], difference_d = m[2] - m[3];
  o0 = sum_c + sum_d;
  o1 = kC * difference_c + kD * difference_d;
  o2 = kC2 * sum_c + kD2 * sum_d;
  o3 = (kC * kC2) * difference_c + (m[4] + (kD * kD2) * difference_d);
}

struct StridedSource {
  static constexpr int in = 9, out = 9;
  static ZERO_INLINE void map(const Vector (&d)[9], Vector (&o)[9]) {
    map_phase(d[0], d[2], d[4], d[6], d[8], o);
    ZERO_UNROLL
    for (int i = 0; i < 4; ++i) o[5 + i] = d[2 * i + 1];
  }
};
struct StridedBack {
  static constexpr int in = 5, out = 9;
  static ZERO_INLINE void map(const Vector (&d)[5], Vector (&o)[9]) {
    map_phase(d[0], d[1], d[2], d[3], d[4], o);
    ZERO_UNROLL
    for (int i = 0; i < 4; ++i) o[5 + i] = d[i];
  }
};
struct StridedWeight {
  static constexpr int in = 3, out = 6;
  static ZERO_INLINE void map(const Vector (&w)[3], Vector (&o)[6]) {
    const Vector even_c = kNC * w[0], odd_c = (kNC * kC) * w[2];
    const Vector even_d = kND * w[0], odd_d = (kND * kD) * w[2];
    o[0] = odd_c + even_c;
    o[1] = odd_c - even_c;
    o[2] = odd_d + even_d;
    o[3] = odd_d - even_d;
    o[4] = w[2];
    o[5] = w[1];
  }
};
struct StridedResult {
  static constexpr int in = 9, out = 4;
  static ZERO_INLINE void map(const Vector (&m)[9], Vector (&o)[4]) {
    unmap_phase(m, o[0], o[1], o[2], o[3]);
    ZERO_UNROLL
    for (int i = 0; i < 4; ++i) o[i] += m[5 + i];
  }
};
struct StridedBackResult {
  static constexpr int in = 9, out = 8;
  static ZERO_INLINE void map(const Vector (&m)[9], Vector (&o)[8]) {
    unmap_phase(m, o[1], o[3], o[5], o[7]);
    ZERO_UNROLL
    for (int i = 0; i < 4; ++i) o[2 * i] = m[5 + i];
  }
};
struct StridedGradient {
  static constexpr int in = 4, out = 9;
  static ZERO_INLINE void map(const Vector (&g)[4], Vector (&o)[9]) {
    const Vector even_c = kNC * g[0] + (kNC * kC2) * g[2];
    const Vector odd_c = (kNC * kC) * g[1] + (kNC * kC * kC2) * g[3];
    const Vector even_d = kND * g[0] + (kND * kD2) * g[2];
    const Vector odd_d = (kND * kD) * g[1] + (kND * kD * kD2) * g[3];
    o[0] = odd_c + even_c;
    o[1] = odd_c - even_c;
    o[2] = odd_d + even_d;
    o[3] = odd_d - even_d;
    o[4] = g[3];
    ZERO_UNROLL
    for (int i = 0; i < 4; ++i) o[5 + i] = g[i];
  }
};
struct StridedWeightGradient {
  static constexpr int in = 6, out = 3;
  static ZERO_INLINE void map(const Vector (&m)[6], Vector (&o)[3]) {
    o[0] = (m[0] + m[1]) + (m[2] + m[3]);
    o[1] = m[5];
    o[2] = kC * (m[0] - m[1]) + (m[4] + kD * (m[2] - m[3]));
  }
};

// ---- two dimensions -----------------------------------------------------------------------------

// Both dimensions of one tile: element (i, j) lies at i * row + j * column.
using MapTileFn = void (*)(const float* from, int64_t from_row, int64_t from_column, float* to,
                           int64_t to_row, int64_t to_column);
template <class Map>
ZERO_NOINLINE void map_tile(const float* from, int64_t from_row, int64_t from_column, float* to,
                            int64_t to_row, int64_t to_column) {
  constexpr int in = Map::in, out = Map::out;
  Vector middle[out][in];
  for (int j = 0; j < in; ++j) {
    Vector column[in], mapped[out];
    ZERO_UNROLL
    for (int i = 0; i < in; ++i) column[i] = load(from + i * from_row + j * from_column);
    Map::map(column, mapped);
    ZERO_UNROLL
    for (int i = 0; i < out; ++i) middle[i][j] = mapped[i];
  }
  for (int i = 0; i < out; ++i) {
    Vector mapped[out];
    Map::map(middle[i], mapped);
    ZERO_UNROLL
    for (int j = 0; j < out; ++j) store(to + i * to_row + j * to_column, mapped[j]);
  }
}

}  // namespace
}  // namespace zero::ZERO_ISA_NS
