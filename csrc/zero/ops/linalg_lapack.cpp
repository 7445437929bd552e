// What LAPACK computes: singular values, eigenvalues of symmetric matrices (of one large matrix
// with much done here: linalg_spectral.h), least squares, and factors of symmetric matrices that
// are indefinite. Matrices lie by columns there, so rows of ours are columns of the transpose.
#include <climits>
#include <cstring>

#include "zero/ops/linalg_spectral.h"
#include "zero/runtime/blas.h"

namespace zero {

namespace {

const Lapack& lapack(const char* op, DType dtype) {
  const Blas* const found = blas();
  ZERO_CHECK(found && found->lapack, Error, op,
             ": needs LAPACK; got a zero without it, expected the OpenBLAS of its package: ",
             blas_description());
  return dtype == DType::Float32 ? found->s : found->d;
}

void check_size(const char* op, const Tensor& x) {
  ZERO_CHECK(rows_of(x) * columns_of(x) <= INT_MAX, ShapeError, op, ": too large; got ", x.sizes(),
             ", expected at most 2^31 elements in a matrix");
}

// f(i, work of the size that `ask` finds, that size) for each matrix, on all threads.
template <class Ask, class F>
void for_lapack(DType dtype, int64_t count, int64_t elements, Ask ask, F f) {
  double best = 0;  // or a float
  {
    const BlasCall call;
    ask(static_cast<void*>(&best));
  }
  if (dtype == DType::Float32) {
    float narrow;
    std::memcpy(&narrow, &best, sizeof(narrow));
    best = 1.0001 * static_cast<double>(narrow);  // it was rounded
  }
  const int size = static_cast<int>(best) + 1;
  const BlockingSection section(count * elements > 2000);
  parallel_for(
      count, 1 + 400 / (elements + 1),
      [&](int64_t begin, int64_t end) {
        Buffer work(size, dtype);
        for (int64_t i = begin; i < end; ++i) {
          const BlasCall call;
          f(i, work.data<void>(), size);
        }
      },
      kMaxGemmThreads);
}

// A tensor's matrices, `step` elements apart, for LAPACK.
struct Places {
  char* data;
  int64_t step;
  explicit Places(const Tensor& x, int64_t elements)
      : data(x.defined() ? x.data<char>() : nullptr),
        step(x.defined() ? elements * itemsize(x.dtype()) : 0) {}
  void* at(int64_t i) const { return data + i * step; }
};

Tensor contiguous_copy(const Tensor& x) {
  const Tensor y = empty(x.sizes(), x.options());
  GradModeGuard no_grad(false);
  copy_(y, x);
  return y;
}

// x - x^T, and the differences y_j - y_i with 1 on the diagonal.
Tensor skew(const Tensor& x) { return sub(x, turned(x)); }
Tensor differences(const Tensor& y) {
  const Tensor d = sub(unsqueeze(y, -2), unsqueeze(y, -1));
  return add(d, eye(columns_of(d), columns_of(d), y.options()));
}
Tensor first_columns(const Tensor& x, int64_t k) {
  return columns_of(x) == k ? x : slice(x, x.dim() - 1, 0, k);
}
Tensor first_rows(const Tensor& x, int64_t k) {
  return rows_of(x) == k ? x : slice(x, x.dim() - 2, 0, k);
}
Tensor row_scaled(const Tensor& x, const Tensor& s) { return mul(x, unsqueeze(s, -1)); }
Tensor column_scaled(const Tensor& x, const Tensor& s) { return mul(x, unsqueeze(s, -2)); }

// With E_ij = S_j^2 - S_i^2 (1 on the diagonal):
// gA = U [(skew(U^T gU) / E) S + S (skew(V^T gV) / E) + gS] V^T
//      + (1 - U U^T) gU S^-1 V^T + U S^-1 gV^T (1 - V V^T)
Tensor svd_gradient(const Tensor& u, const Tensor& s, const Tensor& vh, Tensor gu, const Tensor& gs,
                    Tensor gvh) {
  const int64_t k = s.size(s.dim() - 1);
  if (!gu.defined() && !gvh.defined()) return matmul(column_scaled(u, gs), vh);
  if (gu.defined()) gu = first_columns(gu, k);
  if (gvh.defined()) gvh = first_rows(gvh, k);
  const Tensor e = differences(mul(s, s));
  Tensor core;
  const auto plus = [](const Tensor& x, const Tensor& y) { return x.defined() ? add(x, y) : y; };
  if (gs.defined()) core = diag_embed(gs);
  if (gu.defined()) core = plus(core, column_scaled(div(skew(matmul(turned(u), gu)), e), s));
  if (gvh.defined()) core = plus(core, row_scaled(div(skew(matmul(vh, turned(gvh))), e), s));
  Tensor result;
  if (rows_of(u) > k && gu.defined()) {
    const Tensor scaled = div(gu, unsqueeze(s, -2));
    core = sub(core, matmul(turned(u), scaled));
    result = matmul(scaled, vh);
  }
  result = plus(result, matmul(u, matmul(core, vh)));
  if (columns_of(vh) > k && gvh.defined()) {
    const Tensor scaled = div(gvh, unsqueeze(s, -1));
    const Tensor rest = sub(scaled, matmul(matmul(scaled, turned(vh)), vh));
    result = add(result, matmul(u, rest));
  }
  return result;
}

void run_svd(const Tensor& a, const Svd& out, bool full, bool vectors) {
  const Lapack& table = lapack("svd", a.dtype());
  // Of the transpose, whose left vectors are ours to the right.
  const int m = static_cast<int>(columns_of(a)), n = static_cast<int>(rows_of(a)),
            k = std::min(m, n), ldvt = full ? n : k;
  const char job = vectors ? full ? 'A' : 'S' : 'N';
  const int64_t size = int64_t{m} * n;
  const Places s(out.s, k);
  const Places u(out.vh, vectors ? rows_of(out.vh) * m : 0);
  const Places vt(out.u, vectors ? n * columns_of(out.u) : 0);
  int32_t* const info = out.info.data<int32_t>();
  if (batch_count(a) == 1 && is_large_svd(n, m)) {
    const Tensor rows = contiguous(a);
    *info = svd_blocked(table, a.dtype(), rows.data<char>(), n, m, s.data, vt.data, u.data, full);
    return;
  }
  const Tensor copy = contiguous_copy(a);
  const Places data(copy, size);
  const auto call = [&](int64_t i, void* work, int lwork, int* iwork) {
    table.gesdd(&job, &m, &n, data.at(i), &m, s.at(i), u.at(i), &m, vt.at(i), &ldvt, work, &lwork,
                iwork, info + i, 1);
  };
  for_lapack(
      a.dtype(), batch_count(a), size, [&](void* best) { call(0, best, -1, nullptr); },
      [&](int64_t i, void* work, int lwork) {
        Buffer iwork(8 * k, DType::Int32);
        info[i] = -1;
        if (is_finite(a.dtype(), data.at(i), size)) call(i, work, lwork, iwork.data<int>());
      });
}

void run_eigh(const Tensor& a, const Eigh& out, bool upper, bool vectors) {
  const Lapack& table = lapack("eigh", a.dtype());
  const int n = static_cast<int>(rows_of(a)), sizes = vectors ? 3 + 5 * n : 1;
  const char job = vectors ? 'V' : 'N', uplo = upper ? 'U' : 'L';
  const int64_t size = int64_t{n} * n;
  const Places data(out.vectors, size), values(out.values, n);
  int32_t* const info = out.info.data<int32_t>();
  if (batch_count(a) == 1 && is_large_eigh(n)) {
    const Tensor triangle = contiguous(upper ? a : turned(a));
    *info = eigh_blocked(table, a.dtype(), triangle.data<char>(), n, values.data,
                         vectors ? data.data : nullptr);
    return;
  }
  copy_(out.vectors, upper ? triu(a) : tril(a));
  const auto call = [&](int64_t i, void* work, int lwork, int* iwork) {
    const int liwork = lwork < 0 ? -1 : sizes;
    table.syevd(&job, &uplo, &n, data.at(i), &n, values.at(i), work, &lwork, iwork, &liwork,
                info + i, 1, 1);
  };
  int ignored = 0;
  for_lapack(
      a.dtype(), batch_count(a), size, [&](void* best) { call(0, best, -1, &ignored); },
      [&](int64_t i, void* work, int lwork) {
        Buffer iwork(sizes, DType::Int32);
        info[i] = -1;
        if (is_finite(a.dtype(), data.at(i), size)) call(i, work, lwork, iwork.data<int>());
      });
}

void run_least_squares(const Tensor& a, const LeastSquaresResult& out, int m, int n, double rcond,
                       LeastSquares driver) {
  const Lapack& table = lapack("lstsq", a.dtype());
  const int nrhs = static_cast<int>(rows_of(out.b)), ldb = std::max({m, n, 1}),
            lda = std::max(m, 1), k = std::min(m, n);
  const float narrow = static_cast<float>(rcond);
  const void* const limit =
      a.dtype() == DType::Float32 ? static_cast<const void*>(&narrow) : &rcond;
  const Places data(a, int64_t{m} * n), sides(out.b, int64_t{ldb} * nrhs),
      values(out.singular_values, k);
  int32_t* const info = out.info.data<int32_t>();
  int64_t* const ranks = out.rank.data<int64_t>();
  const auto call = [&](int64_t i, void* work, int lwork, int* integers) {
    void *const x = data.at(i), *const y = sides.at(i), *const s = values.at(i);
    int rank = k;
    switch (driver) {
      case LeastSquares::Gels:
        table.gels("N", &m, &n, &nrhs, x, &lda, y, &ldb, work, &lwork, info + i, 1);
        break;
      case LeastSquares::Gelsy:
        table.gelsy(&m, &n, &nrhs, x, &lda, y, &ldb, integers, limit, &rank, work, &lwork,
                    info + i);
        break;
      case LeastSquares::Gelsd:
        table.gelsd(&m, &n, &nrhs, x, &lda, y, &ldb, s, limit, &rank, work, &lwork, integers,
                    info + i);
        break;
      case LeastSquares::Gelss:
        table.gelss(&m, &n, &nrhs, x, &lda, y, &ldb, s, limit, &rank, work, &lwork, info + i);
    }
    if (lwork >= 0) ranks[i] = rank;
  };
  int needed = n;
  for_lapack(
      a.dtype(), batch_count(a), int64_t{m} * n,
      [&](void* best) {
        Buffer probe(n + 1, DType::Int32);
        call(0, best, -1, probe.data<int>());
        if (driver == LeastSquares::Gelsd) needed = probe.data<int>()[0];
      },
      [&](int64_t i, void* work, int lwork) {
        Buffer integers(needed, DType::Int32);
        std::fill_n(integers.data<int>(), needed, 0);  // no column has its place
        call(i, work, lwork, integers.data<int>());
      });
}

void run_ldl(const LdlFactors& out) {
  const Lapack& table = lapack("ldl_factor", out.ld.dtype());
  const int n = static_cast<int>(rows_of(out.ld));
  const Places data(out.ld, int64_t{n} * n), pivots(out.pivots, n), info(out.info, 1);
  const auto call = [&](int64_t i, void* work, int lwork) {
    table.sytrf("L", &n, data.at(i), &n, static_cast<int*>(pivots.at(i)), work, &lwork,
                static_cast<int*>(info.at(i)), 1);
  };
  for_lapack(
      out.ld.dtype(), batch_count(out.ld), int64_t{n} * n, [&](void* best) { call(0, best, -1); },
      call);
}

}  // namespace

Svd svd(const Tensor& a, bool full, bool vectors) {
  check_matrices("svd", "A", a);
  check_size("svd", a);
  const int64_t m = rows_of(a), n = columns_of(a), k = std::min(m, n);
  Svd out{{},
          empty(batch_sizes(a, {k}), a.options()),
          {},
          empty(batch_sizes(a), {DType::Int32, a.device()})};
  if (vectors) {
    out.u = empty(batch_sizes(a, {m, full ? m : k}), a.options());
    out.vh = empty(batch_sizes(a, {full ? n : k, n}), a.options());
  }
  if (!a.is_meta()) {
    GradModeGuard no_grad(false);
    if (a.numel() > 0) {
      run_svd(a, out, full, vectors);
    } else {
      zero_(out.info);
      if (vectors && out.u.numel() > 0) copy_(out.u, eye(m, columns_of(out.u), a.options()));
      if (vectors && out.vh.numel() > 0) copy_(out.vh, eye(rows_of(out.vh), n, a.options()));
    }
  }
  if (vectors)
    record("LinalgSvdBackward0", {out.u, out.s, out.vh}, {a}, {&out.u, &out.s, &out.vh},
           [](Node& node, Grads& g) {
             const Tensor s = node.saved(1);
             const int64_t k = s.size(s.dim() - 1);
             if (!g[0].defined() && !g[1].defined() && !g[2].defined()) return Grads(1);
             return Grads{svd_gradient(first_columns(node.saved(0), k), s,
                                       first_rows(node.saved(2), k), g[0], g[1], g[2])};
           });
  return out;
}

Eigh eigh(const Tensor& a, bool upper, bool vectors) {
  check_square("eigh", "A", a);
  check_size("eigh", a);
  Eigh out{empty(batch_sizes(a, {rows_of(a)}), a.options()),
           empty_by_columns(a.sizes(), a.options()),
           empty(batch_sizes(a), {DType::Int32, a.device()})};
  if (!a.is_meta()) {
    GradModeGuard no_grad(false);
    if (a.numel() > 0) {
      run_eigh(a, out, upper, vectors);
    } else {
      zero_(out.info);
    }
  }
  if (!vectors) {
    out.vectors = {};
    return out;
  }
  record("LinalgEighBackward0", {out.values, out.vectors}, {a}, {&out.values, &out.vectors},
         [](Node& node, Grads& g) {
           // V [gL + (V^T gV) / E] V^T with E_ij = L_j - L_i
           const Tensor values = node.saved(0), v = node.saved(1);
           if (!g[0].defined() && !g[1].defined()) return Grads(1);
           if (!g[1].defined()) return Grads{matmul(column_scaled(v, g[0]), turned(v))};
           const Tensor n = eye(columns_of(v), columns_of(v), {DType::Bool, v.device()});
           Tensor core = div(where(n, 0.0, matmul(turned(v), g[1])), differences(values));
           if (g[0].defined()) core = add(core, diag_embed(g[0]));
           return Grads{matmul(v, matmul(core, turned(v)))};
         });
  return out;
}

LeastSquaresResult least_squares(const Tensor& a, const Tensor& b, double rcond,
                                 LeastSquares driver) {
  check_matrices("lstsq", "A", a);
  check_sides("lstsq", a, b);
  check_size("lstsq", a);
  check_size("lstsq", b);
  Tensor left = a, right = b;
  broadcast_batches("lstsq", &left, &right);
  const int64_t m = rows_of(a), n = columns_of(a), k = std::min(m, n), longest = std::max(m, n);
  const int64_t sides = columns_of(b);
  LeastSquaresResult out{empty(batch_sizes(left, {sides, longest}), a.options()),
                         empty(batch_sizes(left), {DType::Int64, a.device()}),
                         empty(batch_sizes(left, {k}), a.options()),
                         empty(batch_sizes(left), {DType::Int32, a.device()})};
  if (!a.is_meta()) {
    GradModeGuard no_grad(false);
    zero_(out.b);
    zero_(out.rank);
    zero_(out.singular_values);
    zero_(out.info);
    if (left.numel() > 0 && sides > 0) {
      copy_(first_columns(out.b, m), turned(right));
      const Tensor by_columns = contiguous_copy(turned(left));
      run_least_squares(by_columns, out, static_cast<int>(m), static_cast<int>(n), rcond, driver);
    }
  }
  out.b = turned(out.b);
  return out;
}

LdlFactors ldl_factor(const Tensor& a) {
  check_square("ldl_factor", "A", a);
  check_size("ldl_factor", a);
  const LdlFactors out{empty_by_columns(a.sizes(), a.options()),
                       empty(batch_sizes(a, {rows_of(a)}), {DType::Int32, a.device()}),
                       empty(batch_sizes(a), {DType::Int32, a.device()})};
  if (a.is_meta()) return out;
  GradModeGuard no_grad(false);
  zero_(out.info);
  if (a.numel() == 0) return out;
  copy_(out.ld, tril(a));
  run_ldl(out);
  return out;
}

Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b) {
  const char* const op = "ldl_solve";
  check_square(op, "LD", ld);
  check_sides(op, ld, b);
  check_size(op, b);
  ZERO_CHECK(pivots.dtype() == DType::Int32, DTypeError, op, ": pivots are not int32; got ", pivots,
             ", expected the pivots of ldl_factor");
  ZERO_CHECK(pivots.sizes() == batch_sizes(ld, {rows_of(ld)}), ShapeError, op,
             ": pivots and LD don't fit; got pivots ", pivots.sizes(), " and LD ", ld.sizes(),
             ", expected one pivot for each row");
  GradModeGuard no_grad(false);
  Tensor left = ld, right = b;
  broadcast_batches(op, &left, &right);
  const int64_t n = rows_of(left);
  const Tensor x = empty_by_columns(right.sizes(), right.options());
  if (x.is_meta() || x.numel() == 0) return x;
  const Tensor order = contiguous(expand(pivots, batch_sizes(left, {n})));
  for (int64_t i = 0; i < order.numel(); ++i) {
    const int64_t p = order.data<int32_t>()[i], row = p < 0 ? -p : p;
    ZERO_CHECK(row >= 1 && row <= n, ValueError, op, ": a pivot is no row; got ", p,
               ", expected numbers from 1 to ", n, ", of pairs the negative ones");
  }
  copy_(x, right);
  const Tensor factors = contiguous(turned(left));
  const Lapack& table = lapack(op, x.dtype());
  const int size = static_cast<int>(n), nrhs = static_cast<int>(columns_of(x));
  const Places data(factors, n * n), rows(order, n), sides(x, n * nrhs);
  for (int64_t i = 0; i < batch_count(x); ++i) {
    const BlasCall call;
    int info = 0;
    table.sytrs("L", &size, &nrhs, data.at(i), &size, static_cast<int*>(rows.at(i)), sides.at(i),
                &size, &info, 1);
  }
  return x;
}

}  // namespace zero
