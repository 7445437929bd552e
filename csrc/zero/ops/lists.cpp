#include "zero/ops/lists.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "zero/autograd/record.h"
#include "zero/ops/iterator.h"
#include "zero/ops/pieces.h"
#include "zero/runtime/denormal.h"

namespace zero {

namespace {

// ---- norms --------------------------------------------------------------------------------------

constexpr int64_t kBlock = 1024;
constexpr double kInf = std::numeric_limits<double>::infinity();

// What one p-norm adds up, or takes the largest or smallest of, in float64.
class Norm {
 public:
  explicit Norm(double p) : p_(p) {}

  double none() const { return p_ == -kInf ? kInf : 0; }

  double joined(double a, double b) const {
    if (!std::isinf(p_) || a != a || b != b) return a + b;
    return p_ > 0 ? std::max(a, b) : std::min(a, b);
  }

  double root(double total) const {
    return p_ == 2 ? std::sqrt(total) : is_power() ? std::pow(total, 1 / p_) : total;
  }

  // Elements [begin, end) of a dense tensor.
  double of_piece(const Tensor& x, int64_t begin, int64_t end) const {
    const DType own = x.dtype();
    const DType dtype = is_power() ? DType::Float64 : compute_dtype(own);  // powers overflow
    const char* const values = x.data<char>() + begin * itemsize(own);
    if (p_ == 2 && own == dtype)
      return kernels().squares[static_cast<int>(compute_type(dtype))](values, end - begin);
    double total = none();
    for (int64_t i = 0; i < end - begin; i += kBlock)
      total = joined(total, of_block(values + i * itemsize(own), std::min(kBlock, end - begin - i),
                                     own, dtype));
    return total;
  }

 private:
  bool is_power() const { return p_ != 0 && p_ != 1 && p_ != 2 && !std::isinf(p_); }

  double of_block(const char* x, int64_t n, DType own, DType dtype) const {
    const KernelTable& table = kernels();
    const int type = static_cast<int>(compute_type(dtype));
    const int64_t item = itemsize(dtype);
    alignas(64) char block[kBlock * sizeof(double)];
    char *values = const_cast<char*>(x), number[sizeof(double)];  // only read
    if (own != dtype) {
      char* const data[] = {block, values};
      const int64_t strides[] = {item, itemsize(own), 0, 0};
      table.cast[static_cast<int>(own)][static_cast<int>(dtype)](data, strides, n, 1, nullptr);
      values = block;
    }
    const auto map = [&](ElementwiseOp op) {  // of the values, and the number
      char* const data[] = {block, values, number};
      const int64_t strides[6] = {item, item};
      table.elementwise[static_cast<int>(op)][type](data, strides, n, 1, nullptr);
      values = block;
    };
    if (p_ == 2) return table.squares[type](values, n);
    if (p_ != 0) map(ElementwiseOp::Abs);
    if (is_power()) {
      store_scalar(number, dtype, Scalar(p_));
      map(ElementwiseOp::Pow);
    }
    const ReduceOp op = p_ == 0       ? ReduceOp::Nonzero
                        : p_ == kInf  ? ReduceOp::Max
                        : p_ == -kInf ? ReduceOp::Min
                                      : ReduceOp::Sum;
    const ReduceDim dim{n, item, 1};
    alignas(kMaxStateSize) char state[kMaxStateSize];
    table.reduce[static_cast<int>(op)][type].fold({values, 1, 0, &dim, 1, false, nullptr, 0},
                                                  state);
    const auto read = [&]<class T>(T value) {
      std::memcpy(&value, state, sizeof value);
      return static_cast<double>(value);
    };
    if (p_ == 0) return read(int64_t{});
    return std::isinf(p_) && dtype == DType::Float32 ? read(float{}) : read(double{});
  }

