// Cholesky's factors and those of Householder, and the table of all functions of linalg.h.
#include <cstring>

#include "zero/ops/autocast.h"
#include "zero/ops/linalg_batch.h"

namespace zero {

namespace {

Tensor integers(const Tensor& a) { return empty(batch_sizes(a), {DType::Int32, a.device()}); }

// The upper triangle of a matrix; lines of memory run along rows or columns.
void copy_upper(const Matrices& from, const Matrices& to, int64_t index) {
  constexpr int64_t side = 64;
  const int64_t n = to.rows, item = itemsize(to.dtype);
  const char* const data = from.at(index);
  char* const result = to.at(index);
  parallel_for((n + side - 1) / side, 1 + kGrainSize / (n * side), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin * side; i < std::min(n, end * side); i += side) {
      const int64_t height = std::min(side, n - i);
      for (int64_t j = i; from.column != 1 && j < n; j += side)
        linalg_kernel(to.dtype).turn(result + (i * to.row + j) * item, to.row,
                                     data + (i + j * from.column) * item, from.column,
                                     std::min(side, n - j), height);
      for (int64_t r = i; from.column == 1 && r < i + height; ++r)
        std::memcpy(result + r * (to.row + 1) * item, data + r * (from.row + 1) * item,
                    (n - r) * item);
    }
  });
}

void run_cholesky(const Tensor& a, const Tensor& y, const Tensor& info, bool upper) {
  const int64_t n = rows_of(a);
  int32_t* const failed = info.data<int32_t>();
  if (is_small(n, n)) {
    const Tensor source = in_steps(a);
    // The upper triangle of a matrix is the lower one of its transpose.
    const Matrices given = matrices(source), made = matrices(y);
    const Matrices from = upper ? given.transposed() : given, to = upper ? made.transposed() : made;
    const LinalgKernel& kernel = linalg_kernel(a.dtype());
    return for_groups(a.dtype(), from.count, n * n * n / 3, n * n,
                      [&](int64_t first, int64_t count, char* scratch) {
                        int32_t lanes[kMaxLanes];
                        kernel.load(from.group(scratch, first, count));
                        kernel.cholesky(scratch, n, lanes);
                        kernel.store(to.group(scratch, first, count));
                        std::copy(lanes, lanes + count, failed + first);
                      });
  }
  GradModeGuard no_grad(false);
  const Tensor source = in_steps(a), rows = upper ? y : turned(y);
  const Matrices given = matrices(source), to = matrices(rows);
  const Matrices from = upper ? given : given.transposed();
  const bool dense = from.column == 1 || from.row == 1;
  const int64_t item = itemsize(a.dtype());
  if (!dense) copy_(y, a);
  for_each_matrix(to.count, [&](int64_t i) {
    if (dense) copy_upper(from, to, i);
    failed[i] = cholesky_blocked(to.dtype, to.at(i), to.row, n);
    for (int64_t j = 0; j < n; ++j) std::memset(to.at(i) + j * to.row * item, 0, j * item);
  });
}

// The reflectors and R of `a` go to v; the first columns of Q, if it is defined, to q.
void run_qr(const Tensor& a, const Tensor& v, const Tensor& tau, const Tensor& q) {
  const int64_t m = rows_of(a), n = columns_of(a), k = std::min(m, n);
  const int64_t item = itemsize(a.dtype()), columns = q.defined() ? columns_of(q) : 0;
  Matrices made{};
  if (q.defined()) made = matrices(q);
  if (is_small(m, n) && columns <= kLinalgBlock) {
    const Tensor source = in_steps(a);
    const Matrices from = matrices(source), to = matrices(v);
    const LinalgKernel& kernel = linalg_kernel(a.dtype());
    const Matrices factors{tau.data<char>(), a.dtype(), from.count, k, 1, k, 1, 1};
    return for_groups(a.dtype(), from.count, 2 * m * n * (k + columns), m * n + k + m * columns,
                      [&](int64_t first, int64_t count, char* scratch) {
                        char* const t = scratch + m * n * kernel.lanes * item;
                        kernel.load(from.group(scratch, first, count));
                        kernel.qr(scratch, m, n, t);
                        kernel.store(to.group(scratch, first, count));
                        kernel.store(factors.group(t, first, count));
                        if (columns == 0) return;
                        char* const x = t + k * kernel.lanes * item;
                        kernel.q(scratch, n, m, k, t, x, columns);
                        kernel.store(made.group(x, first, count));
                      });
  }
  {
    GradModeGuard no_grad(false);
    copy_(v, a);
  }
  const Matrices to = matrices(v);
  char* const factors = tau.data<char>();
  for_each_matrix(to.count, [&](int64_t i) {
    qr_blocked(to.dtype, to.at(i), to.row, m, n, factors + i * k * item);
    if (columns > 0)
      q_blocked(to.dtype, to.at(i), to.row, m, k, factors + i * k * item, made.at(i), made.row,
                columns);
  });
}

}  // namespace

