// What LAPACK computes: singular values, eigenvalues of symmetric matrices, least squares, and
// factors of symmetric matrices that are indefinite. Matrices lie by columns there, so that rows of
// ours are columns of the transpose.
#include <climits>

#include "zero/ops/linalg_batch.h"
#include "zero/runtime/blas.h"

namespace zero {

namespace {

const Blas& library(const char* op) {
  const Blas* const found = blas();
  ZERO_CHECK(found && found->lapack, Error, op,
             ": needs LAPACK; got a zero without it, expected the OpenBLAS of its package: ",
             blas_description());
  return *found;
}
const Lapack<float>& lapack(const Blas& blas, float) { return blas.s; }
const Lapack<double>& lapack(const Blas& blas, double) { return blas.d; }

void check_size(const char* op, const Tensor& x) {
  ZERO_CHECK(rows_of(x) * columns_of(x) <= INT_MAX, ShapeError, op, ": too large; got ", x.sizes(),
             ", expected at most 2^31 elements in a matrix");
}

// f(i, work of the size that `ask` finds) for each matrix, on threads by fixed shares.
template <class T, class Ask, class F>
void for_lapack(int64_t count, int64_t elements, Ask ask, F f) {
  T best = 0;
  {
    const BlasCall call;
    ask(&best);
  }
  const int size = static_cast<int>(best * T(1.0001)) + 1;  // float32 rounds
  const BlockingSection section(count * elements > 2000);
  parallel_for(
      count, 1 + 400 / (elements + 1),
      [&](int64_t begin, int64_t end) {
        Buffer work(size, sizeof(T) == 8 ? DType::Float64 : DType::Float32);
        for (int64_t i = begin; i < end; ++i) {
          const BlasCall call;
          f(i, work.data<T>(), size);
        }
      },
      kMaxGemmThreads);
}

Tensor contiguous_copy(const Tensor& x) {
  const Tensor y = empty(x.sizes(), x.options());
  GradModeGuard no_grad(false);
  copy_(y, x);
  return y;
}

template <class T>
bool is_finite(const T* x, int64_t n) {
  T sum = 0;  // 0, or NaN
  for (int64_t i = 0; i < n; ++i) sum += x[i] * T(0);
  return sum == T(0);
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

template <class T>
void run_svd(const Tensor& a, const Svd& out, bool full, bool vectors) {
  const Blas& blas = library("svd");
  // Of the transpose, whose left vectors are ours to the right.
  const int m = static_cast<int>(columns_of(a)), n = static_cast<int>(rows_of(a)),
            k = std::min(m, n);
  const int ldvt = full ? n : std::max(k, 1);
  const char job = vectors ? full ? 'A' : 'S' : 'N';
  T* const s = out.s.data<T>();
  T* const u = vectors ? out.vh.data<T>() : nullptr;
  T* const vt = vectors ? out.u.data<T>() : nullptr;
  const int64_t u_step = vectors ? rows_of(out.vh) * m : 0,
                vt_step = vectors ? n * columns_of(out.u) : 0;
  const Tensor copy = contiguous_copy(a);
  T* const data = copy.data<T>();
  int32_t* const info = out.info.data<int32_t>();
  const int64_t size = int64_t{m} * n;
  const auto call = [&, m, n](int64_t i, T* work, int lwork, int* iwork) {
    lapack(blas, T()).gesdd(&job, &m, &n, data + i * size, &m, s + i * k, u + i * u_step, &m,
                            vt + i * vt_step, &ldvt, work, &lwork, iwork, info + i, 1);
  };
  for_lapack<T>(
      batch_count(a), size, [&](T* best) { call(0, best, -1, nullptr); },
      [&](int64_t i, T* work, int lwork) {
        Buffer iwork(8 * k, DType::Int32);
        info[i] = -1;
        if (is_finite(data + i * size, size)) call(i, work, lwork, iwork.data<int>());
      });
}

template <class T>
void run_eigh(const Tensor& rows, const Eigh& out, bool upper, bool vectors) {
  const Blas& blas = library("eigh");
  const int n = static_cast<int>(rows_of(rows)), sizes = vectors ? 3 + 5 * n : 1;
  const char job = vectors ? 'V' : 'N', uplo = upper ? 'U' : 'L';
  T* const data = rows.data<T>();
  T* const values = out.values.data<T>();
  int32_t* const info = out.info.data<int32_t>();
  const int64_t size = int64_t{n} * n;
  const auto call = [&, n, sizes](int64_t i, T* work, int lwork, int* iwork) {
    const int liwork = lwork < 0 ? -1 : sizes;
    lapack(blas, T()).syevd(&job, &uplo, &n, data + i * size, &n, values + i * n, work, &lwork,
                            iwork, &liwork, info + i, 1, 1);
  };
  int ignored = 0;
  for_lapack<T>(
      batch_count(rows), size, [&](T* best) { call(0, best, -1, &ignored); },
      [&](int64_t i, T* work, int lwork) {
        Buffer iwork(sizes, DType::Int32);
        info[i] = -1;
        if (is_finite(data + i * size, size)) call(i, work, lwork, iwork.data<int>());
      });
}

template <class T>
void run_least_squares(const Tensor& a, const LeastSquaresResult& out, int m, int n, double rcond,
                       LeastSquares driver) {
  const Lapack<T>& table = lapack(library("lstsq"), T());
  const int nrhs = static_cast<int>(rows_of(out.b)), ldb = std::max({m, n, 1}),
            lda = std::max(m, 1);
  const T limit = static_cast<T>(rcond);
  T* const data = a.data<T>();
  T* const b = out.b.data<T>();
  int32_t* const info = out.info.data<int32_t>();
  int64_t* const ranks = out.rank.data<int64_t>();
  T* const values = out.singular_values.data<T>();
  const int k = std::min(m, n);
  const auto call = [&, m, n](int64_t i, T* work, int lwork, int* integers) {
    T* const x = data + i * m * n;
    T* const y = b + i * ldb * nrhs;
    T* const s = values + i * k;
    int rank = k;
    switch (driver) {
      case LeastSquares::Gels:
        table.gels("N", &m, &n, &nrhs, x, &lda, y, &ldb, work, &lwork, info + i, 1);
        break;
      case LeastSquares::Gelsy:
        table.gelsy(&m, &n, &nrhs, x, &lda, y, &ldb, integers, &limit, &rank, work, &lwork,
                    info + i);
        break;
      case LeastSquares::Gelsd:
        table.gelsd(&m, &n, &nrhs, x, &lda, y, &ldb, s, &limit, &rank, work, &lwork, integers,
                    info + i);
        break;
      case LeastSquares::Gelss:
        table.gelss(&m, &n, &nrhs, x, &lda, y, &ldb, s, &limit, &rank, work, &lwork, info + i);
    }
    if (lwork >= 0) ranks[i] = rank;
  };
  int needed = n;
  for_lapack<T>(
      batch_count(a), int64_t{m} * n,
      [&](T* best) {
        Buffer probe(n + 1, DType::Int32);
        call(0, best, -1, probe.data<int>());
        if (driver == LeastSquares::Gelsd) needed = probe.data<int>()[0];
      },
      [&](int64_t i, T* work, int lwork) {
        Buffer integers(needed, DType::Int32);
        std::fill_n(integers.data<int>(), needed, 0);  // no column has its place
        call(i, work, lwork, integers.data<int>());
      });
}

template <class T>
void run_ldl(const LdlFactors& out) {
  const Lapack<T>& table = lapack(library("ldl_factor"), T());
  const int n = static_cast<int>(rows_of(out.ld));
  T* const data = out.ld.data<T>();
  int* const pivots = out.pivots.data<int>();
  int* const info = out.info.data<int>();
  const auto call = [&, n](int64_t i, T* work, int lwork) {
    table.sytrf("L", &n, data + i * n * n, &n, pivots + i * n, work, &lwork, info + i, 1);
  };
  for_lapack<T>(batch_count(out.ld), int64_t{n} * n, [&](T* best) { call(0, best, -1); }, call);
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
      with_float(a.dtype(), [&]<class T>(T) { run_svd<T>(a, out, full, vectors); });
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
      copy_(out.vectors, a);
      const Tensor rows = turned(out.vectors);
      with_float(a.dtype(), [&]<class T>(T) { run_eigh<T>(rows, out, upper, vectors); });
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
      with_float(a.dtype(), [&]<class T>(T) {
        run_least_squares<T>(by_columns, out, static_cast<int>(m), static_cast<int>(n), rcond,
                             driver);
      });
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
  with_float(a.dtype(), [&]<class T>(T) { run_ldl<T>(out); });
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
  with_float(x.dtype(), [&]<class T>(T) {
    const Lapack<T>& table = lapack(library(op), T());
    const int size = static_cast<int>(n), sides = static_cast<int>(columns_of(x));
    for (int64_t i = 0; i < batch_count(x); ++i) {
      const BlasCall call;
      int info = 0;
      table.sytrs("L", &size, &sides, factors.data<T>() + i * n * n, &size,
                  order.data<int32_t>() + i * n, x.data<T>() + i * n * sides, &size, &info, 1);
    }
  });
  return x;
}

}  // namespace zero
