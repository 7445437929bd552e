// LU factors, what is solved with them and with triangles, inverses and determinants.
#include <cmath>

#include "zero/ops/linalg_batch.h"

namespace zero {

Dims batch_sizes(const Tensor& x, std::initializer_list<int64_t> last) {
  Dims sizes(x.sizes().begin(), x.sizes().end() - 2);
  for (const int64_t n : last) sizes.push_back(n);
  return sizes;
}

int64_t batch_count(const Tensor& x) { return numel(batch_sizes(x)); }

Tensor in_steps(const Tensor& x) {
  int64_t step = 0, inner = 1;
  for (int64_t i = x.dim() - 3; i >= 0; --i) {
    if (x.size(i) == 1) continue;
    if (step == 0) step = x.stride(i);
    if (x.stride(i) != step * inner) return contiguous(x);
    inner *= x.size(i);
  }
  return x;
}

Matrices matrices(const Tensor& x) {
  const int64_t d = x.dim();
  int64_t step = 0;
  for (int64_t i = d - 3; i >= 0 && step == 0; --i)
    if (x.size(i) > 1) step = x.stride(i);
  return {static_cast<char*>(x.data()),
          x.dtype(),
          batch_count(x),
          x.size(d - 2),
          x.size(d - 1),
          step,
          x.stride(d - 2),
          x.stride(d - 1)};
}

Tensor empty_by_columns(const Dims& sizes, TensorOptions options) {
  const int64_t d = sizes.size();
  Dims strides(d);
  strides[d - 2] = 1;
  strides[d - 1] = std::max<int64_t>(sizes[d - 2], 1);
  int64_t step = strides[d - 1] * std::max<int64_t>(sizes[d - 1], 1);
  for (int64_t i = d - 3; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return empty_strided(sizes, strides, options);
}

void check_matrices(const char* op, const char* name, const Tensor& x) {
  ZERO_CHECK(x.dtype() == DType::Float32 || x.dtype() == DType::Float64, DTypeError, op,
             ": not for this dtype; got ", name, ' ', x,
             ", expected float32 or float64; to() converts");
  ZERO_CHECK(x.dim() >= 2, ShapeError, op, ": not a matrix; got ", name, ' ', x.sizes(),
             ", expected at least 2 dimensions");
}

void check_square(const char* op, const char* name, const Tensor& x) {
  check_matrices(op, name, x);
  ZERO_CHECK(rows_of(x) == columns_of(x), ShapeError, op, ": not square matrices; got ", name, ' ',
             x.sizes(), ", expected as many rows as columns");
}

void check_sides(const char* op, const Tensor& a, const Tensor& b) {
  check_matrices(op, "B", b);
  ZERO_CHECK(a.dtype() == b.dtype(), DTypeError, op, ": dtypes differ; got A ", a.dtype(),
             " and B ", b.dtype(), ", expected one dtype; to() converts");
  ZERO_CHECK(a.device() == b.device(), Error, op, ": tensors are on two devices; got A on ",
             a.device(), " and B on ", b.device(), ", expected one device");
  ZERO_CHECK(rows_of(a) == rows_of(b), ShapeError, op, ": the equations don't fit; got A ",
             a.sizes(), " and B ", b.sizes(), ", expected as many rows of B as A has");
}

void broadcast_batches(const char* op, Tensor* a, Tensor* b) {
  const Dims first = batch_sizes(*a), second = batch_sizes(*b);
  if (first == second) return;
  const Dims sizes = broadcast_shapes(op, first, second);
  for (Tensor* x : {a, b}) {
    Dims whole = sizes;
    whole.push_back(rows_of(*x));
    whole.push_back(columns_of(*x));
    if (!(whole == x->sizes())) *x = expand(*x, whole);
  }
}

namespace {

// Pivots of a group, which count from 0 on in lanes, and those of a matrix, from 1 on.
void unpack_pivots(const int32_t* lanes, int width, int64_t n, int64_t k, int32_t* pivots) {
  for (int64_t l = 0; l < n; ++l)
    for (int64_t i = 0; i < k; ++i) pivots[l * k + i] = lanes[i * width + l] + 1;
}
void pack_pivots(const int32_t* pivots, int width, int64_t n, int64_t k, int32_t* lanes) {
  for (int64_t i = 0; i < k; ++i)
    for (int l = 0; l < width; ++l)
      lanes[i * width + l] = l < n ? pivots[l * k + i] - 1 : static_cast<int32_t>(i);
}

// Columns of sides that are solved at a time: they stay in the cache.
constexpr int64_t kSides = 32;

struct System { bool lower, unit; };

// X = A^-1 X for one or two triangles of the same matrices, between the exchanges of pivots.
// `pivots` may be null; `last` says that the exchanges come last, from the end. For one triangle
// X must be negated before where matrices are large (sides_of).
void run_systems(const Matrices& a, const Matrices& x, std::initializer_list<System> systems,
                 const int32_t* pivots, bool last) {
  const LinalgKernel& kernel = linalg_kernel(x.dtype);
  const int64_t n = a.rows, m = x.columns;
  if (n == 0 || m == 0) return;
  if (is_small(n, n)) {
    const int64_t work = n * n * m * static_cast<int64_t>(systems.size()) / 2;
    return for_groups(x.dtype, x.count, work, n * (n + kSides),
                      [&](int64_t first, int64_t count, char* scratch) {
                        char* const sides = scratch + n * n * kernel.lanes * itemsize(x.dtype);
                        int32_t lanes[kLinalgBlock * kMaxLanes];
                        if (pivots) pack_pivots(pivots + first * n, kernel.lanes, count, n, lanes);
                        kernel.load(a.group(scratch, first, count));
                        for (int64_t j = 0; j < m; j += kSides) {
                          const int64_t width = std::min(kSides, m - j);
                          const GroupArgs group = x.group(sides, first, count, j, width);
                          kernel.load(group);
                          if (pivots && !last) kernel.exchange(sides, width, lanes, n, false);
                          for (const System& s : systems)
                            kernel.triangular(scratch, n, sides, width, s.lower, s.unit);
                          if (pivots && last) kernel.exchange(sides, width, lanes, n, true);
                          kernel.store(group);
                        }
                      });
  }
  for_each_matrix(x.count, [&](int64_t i) {
    Buffer pivot_rows(n, DType::Int32);
    int32_t* const rows = pivot_rows.data<int32_t>();
    for (int64_t k = 0; pivots && k < n; ++k) rows[k] = pivots[i * n + k] - 1;
    if (pivots && !last) exchange_rows(x.dtype, x.at(i), x.row, m, rows, n, false);
    for (const System& s : systems)
      solve_blocked(x.dtype, a.at(i), a.row, a.column, n, x.at(i), x.row, m, s.lower, s.unit);
    if (pivots && last) exchange_rows(x.dtype, x.at(i), x.row, m, rows, n, true);
  });
}

// A contiguous copy of B, or of -B.
Tensor sides_of(const Tensor& b, bool negated) {
  const Tensor x = empty(b.sizes(), b.options());
  GradModeGuard no_grad(false);
  if (negated)
    neg(b, Target::out(x));
  else
    copy_(x, b);
  return x;
}

// Columns j, j + 1, ... of 1, in lanes.
void fill_identity(DType dtype, void* x, int64_t n, int64_t columns, int64_t j, int lanes) {
  with_float(dtype, [&]<class T>(T) {
    for (int64_t p = 0; p < n * columns; ++p)
      std::fill_n(static_cast<T*>(x) + p * lanes, lanes, T(p / columns == j + p % columns));
  });
}

// Factors of A; in the same pass, for small matrices, also A^-1 B, or A^-1 where B is undefined and
// `x` is defined. `factors` are not stored where nobody asks for them.
void run_lu(const Tensor& a, const LuFactors& out, const Tensor& b, const Tensor& x) {
  const Tensor source = in_steps(a);
  const Matrices from = matrices(source);
  const int64_t m = from.rows, n = from.columns, k = std::min(m, n);
  int32_t* const pivots = out.pivots.data<int32_t>();
  int32_t* const info = out.info.data<int32_t>();
  const LinalgKernel& kernel = linalg_kernel(from.dtype);
  if (is_small(m, n)) {
    Matrices to{}, sides{}, right{};
    Tensor side_source;
    if (out.lu.defined()) to = matrices(out.lu);
    if (x.defined()) sides = matrices(x);
    if (b.defined()) {
      side_source = in_steps(b);
      right = matrices(side_source);
    }
    const int64_t width = x.defined() ? sides.columns : 0, part = std::min(width, kSides);
    return for_groups(from.dtype, from.count, m * n * (k + 2 * width), m * (n + part),
                      [&](int64_t first, int64_t count, char* scratch) {
                        int32_t lanes[kLinalgBlock * kMaxLanes], failed[kMaxLanes];
                        kernel.load(from.group(scratch, first, count));
                        kernel.lu(scratch, m, n, lanes, failed);
                        std::copy(failed, failed + count, info + first);
                        unpack_pivots(lanes, kernel.lanes, count, k, pivots + first * k);
                        if (out.lu.defined()) kernel.store(to.group(scratch, first, count));
                        char* const s = scratch + m * n * kernel.lanes * itemsize(from.dtype);
                        for (int64_t j = 0; j < width; j += kSides) {
                          const int64_t columns = std::min(kSides, width - j);
                          if (b.defined()) {
                            kernel.load(right.group(s, first, count, j, columns));
                          } else {
                            fill_identity(from.dtype, s, n, columns, j, kernel.lanes);
                          }
                          kernel.exchange(s, columns, lanes, k, false);
                          kernel.triangular(scratch, n, s, columns, true, true);
                          kernel.triangular(scratch, n, s, columns, false, false);
                          kernel.store(sides.group(s, first, count, j, columns));
                        }
                      });
  }
  {
    GradModeGuard no_grad(false);
    copy_(out.lu, source);
    if (x.defined() && b.defined()) copy_(x, b);
  }
  const Matrices to = matrices(out.lu);
  Matrices inverses{};
  if (x.defined()) inverses = matrices(x);
  for_each_matrix(to.count, [&](int64_t i) {
    info[i] = lu_blocked(to.dtype, to.at(i), to.row, m, n, pivots + i * k);
    if (x.defined() && !b.defined())
      inverse_blocked(to.dtype, to.at(i), to.row, n, pivots + i * k, inverses.at(i), inverses.row);
    for (int64_t p = 0; p < k; ++p) ++pivots[i * k + p];
  });
  if (b.defined()) run_systems(to, matrices(x), {{true, true}, {false, false}}, pivots, false);
}

LuFactors empty_factors(const Tensor& a, bool with_lu) {
  const TensorOptions integers{DType::Int32, a.device()};
  return {with_lu ? empty(a.sizes(), a.options()) : Tensor(),
          empty(batch_sizes(a, {std::min(rows_of(a), columns_of(a))}), integers),
          empty(batch_sizes(a), integers)};
}

void factorize(const Tensor& a, const LuFactors& out, const Tensor& b = {}, const Tensor& x = {}) {
  if (a.is_meta()) return;
  if (a.numel() == 0) {
    GradModeGuard no_grad(false);
    zero_(out.info);
    for (int64_t i = 0; i < out.pivots.numel(); ++i) out.pivots.data<int32_t>()[i] = 1;
    if (x.defined()) zero_(x);
    return;
  }
  run_lu(a, out, b, x);
}

// The rows of P^T G, from those of G.
Tensor permuted_back(const Tensor& g, const Tensor& pivots) {
  if (g.is_meta()) return g;
  const int64_t m = rows_of(g), k = columns_of(pivots), count = batch_count(g);
  Dims sizes = batch_sizes(g, {m, 1});
  const Tensor index = empty(sizes, {DType::Int64, g.device()});
  Buffer buffer(m, DType::Int64);
  int64_t* const order = buffer.data<int64_t>();
  for (int64_t b = 0; b < count; ++b) {
    for (int64_t i = 0; i < m; ++i) order[i] = i;
    const int32_t* const p = pivots.data<int32_t>() + b * k;
    for (int64_t i = 0; i < k; ++i) std::swap(order[i], order[p[i] - 1]);
    for (int64_t i = 0; i < m; ++i) index.data<int64_t>()[b * m + order[i]] = i;
  }
  return gather(g, g.dim() - 2, expand(index, g.sizes()));
}

Tensor rows(const Tensor& x, int64_t begin, int64_t end) {
  return slice(x, x.dim() - 2, begin, end);
}
Tensor columns(const Tensor& x, int64_t begin, int64_t end) {
  return slice(x, x.dim() - 1, begin, end);
}

}  // namespace

LuFactors lu_factor(const Tensor& a) {
  check_matrices("lu_factor", "A", a);
  const LuFactors out = empty_factors(a, true);
  factorize(a, out);
  record("LinalgLuFactorExBackward0", {}, out.lu, {&a}, {&out.lu, &out.pivots},
         [](Node& node, const Tensor& g) {
           const Tensor lu = node.saved(0), pivots = node.saved(1);
           const int64_t m = rows_of(lu), n = columns_of(lu), k = std::min(m, n);
           const Tensor upper = triu(rows(lu, 0, k)), square = columns(upper, 0, k);
           const Tensor lower = columns(lu, 0, k), top = rows(lower, 0, k);
           const Tensor top_unit = add(tril(top, -1), eye(k, k, lu.options()));
           const Tensor g_upper = triu(rows(g, 0, k)), g_lower = tril(columns(g, 0, k), -1);
           // The parts of L^T gL and gU U^T that are free; L's diagonal is 1. What of a matrix is
           // beside the square goes through its own block.
           Tensor left = matmul(turned(top_unit), rows(g_lower, 0, k));
           Tensor right = matmul(columns(g_upper, 0, k), turned(square));
           if (n > m)
             left = sub(left, matmul(columns(g_upper, k, n), turned(columns(upper, k, n))));
           if (m > n) right = sub(right, matmul(turned(rows(lower, k, m)), rows(g_lower, k, m)));
           const Tensor core = add(tril(left, -1), triu(right));
           // ... times U^-T from the right, and L^-T from the left.
           const auto over_upper = [&](const Tensor& x) {
             return turned(solve_triangular(square, turned(x), true, false));
           };
           const auto over_lower = [&](const Tensor& x) {
             return solve_triangular(turned(top), x, true, true);
           };
           Tensor result;
           if (n > m) {
             result = over_lower(cat({over_upper(core), columns(g_upper, k, n)}, lu.dim() - 1));
           } else if (m > n) {
             result = over_upper(cat({over_lower(core), rows(g_lower, k, m)}, lu.dim() - 2));
           } else {
             result = over_lower(over_upper(core));
           }
           return permuted_back(result, pivots);
         });
  return out;
}

Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transposed) {
  const char* const op = "lu_solve";
  check_square(op, "LU", lu);
  check_sides(op, lu, b);
  ZERO_CHECK(pivots.dtype() == DType::Int32, DTypeError, op, ": pivots are not int32; got ", pivots,
             ", expected the pivots of lu_factor");
  ZERO_CHECK(pivots.sizes() == batch_sizes(lu, {rows_of(lu)}), ShapeError, op,
             ": pivots and LU don't fit; got pivots ", pivots.sizes(), " and LU ", lu.sizes(),
             ", expected one pivot for each row");
  Tensor left = lu, right = b;
  broadcast_batches(op, &left, &right);
  const int64_t n = rows_of(left);
  Tensor order = pivots;
  if (left.sizes().size() != lu.sizes().size() || left.numel() != lu.numel())
    order = expand(pivots, batch_sizes(left, {n}));
  order = contiguous(order);
  for (int64_t i = 0; !order.is_meta() && i < order.numel(); ++i) {
    const int32_t p = order.data<int32_t>()[i];
    ZERO_CHECK(p >= 1 && p <= n, ValueError, op, ": a pivot is no row; got ", p,
               ", expected numbers from 1 to ", n);
  }
  const Tensor x = right.is_meta() ? empty(right.sizes(), right.options()) : sides_of(right, false);
  if (!x.is_meta() && x.numel() > 0) {
    const Tensor source = in_steps(left);
    const Matrices a = matrices(source), sides = matrices(x);
    const int32_t* const p = order.data<int32_t>();
    if (transposed) {
      run_systems(a.transposed(), sides, {{true, false}, {false, true}}, p, true);
    } else {
      run_systems(a, sides, {{true, true}, {false, false}}, p, false);
    }
  }
  const Tensor fixed = detach(left);
  record("LinalgLuSolveBackward0", {}, x, {&right}, {&fixed, &order},
         [transposed](Node& node, const Tensor& g) {
           return lu_solve(node.saved(0), node.saved(1), g, !transposed);
         });
  return x;
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool unit) {
  const char* const op = "solve_triangular";
  check_square(op, "A", a);
  check_sides(op, a, b);
  Tensor left = a, right = b;
  broadcast_batches(op, &left, &right);
  const bool large = !is_small(rows_of(left), rows_of(left));
  const Tensor x = right.is_meta() ? empty(right.sizes(), right.options()) : sides_of(right, large);
  if (!x.is_meta() && x.numel() > 0) {
    const Tensor source = in_steps(left);
    run_systems(matrices(source), matrices(x), {{!upper, unit}}, nullptr, false);
  }
  record("LinalgSolveTriangularBackward0", {}, x, {&left, &right},
         {&left, keep(requires_grad(left), x)}, [upper, unit](Node& node, const Tensor& g) {
           Grads grads(2);
           const Tensor sides = solve_triangular(turned(node.saved(0)), g, !upper, unit);
           if (node.needs(0)) {
             const Tensor whole = neg(matmul(sides, turned(node.saved(1))));
             grads[0] = upper ? triu(whole, unit ? 1 : 0) : tril(whole, unit ? -1 : 0);
           }
           if (node.needs(1)) grads[1] = sides;
           return grads;
         });
  return x;
}

Solution solve(const Tensor& a, const Tensor& b) {
  const char* const op = "solve";
  check_square(op, "A", a);
  check_sides(op, a, b);
  Tensor left = a, right = b;
  broadcast_batches(op, &left, &right);
  const bool recorded = any_requires_grad({&left, &right});
  Solution out{empty(right.sizes(), right.options()),
               empty_factors(left, recorded || !is_small(rows_of(a), rows_of(a)))};
  factorize(left, out.factors, right, out.x);
  const LuFactors& f = out.factors;
  record("LinalgSolveExBackward0", {}, out.x, {&left, &right},
         {&left, keep(requires_grad(left), out.x), &f.lu, &f.pivots},
         [](Node& node, const Tensor& g) {
           Grads grads(2);
           const Tensor sides = grad_enabled() ? solve(turned(node.saved(0)), g).x
                                               : lu_solve(node.saved(2), node.saved(3), g, true);
           if (node.needs(0)) grads[0] = neg(matmul(sides, turned(node.saved(1))));
           if (node.needs(1)) grads[1] = sides;
           return grads;
         });
  return out;
}

Solution inverse(const Tensor& a) {
  check_square("inv", "A", a);
  Solution out{empty(a.sizes(), a.options()), empty_factors(a, !is_small(rows_of(a), rows_of(a)))};
  factorize(a, out.factors, {}, out.x);
  record("LinalgInvExBackward0", {}, out.x, {&a}, {&out.x}, [](Node& node, const Tensor& g) {
    const Tensor back = turned(node.saved(0));
    return neg(matmul(back, matmul(g, back)));
  });
  return out;
}

namespace {

// f(diagonal of U, its stride, the sign of the exchanges, index) for each matrix.
template <class F>
void for_determinants(const LuFactors& f, F each) {
  const int64_t n = rows_of(f.lu), count = batch_count(f.lu);
  const int32_t* const pivots = f.pivots.data<int32_t>();
  with_float(f.lu.dtype(), [&]<class T>(T) {
    for (int64_t b = 0; b < count; ++b) {
      double sign = 1;
      for (int64_t i = 0; i < n; ++i)
        if (pivots[b * n + i] != i + 1) sign = -sign;
      each(f.lu.data<T>() + b * n * n, n, sign, b);
    }
  });
}

Tensor over_matrices(const Tensor& x) { return unsqueeze(unsqueeze(x, -1), -1); }

// The cofactors of a matrix of any rank: U diag(products of the other singular values) Vh, times
// the sign of U and Vh.
Tensor cofactors(const Tensor& a) {
  const Svd parts = svd(a, true, true);
  const int64_t n = rows_of(a);
  const Tensor diagonal = eye(n, n, {DType::Bool, a.device()});
  const Tensor others = prod(where(diagonal, 1.0, unsqueeze(parts.s, -2)), {-1});
  Tensor sign;
  {
    GradModeGuard no_grad(false);
    sign = round(mul(determinant(parts.u), determinant(parts.vh)));
  }
  const Tensor scale = mul(others, unsqueeze(sign, -1));
  return matmul(mul(parts.u, unsqueeze(scale, -2)), parts.vh);
}

}  // namespace

Tensor determinant(const Tensor& a) {
  check_square("det", "A", a);
  const LuFactors f = empty_factors(a, true);
  factorize(a, f);
  const Tensor y = empty(batch_sizes(a), a.options());
  bool singular = false;
  if (!a.is_meta())
    for_determinants(f, [&]<class T>(const T* u, int64_t n, double sign, int64_t b) {
      double product = sign;
      for (int64_t i = 0; i < n; ++i) product *= static_cast<double>(u[i * (n + 1)]);
      y.data<T>()[b] = static_cast<T>(product);
      singular |= product == 0;
    });
  record("LinalgDetBackward0", {}, y, {&a}, {&a, &y}, [singular](Node& node, const Tensor& g) {
    const Tensor a = node.saved(0);
    if (rows_of(a) == 1) return over_matrices(g);
    if (singular) return mul(over_matrices(g), cofactors(a));
    return mul(over_matrices(mul(g, node.saved(1))), turned(inverse(a).x));
  });
  return y;
}

std::pair<Tensor, Tensor> sign_log_determinant(const Tensor& a) {
  check_square("slogdet", "A", a);
  const LuFactors f = empty_factors(a, true);
  factorize(a, f);
  const Tensor sign = empty(batch_sizes(a), a.options()), log = empty(batch_sizes(a), a.options());
  if (!a.is_meta())
    for_determinants(f, [&]<class T>(const T* u, int64_t n, double s, int64_t b) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(u[i * (n + 1)]);
        sum += std::log(std::abs(x));
        s = x < 0 ? -s : x > 0 ? s : x * s;  // 0 and NaN
      }
      sign.data<T>()[b] = static_cast<T>(s);
      log.data<T>()[b] = static_cast<T>(sum);
    });
  record("LinalgSlogdetBackward0", {}, log, {&a}, {&a}, [](Node& node, const Tensor& g) {
    return mul(over_matrices(g), turned(inverse(node.saved(0)).x));
  });
  return {sign, log};
}

}  // namespace zero