std::pair<Tensor, Tensor> cholesky(const Tensor& a, bool upper) {
  check_square("cholesky", "A", a);
  const Tensor y = upper ? empty(a.sizes(), a.options()) : empty_by_columns(a.sizes(), a.options());
  const Tensor info = integers(a);
  if (!a.is_meta()) {
    GradModeGuard no_grad(false);
    if (a.numel() > 0)
      run_cholesky(a, y, info, upper);
    else
      zero_(info);
  }
  record("LinalgCholeskyExBackward0", {}, y, {&a}, {&y}, [upper](Node& node, const Tensor& g) {
    // L^-T S L^-1, where S is the symmetric part of the lower triangle of L^T gL with half its
    // diagonal.
    const Tensor factor = node.saved(0);
    const Tensor back = upper ? factor : turned(factor);  // L^T
    const Tensor product = matmul(back, upper ? turned(g) : g);
    const Tensor half = mul(add(tril(product), turned(tril(product, -1))), 0.5);
    return solve_triangular(back, turned(solve_triangular(back, half, true, false)), true, false);
  });
  return {y, info};
}

std::pair<Tensor, Tensor> householder_qr(const Tensor& a) {
  check_matrices("geqrf", "input", a);
  const Tensor v = empty(a.sizes(), a.options());
  const Tensor tau = empty(batch_sizes(a, {std::min(rows_of(a), columns_of(a))}), a.options());
  if (!a.is_meta() && a.numel() > 0) run_qr(a, v, tau, {});
  return {v, tau};
}

Tensor householder_product(const Tensor& v, const Tensor& tau) {
  const char* const op = "householder_product";
  check_matrices(op, "A", v);
  const int64_t m = rows_of(v), n = columns_of(v);
  ZERO_CHECK(m >= n, ShapeError, op, ": wider than high; got A ", v.sizes(),
             ", expected at most as many columns as rows");
  ZERO_CHECK(tau.dtype() == v.dtype(), DTypeError, op, ": dtypes differ; got A ", v.dtype(),
             " and tau ", tau.dtype(), ", expected one dtype");
  ZERO_CHECK(tau.dim() == v.dim() - 1 && tau.size(tau.dim() - 1) <= n &&
                 tau.sizes() == batch_sizes(v, {tau.size(tau.dim() - 1)}),
             ShapeError, op, ": tau and A don't fit; got tau ", tau.sizes(), " and A ", v.sizes(),
             ", expected one factor for each reflector, of the same leading dimensions");
  const Tensor q = empty(v.sizes(), v.options());
  if (q.is_meta() || q.numel() == 0) return q;
  const Tensor reflectors = in_steps(contiguous(v)), factors = contiguous(tau);
  const int64_t k = tau.size(tau.dim() - 1), item = itemsize(v.dtype());
  const Matrices from = matrices(reflectors), to = matrices(q);
  for_each_matrix(to.count, [&](int64_t i) {
    q_blocked(to.dtype, from.at(i), from.row, m, k, factors.data<char>() + i * k * item, to.at(i),
              to.row, n);
  });
  return q;
}

namespace {

// M's lower triangle, and its mirror image above the diagonal.
Tensor mirrored(const Tensor& m) { return add(tril(m), turned(tril(m, -1))); }

// The gradient of A = Q R with a square R: (gQ + Q mirrored(R gR^T - gQ^T Q)) R^-T.
Tensor square_qr_gradient(const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
  Tensor m;
  if (gr.defined()) m = matmul(r, turned(gr));
  if (gq.defined()) {
    const Tensor other = matmul(turned(gq), q);
    m = m.defined() ? sub(m, other) : neg(other);
  }
  const Tensor inner = matmul(q, mirrored(m));
  return turned(solve_triangular(r, turned(gq.defined() ? add(gq, inner) : inner), true, false));
}

}  // namespace

