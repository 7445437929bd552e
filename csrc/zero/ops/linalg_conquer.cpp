// Eigenvectors of a symmetric matrix with three diagonals, as LAPACK's stedc finds them (Cuppen,
// "A divide and conquer method for the symmetric tridiagonal eigenproblem", 1981; Gu, Eisenstat,
// 1995), with all threads: parts are cut off by matrices of rank 1 and put together again.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "zero/ops/gemm.h"
#include "zero/ops/linalg_spectral.h"
#include "zero/runtime/blas.h"

namespace zero {

namespace {

constexpr int64_t kLeaf = 300;  // rows of a part that LAPACK gets as a whole

// Of parts whose sizes differ by 1 at most, the first ones are the smaller ones, as laed2 wants it.
int64_t part_begin(int64_t n, int64_t part, int64_t count) {
  return n / count * part + std::max<int64_t>(0, part - count + n % count);
}

class Conquer {
 public:
  Conquer(const Lapack& lapack, DType dtype, int64_t n, void* q)
      : lapack_(lapack),
        t_(dtype),
        n_(n),
        q_(static_cast<char*>(q)),
        lines_(3 * n, dtype),
        vectors_(2 * n * n + n, dtype),
        integers_(5 * n, DType::Int32) {}

  int32_t run(void* d, void* e) {
    int64_t parts = 1;
    while (n_ > kLeaf * parts) parts *= 2;
    for (int64_t i = 1; i < parts; ++i) {
      const int64_t cut = part_begin(n_, i, parts);
      const double rho = std::abs(t_.get(e, cut - 1));
      for (int64_t j = cut - 1; j <= cut; ++j) t_.set(d, j, t_.get(d, j) - rho);
    }
    t_.clear(q_, 0, n_ * n_);
    parallel_for(
        parts, 1,
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t first = part_begin(n_, i, parts);
            leaf(t_.at(d, first), t_.at(e, first), first, part_begin(n_, i + 1, parts) - first);
          }
        },
        kMaxGemmThreads);
    for (int64_t step = 1; step < parts; step *= 2)
      for (int64_t i = 0; i < parts && info_.load() == 0; i += 2 * step) {
        const int64_t first = part_begin(n_, i, parts), cut = part_begin(n_, i + step, parts);
        merge(t_.at(d, first), t_.at(q_, first * (n_ + 1)),
              part_begin(n_, i + 2 * step, parts) - first, cut - first, t_.get(e, cut - 1));
      }
    return info_.load();
  }

 private:
  void note(int info) {
    if (info != 0) info_.store(info);
  }

  void leaf(void* d, void* e, int64_t first, int64_t rows) {
    const int n = static_cast<int>(rows), step = static_cast<int>(n_);
    const int lwork = 1 + n * (4 + n), liwork = 3 + 5 * n;
    int info = 0;
    Buffer work(lwork, t_.dtype), integers(liwork, DType::Int32);
    const BlasCall call;
    lapack_.stedc("I", &n, d, e, t_.at(q_, first * (n_ + 1)), &step, work.data<void>(), &lwork,
                  integers.data<int>(), &liwork, &info, 1);
    note(info);
  }

  // Of two parts, the first of `cut` rows, whose eigenvalues are ordered and whose eigenvectors are
  // rows of q.
  void merge(char* d, char* q, int64_t rows, int64_t cut, double beta) {
    const int n = static_cast<int>(rows), n1 = static_cast<int>(cut), step = static_cast<int>(n_);
    char* const z = lines_.data<char>();
    char *const poles = t_.at(z, n_), *const w = t_.at(poles, n_);
    char *const q2 = vectors_.data<char>(), *const s = t_.at(q2, n_ * n_ + n_);
    int *const order = integers_.data<int>(), *const index = order + n_, *const packed = index + n_,
               *const places = packed + n_, *const kinds = places + n_;
    t_.copy(z, 1, t_.at(q, cut - 1), n_, cut);
    t_.copy(t_.at(z, cut), 1, t_.at(q, cut * (n_ + 1)), n_, rows - cut);
    for (int i = 0; i < n; ++i) order[i] = i < n1 ? i + 1 : i + 1 - n1;
    alignas(8) char rho[8];
    t_.set(rho, 0, beta);
    int k = 0, info = 0;
    {
      const BlasCall call;
      lapack_.laed2(&k, &n, &n1, d, q, &step, order, rho, z, poles, w, q2, index, packed, places,
                    kinds, &info);
    }
    note(info);
    if (info != 0 || k == 0) return;
    // The roots of the secular equation, and in rows of s their distances from its poles.
    parallel_for(
        k, 1 + 2000 / k,
        [&](int64_t begin, int64_t end) {
          const BlasCall call;
          for (int64_t j = begin; j < end; ++j) {
            const int number = static_cast<int>(j + 1);
            int failed = 0;
            lapack_.laed4(&k, &number, poles, w, t_.at(s, j * n_), rho, t_.at(d, j), &failed);
            note(failed);
          }
        },
        kMaxGemmThreads);
    if (k > 2) {
      parallel_for(k, 1 + kGrainSize / 4 / k, [&](int64_t begin, int64_t end) {
        with_float(t_.dtype, [&]<class T>(T) { weigh<T>(s, poles, w, z, k, begin, end); });
      });
    }
    parallel_for(k, 1 + kGrainSize / 4 / k, [&](int64_t begin, int64_t end) {
      with_float(t_.dtype, [&]<class T>(T) { finish<T>(s, z, k, packed, begin, end); });
    });
    // Columns of q2, in the order of `packed`: those of the first part, of both, of the second.
    const int64_t upper = kinds[0] + kinds[1], lower = kinds[1] + kinds[2];
    gemm({t_.dtype, k, cut, upper, {s, n_, 1}, {q2, cut, 1}, q, n_});
    gemm({t_.dtype,
          k,
          rows - cut,
          lower,
          {t_.at(s, kinds[0]), n_, 1},
          {t_.at(q2, upper * cut), rows - cut, 1},
          t_.at(q, cut),
          n_});
    sort(d, q, rows, k, order);
  }