  double p_;
};

void check_floats(const char* op, const Tensors& tensors) {
  for (int64_t i = 0; i < tensors.size(); ++i) {
    ZERO_CHECK(is_floating(tensors[i].dtype()), DTypeError, op, ": tensor ", i,
               " has no floating point numbers; got ", tensors[i]);
    ZERO_CHECK(tensors[i].device() == tensors[0].device(), Error, op,
               ": tensors are on two devices; got ", tensors[0].device(), " and ",
               tensors[i].device(), ", expected one");
  }
}

double norm_of(const Tensors& tensors, double p) {
  bool all_dense = true;
  for (const Tensor& x : tensors) all_dense &= is_dense(x);
  Tensors copies;
  if (!all_dense) {
    const GradModeGuard no_grad(false);
    for (const Tensor& x : tensors) copies.push_back(is_dense(x) ? x : contiguous(x));
  }
  const Tensors& dense = all_dense ? tensors : copies;
  const auto size = [&](int64_t i) { return dense[i].numel(); };
  const Norm norm(p);
  const DenormalGuard guard(flush_denormal() && p != 0);
  SmallVector<double, 16> parts(count_pieces(dense.size(), size));
  for_pieces(dense.size(), size, kGrainSize,
             [&](int64_t i, int64_t begin, int64_t end, int64_t piece) {
               parts[piece] = norm.of_piece(dense[i], begin, end);
             });
  double total = norm.none();
  for (int64_t i = 0, piece = 0; i < dense.size(); ++i) {
    double one = norm.none();
    for (int64_t n = count_pieces(1, [&](int64_t) { return size(i); }); n > 0; --n)
      one = norm.joined(one, parts[piece++]);
    total = norm.joined(total, p == 0 ? static_cast<double>(one != 0) : one);
  }
  return norm.root(total);
}

// ---- writes -------------------------------------------------------------------------------------

// Whether element i of one belongs to element i of the other, in the order of memory.
bool dense_alike(const Tensor& a, const Tensor& b) {
  return (a.is_contiguous() && b.is_contiguous()) || (a.strides() == b.strides() && is_dense(a));
}

// Whether a tensor that is written may share memory with another one of both lists.
bool may_overlap(const Tensors& written, const Tensors* read) {
  struct Range {
    const char *begin, *end;
    bool written;
  };
  std::vector<Range> ranges;
  const auto add = [&](const Tensor& x, bool is_written) {
    int64_t last = 0;
    for (int64_t d = 0; d < x.dim(); ++d) last += (x.size(d) - 1) * x.stride(d);
    const char* begin = x.data<char>();
    if (x.numel() > 0)
      ranges.push_back({begin, begin + (last + 1) * itemsize(x.dtype()), is_written});
  };
  for (const Tensor& x : written) add(x, true);
  if (read)
    for (const Tensor& x : *read) add(x, false);
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  const char* written_to = nullptr;  // the last byte so far
  const char* read_to = nullptr;
  for (const Range& r : ranges) {
    if (r.begin < written_to || (r.written && r.begin < read_to)) return true;
    (r.written ? written_to : read_to) = std::max(r.written ? written_to : read_to, r.end);
  }
  return false;
}

// tensors[i] = op(tensors[i], others[i], number) in place; the last two where they are given.
struct ListOp {
  const char* name;
  ElementwiseOp op;
  const double* number = nullptr;
  const void* params = nullptr;
};

void write_each(const ListOp& todo, const Tensors& tensors, const Tensors* others = nullptr) {
  check_floats(todo.name, tensors);
  for (const Tensor& x : tensors) check_inplace(todo.name, x, false);
  const int64_t n = tensors.size();
  if (n > 0 && !tensors[0].is_meta()) {
    const DenormalGuard guard;
    int64_t total = 0;
    for (const Tensor& x : tensors) total += x.numel();
    const bool one_by_one = total > kGrainSize && may_overlap(tensors, others);
    for (int64_t first = 0; first < n; first = one_by_one ? first + 1 : n) {
      const int64_t count = one_by_one ? 1 : n;
      const auto flat = [&](int64_t i) {
        const Tensor& x = tensors[first + i];
        return compute_dtype(x.dtype()) == x.dtype() &&
               (others ? dense_alike(x, (*others)[first + i]) : is_dense(x));
      };
      for_pieces(
          count, [&](int64_t i) { return flat(i) ? tensors[first + i].numel() : 0; }, kGrainSize,
          [&](int64_t i, int64_t begin, int64_t end, int64_t) {
            const Tensor& x = tensors[first + i];
            const int64_t item = itemsize(x.dtype());
            char* const own = x.data<char>() + begin * item;
            char number[sizeof(double)];
            if (todo.number) store_scalar(number, x.dtype(), Scalar(*todo.number));
            char* const other = others ? (*others)[first + i].data<char>() + begin * item : number;
            char* const data[] = {own, own, other, number};
            const int64_t strides[8] = {item, item, others ? item : 0};
            kernels()
                .elementwise[static_cast<int>(todo.op)][static_cast<int>(compute_type(x.dtype()))](
                    data, strides, end - begin, 1, todo.params);
          });
      for (int64_t i = 0; i < count; ++i) {
        if (flat(i)) continue;
        const Tensor& x = tensors[first + i];
        const Operand own = x, number = Scalar(todo.number ? *todo.number : 0);
        if (others) {
          const Operand other = (*others)[first + i];
          run_elementwise(todo.op, x.dtype(), x, {&own, &other, &number}, todo.params);
        } else if (todo.number) {
          run_elementwise(todo.op, x.dtype(), x, {&own, &number}, todo.params);
        } else {
          run_elementwise(todo.op, x.dtype(), x, {&own}, todo.params);
        }
      }
    }
  }
  for (const Tensor& x : tensors) x.impl()->version().bump();
}

}  // namespace

Tensor total_norm(const char* op, const Tensors& tensors, double p, bool must_be_finite) {
  check_floats(op, tensors);
  TensorOptions options;
  for (int64_t i = 0; i < tensors.size(); ++i)
    options = {i == 0 ? tensors[i].dtype() : promote(options.dtype, tensors[i].dtype()),
               tensors[i].device()};
  Tensor result = empty({}, options);
  if (!result.is_meta())
    store_scalar(result.data(), options.dtype, Scalar(tensors.empty() ? 0.0 : norm_of(tensors, p)));
  if (must_be_finite) {
    ZERO_CHECK(!result.is_meta(), Error, op,
               ": tensors on meta have no norm that could be checked");
    const double value = load_scalar(result.data(), options.dtype).to_double();
    ZERO_CHECK(std::isfinite(value), Error, op, ": the norm of order ", p, " is ", value,
               ", expected a finite one; error_if_nonfinite=False lets it pass");
  }
  return result;
}

void clip_to_norm_(const char* op, const Tensors& tensors, double max_norm, const Tensor& norm) {
  ZERO_CHECK(norm.numel() == 1 && is_floating(norm.dtype()), ShapeError, op,
             ": the norm is not one number; got ", norm);
  double factor = 0;
  if (!norm.is_meta()) {
    factor = max_norm / (load_scalar(norm.data(), norm.dtype()).to_double() + 1e-6);
    if (factor >= 1) return;  // nothing would change, so no write is counted
  }
  write_each({op, ElementwiseOp::Mul, &factor}, tensors);
}

void clip_to_range_(const char* op, const Tensors& tensors, double low, double high) {
  const ClampParams params{low, high, 0, 0};
  write_each({op, ElementwiseOp::Clamp, nullptr, &params}, tensors);
}

void foreach_lerp_(const Tensors& tensors, const Tensors& ends, double weight) {
  const char* const op = "_foreach_lerp_";
  ZERO_CHECK(ends.size() == tensors.size(), ValueError, op, ": the lists differ in length; got ",
             tensors.size(), " and ", ends.size());
  for (int64_t i = 0; i < tensors.size(); ++i) {
    const Tensor &x = tensors[i], &end = ends[i];
    ZERO_CHECK(end.sizes() == x.sizes(), ShapeError, op, ": the shapes of pair ", i,
               " differ; got ", x.sizes(), " and ", end.sizes());
    ZERO_CHECK(end.dtype() == x.dtype() && end.device() == x.device(), DTypeError, op,
               ": the dtypes or devices of pair ", i, " differ; got ", x, " and ", end);
    check_overlap(op, x, end, Overlap::Partial);
    ZERO_CHECK(!grad_enabled() || !(requires_grad(x) || requires_grad(end)), Error, op,
               ": is not recorded; got a tensor that requires grad in pair ", i,
               ", expected zero.no_grad()");
  }
  write_each({op, ElementwiseOp::Lerp, &weight}, tensors, &ends);
}

}  // namespace zero