std::pair<Tensor, Tensor> qr(const Tensor& a, bool complete) {
  check_matrices("qr", "A", a);
  const int64_t m = rows_of(a), n = columns_of(a), k = std::min(m, n), wide = complete ? m : k;
  const TensorOptions options = a.options();
  const Tensor v = empty(a.sizes(), options), tau = empty(batch_sizes(a, {k}), options);
  const Tensor q = empty(batch_sizes(a, {m, wide}), options);
  Tensor r = empty(batch_sizes(a, {wide, n}), options);
  if (!a.is_meta()) {
    GradModeGuard no_grad(false);
    if (a.numel() > 0) {
      run_qr(a, v, tau, q);
      r = triu(slice(v, v.dim() - 2, 0, wide));
    } else {
      zero_(r);
      if (q.numel() > 0) copy_(q, eye(m, wide, options));
    }
  }
  record("LinalgQrBackward0", {q, r}, {a}, {&a, &q, &r}, [complete](Node& node, Grads& g) {
    const Tensor a = node.saved(0), q = node.saved(1), r = node.saved(2);
    const int64_t m = rows_of(a), n = columns_of(a), last = a.dim() - 1;
    ZERO_CHECK(!complete || m <= n, Error, "qr: no gradient; got mode 'complete' and A ", a.sizes(),
               ", expected at most as many rows as columns, or mode 'reduced'");
    if (!g[0].defined() && !g[1].defined()) return Grads(1);
    if (m >= n) return Grads{square_qr_gradient(q, r, g[0], g[1])};
    // A = [X Y], R = [U V]: V = Q^T Y.
    const Tensor u = slice(r, last, 0, m);
    if (!g[1].defined())
      return Grads{cat({square_qr_gradient(q, u, g[0], {}), mul(slice(a, last, m, n), 0.0)}, last)};
    const Tensor gv = slice(g[1], last, m, n);
    Tensor gq = matmul(slice(a, last, m, n), turned(gv));
    if (g[0].defined()) gq = add(gq, g[0]);
    const Tensor gx = square_qr_gradient(q, u, gq, slice(g[1], last, 0, m));
    return Grads{cat({gx, matmul(q, gv)}, last)};
  });
  return {q, r};
}

int64_t first_failure(const Tensor& info) {
  if (info.is_meta()) return -1;
  const Tensor x = contiguous(info);
  for (int64_t i = 0; i < x.numel(); ++i)
    if (x.data<int32_t>()[i] != 0) return i;
  return -1;
}

Tensors linalg(const std::string& name, const Tensors& in, int64_t option, double number) {
  if (autocast_on) return autocast(CastTo::Float32, linalg, name, in, option, number);
  const Tensor& a = in[0];
  const bool first = (option & 1) != 0, second = (option & 2) != 0;
  if (name == "cholesky") {
    const auto [factor, info] = cholesky(a, first);
    return {factor, info};
  }
  if (name == "lu_factor") {
    const LuFactors f = lu_factor(a);
    return {f.lu, f.pivots, f.info};
  }
  if (name == "lu_solve") return {lu_solve(a, in[1], in[2], first)};
  if (name == "solve_triangular") return {solve_triangular(a, in[1], first, second)};
  if (name == "solve" || name == "inv") {
    const Solution s = name == "inv" ? inverse(a) : solve(a, in[1]);
    return {s.x, s.factors.info};
  }
  if (name == "det") return {determinant(a)};
  if (name == "slogdet") {
    const auto [sign, log] = sign_log_determinant(a);
    return {sign, log};
  }
  if (name == "geqrf") {
    const auto [v, tau] = householder_qr(a);
    return {v, tau};
  }
  if (name == "householder_product") return {householder_product(a, in[1])};
  if (name == "qr") {
    const auto [q, r] = qr(a, first);
    return {q, r};
  }
  if (name == "svd") {
    const Svd f = svd(a, first, second);
    return {f.u, f.s, f.vh, f.info};
  }
  if (name == "eigh") {
    const Eigh f = eigh(a, first, second);
    return {f.values, f.vectors, f.info};
  }
  if (name == "lstsq") {
    const LeastSquaresResult f = least_squares(a, in[1], number, static_cast<LeastSquares>(option));
    return {f.b, f.rank, f.singular_values, f.info};
  }
  if (name == "ldl_factor") {
    const LdlFactors f = ldl_factor(a);
    return {f.ld, f.pivots, f.info};
  }
  if (name == "ldl_solve") return {ldl_solve(a, in[1], in[2])};
  fail<ValueError>("linalg: no such function; got '", name, "', expected one of linalg.h");
}

}  // namespace zero