  // weights[i], of those for which the computed roots are exact (Gu and Eisenstat).
  template <class T>
  void weigh(const void* s, const void* poles, const void* w, void* weights, int64_t k,
             int64_t begin, int64_t end) const {
    const T* const pole = static_cast<const T*>(poles);
    T* const weight = static_cast<T*>(weights);
    for (int64_t i = begin; i < end; ++i) weight[i] = 1;
    for (int64_t j = 0; j < k; ++j) {
      const T* const row = static_cast<const T*>(s) + j * n_;
      for (int64_t i = begin; i < end; ++i)
        weight[i] *= i == j ? -row[i] : row[i] / (pole[i] - pole[j]);
    }
    for (int64_t i = begin; i < end; ++i)
      weight[i] = std::copysign(std::sqrt(weight[i]), static_cast<const T*>(w)[i]);
  }

  // Rows of s become eigenvectors, in the order of `packed`. For k <= 2 they are that already.
  template <class T>
  void finish(void* s, const void* weights, int64_t k, const int* packed, int64_t begin,
              int64_t end) const {
    Buffer buffer(k, t_.dtype);
    T* const x = buffer.data<T>();
    for (int64_t j = begin; j < end; ++j) {
      T* const row = static_cast<T*>(s) + j * n_;
      T sum = 0;
      for (int64_t i = 0; i < k; ++i) {
        x[i] = k > 2 ? static_cast<const T*>(weights)[i] / row[i] : row[i];
        sum += x[i] * x[i];
      }
      const T inverse = 1 / std::sqrt(sum);
      for (int64_t i = 0; i < k; ++i) row[i] = x[packed[i] - 1] * inverse;
    }
  }

  // k ascending eigenvalues and the descending rest, to one ascending line.
  void sort(char* d, char* q, int64_t rows, int k, int* order) {
    int64_t up = 0, down = rows - 1;
    for (int64_t i = 0; i < rows; ++i) {
      const bool first = up < k && (down < k || t_.get(d, up) <= t_.get(d, down));
      order[i] = static_cast<int>(first ? up++ : down--);
    }
    char* const copy = vectors_.data<char>();
    t_.copy(copy, 1, d, 1, rows);
    for (int64_t i = 0; i < rows; ++i) t_.set(d, i, t_.get(copy, order[i]));
    parallel_for(rows, 1 + kGrainSize / rows, [&](int64_t begin, int64_t end) {  // columns
      char* const part = t_.at(copy, begin * rows);
      const int64_t width = end - begin;
      for (int64_t i = 0; i < rows; ++i)
        t_.copy(t_.at(part, i * width), 1, t_.at(q, order[i] * n_ + begin), 1, width);
      for (int64_t i = 0; i < rows; ++i)
        t_.copy(t_.at(q, i * n_ + begin), 1, t_.at(part, i * width), 1, width);
    });
  }

  const Lapack& lapack_;
  const Numbers t_;
  const int64_t n_;
  char* const q_;
  Buffer lines_, vectors_, integers_;
  std::atomic<int32_t> info_{0};
};

}  // namespace

int32_t tridiagonal_vectors(const Lapack& lapack, DType dtype, int64_t n, void* d, void* e,
                            void* vectors) {
  return Conquer(lapack, dtype, n, vectors).run(d, e);
}

}  // namespace zero
