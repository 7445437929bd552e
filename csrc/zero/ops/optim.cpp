// Optimizer steps over all parameters of a group. All checks come before the first write.
#include "zero/ops/optim.h"

#include <algorithm>

#include "zero/autograd/record.h"
#include "zero/ops/iterator.h"
#include "zero/ops/pieces.h"
#include "zero/runtime/denormal.h"

namespace zero {

namespace {

constexpr int64_t kHalfBlock = 512;  // elements of float16 that are float32 at a time

// Same places in memory in the same order, without gaps: element i of one belongs to element i of
// the other.
bool dense_alike(const Tensor& a, const Tensor& b) {
  return (a.is_contiguous() && b.is_contiguous()) ||
         (a.strides() == b.strides() && is_dense(a) && is_dense(b));
}

void check_like(const char* op, const char* what, int64_t i, const Tensor& p, const Dims& sizes,
                const Tensor& x) {
  ZERO_CHECK(x.sizes() == sizes, ShapeError, op, ": the ", what, " of parameter ", i,
             " has another shape; got ", x.sizes(), ", expected ", sizes);
  ZERO_CHECK(x.dtype() == p.dtype(), DTypeError, op, ": the ", what, " of parameter ", i,
             " has another dtype; got ", x.dtype(), ", expected ", p.dtype());
  ZERO_CHECK(x.device() == p.device(), Error, op, ": the ", what, " of parameter ", i,
             " is on another device; got ", x.device(), ", expected ", p.device());
}

void check_number(const char* op, const char* what, int64_t i, const Tensor& x) {
  ZERO_CHECK(x.numel() == 1, ShapeError, op, ": the ", what, " of parameter ", i,
             " is not one number; got shape ", x.sizes(), ", expected ()");
  ZERO_CHECK(!x.is_meta(), Error, op, ": the ", what, " of parameter ", i, " has no value; got ", x,
             ", expected a tensor on the CPU");
}

// float16 and bfloat16 compute in float32 and round at the end.
void update_half(UpdateRule rule, UpdateFn kernel, const OptimizerItem& item, int64_t begin,
                 int64_t n) {
  alignas(64) float blocks[kUpdateArrays][kHalfBlock];
  void* arrays[kUpdateArrays] = {};
  const int half = static_cast<int>(item.dtype), single = static_cast<int>(DType::Float32);
  const int64_t size = itemsize(item.dtype);
  const int64_t in[4] = {sizeof(float), size, 0, 0}, out[4] = {size, sizeof(float), 0, 0};
  for (int k = 0; k < kUpdateArrays; ++k) {
    if (!item.data[k]) continue;
    arrays[k] = blocks[k];
    char* const data[2] = {reinterpret_cast<char*>(blocks[k]), item.data[k] + begin * size};
    kernels().cast[half][single](data, in, n, 1, nullptr);
  }
  kernel(rule, arrays, n, item.args);
  for (int k = 0; k < kUpdateArrays; ++k) {
    if (!item.data[k] || k == 1) continue;  // 1 is the gradient
    char* const data[2] = {item.data[k] + begin * size, reinterpret_cast<char*>(blocks[k])};
    kernels().cast[single][half](data, out, n, 1, nullptr);
  }
}

// Contiguous copies of what no flat loop reaches; they are written back at the end.
struct Copies {
  Tensors views, dense;

  const Tensor& of(const Tensor& x, bool written) {
    if (x.is_contiguous()) return x;
    const Tensor copy = empty(x.sizes(), x.options());
    run_copy(copy, x);
    dense.push_back(copy);
    views.push_back(written ? x : Tensor());
    return dense[dense.size() - 1];
  }
  void write_back() const {
    for (int64_t i = 0; i < views.size(); ++i)
      if (views[i].defined()) run_copy(views[i], dense[i]);
  }
};

bool is_alike(const OptimizerState& state) {
  return state.shape == StateShape::Like || state.shape == StateShape::Vector;
}

// The sizes of a state that is no number.
Dims sizes_of(const OptimizerState& state, const Tensor& p) {
  Dims sizes = p.sizes();
  if (state.shape == StateShape::Rows) sizes[p.dim() - 1] = 1;
  if (state.shape == StateShape::Columns) sizes[p.dim() - 2] = 1;
  return sizes;
}

}  // namespace

void update_range(UpdateRule rule, const OptimizerItem& item, int64_t begin, int64_t end) {
  const UpdateFn kernel = kernels().optimizer->update[compute_index(item.dtype)];
  if (compute_dtype(item.dtype) != item.dtype) {
    for (; begin < end; begin += kHalfBlock)
      update_half(rule, kernel, item, begin, std::min(kHalfBlock, end - begin));
    return;
  }
  void* arrays[kUpdateArrays];
  for (int k = 0; k < kUpdateArrays; ++k)
    arrays[k] = item.data[k] ? item.data[k] + begin * itemsize(item.dtype) : nullptr;
  kernel(rule, arrays, end - begin, item.args);
}

bool share_memory(const std::vector<OptimizerItem>& items) {
  if (items.size() < 2) return false;
  std::vector<std::pair<const char*, const char*>> parts;
  parts.reserve(items.size());
  for (const OptimizerItem& item : items)
    parts.emplace_back(item.data[0], item.data[0] + item.numel * itemsize(item.dtype));
  std::sort(parts.begin(), parts.end());
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].first < parts[i - 1].second) return true;
  return false;
}

void update_items(UpdateRule rule, const std::vector<OptimizerItem>& items) {
  int64_t total = 0;
  for (const OptimizerItem& item : items) total += item.numel;
  const bool parallel = num_threads() > 1 && (total > kUpdateGrain || detail::forced_grain > 0);
  const bool tied = parallel && share_memory(items);  // updated twice, in their order
  const int64_t n = items.size(), each = tied ? 1 : n;
  for (int64_t first = 0; first < n; first += each)
    for_pieces(
        each, [&](int64_t i) { return items[first + i].numel; }, kUpdateGrain,
        [&](int64_t i, int64_t begin, int64_t end, int64_t) {
          update_range(rule, items[first + i], begin, end);
        });
}

void start_states(const OptimizerKind& kind, const double* options, const Tensors& parameters,
                  Tensors& states) {
  const int each = kind.count();
  const DType single = default_dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
  for (int64_t i = 0; i < parameters.size(); ++i) {
    const Tensor& p = parameters[i];
    for (int k = 0; k < each; ++k) {
      Tensor& x = states[i * each + k];
      const OptimizerState& state = kind.states[k];
      if (x.defined() || !is_used(state, options, p)) continue;
      const double value = state.from < 0 ? state.value : options[state.from];
      if (state.shape == StateShape::Number) {
        x = scalar_tensor(Scalar(value), {single, Device()});
      } else {
        x = zero_(is_alike(state) ? empty_like(p, p.options())
                                  : empty(sizes_of(state, p), p.options()));
        if (value != 0) fill_(x, Scalar(value));
      }
    }
  }
}

void optimizer_step(const OptimizerKind& kind, const double* options, const Tensors& parameters,
                    const Tensors& grads, Tensors& states) {
  const int64_t n = parameters.size(), each = kind.count();
  const char* const op = kind.name;
  ZERO_CHECK(grads.size() == n && states.size() == n * each, ValueError, op,
             ": not one gradient and ", each, " states per parameter; got ", grads.size(), " and ",
             states.size(), " for ", n, " parameters");
  int numbers = 0;
  while (numbers < each && kind.states[numbers].shape == StateShape::Number) ++numbers;
  bool incomplete = false;
  for (int64_t i = 0; i < n; ++i) {
    const Tensor &p = parameters[i], &g = grads[i];
    ZERO_CHECK(p.defined() && g.defined(), ValueError, op, ": parameter ", i, " has no gradient");
    ZERO_CHECK(is_floating(p.dtype()), DTypeError, op, ": parameter ", i, " is not floating; got ",
               p.dtype());
    ZERO_CHECK(kind.dims < 0 || p.dim() == kind.dims, ShapeError, op, ": parameter ", i,
               " has another number of dimensions; got ", p.sizes(), ", expected ", kind.dims);
    check_like(op, "gradient", i, p, p.sizes(), g);
    for (int k = 0; k < each; ++k) {
      const Tensor& x = states[i * each + k];
      const OptimizerState& state = kind.states[k];
      if (!is_used(state, options, p)) continue;
      incomplete = incomplete || !x.defined();
      if (!x.defined()) continue;
      if (k < numbers) {
        check_number(op, state.name, i, x);
      } else if (is_alike(state)) {
        check_like(op, state.name, i, p, p.sizes(), x);
      } else {
        check_like(op, state.name, i, p, sizes_of(state, p), x);
      }
      check_inplace(op, x, false);
    }
    check_inplace(op, p, false);
  }

  Tensors made;
  if (incomplete) {
    made = states;
    start_states(kind, options, parameters, made);
  }
  const Tensors& ready = incomplete ? made : states;
  std::vector<OptimizerItem> items(n);
  std::vector<OptimizerNumber> values(n * numbers);
  Copies copies;
  OptimizerTurn turn{options, false, nullptr, {}};
  double last = 0;  // the count of the turn whose constants args has
  for (int64_t i = 0; i < n; ++i) {
    const Tensor* const own = &ready[i * each];
    OptimizerNumber* const number = values.data() + i * numbers;
    for (int k = 0; k < numbers; ++k)
      number[k] = {load_scalar(own[k].data(), own[k].dtype()).to_double(), own[k].dtype()};
    const bool first = !states[i * each + numbers].defined();
    if (i == 0 || first != turn.first || numbers > 1 || (numbers && number[0].value != last)) {
      turn = {options, first, number, {}};
      kind.prepare(turn);
      last = numbers ? number[0].value : 0;
    }
    if (numbers) number[0].set(number[0].value + 1);

    const Tensor& p = parameters[i];
    if (p.is_meta() || p.numel() == 0) continue;
    const Tensor* arrays[kUpdateArrays] = {&p, &grads[i]};
    for (int k = numbers; k < each; ++k)
      if (is_used(kind.states[k], options, p)) arrays[2 + k - numbers] = &own[k];
    bool flat = !kind.whole;  // whose items are in row order
    for (const Tensor* x : arrays) flat = flat && (!x || dense_alike(p, *x));
    OptimizerItem& item = items[i];
    for (int k = 0; k < kUpdateArrays; ++k)
      if (arrays[k])
        item.data[k] = (flat ? *arrays[k] : copies.of(*arrays[k], k != 1)).data<char>();
    item.numel = p.numel();
    if (p.dim() >= 1) item.columns = p.sizes()[p.dim() - 1];
    if (p.dim() >= 2) item.rows = p.sizes()[p.dim() - 2];
    item.dtype = p.dtype();
    item.args = turn.args;
  }

  {
    const DenormalGuard guard;
    if (kind.whole) {
      kind.whole(options, items);
    } else {
      update_items(kind.rule, items);
    }
  }
  copies.write_back();
  for (int64_t i = 0; i < n; ++i) {
    const Tensor* const own = &ready[i * each];
    for (int k = 0; k < each; ++k) {
      if (k < numbers)
        store_scalar(own[k].data(), own[k].dtype(), Scalar(values[i * numbers + k].value));
      if (is_used(kind.states[k], options, parameters[i])) own[k].impl()->version().bump();
    }
    parameters[i].impl()->version().bump();
  }
  if (incomplete) states = std::move(made);
}

void update_(const Tensor& x, const Tensor& delta) {
  const DType dtype = result_type(x, delta);
  ZERO_CHECK(dtype != DType::Bool, DTypeError, "update: not defined for bool; got ", x,
             ", expected numbers");
  ZERO_CHECK(category(dtype) <= category(x.dtype()), DTypeError,
             "update: the difference can't be cast to the dtype of the "
             "tensor; got ",
             delta.dtype(), " for ", x.dtype(), ", expected a dtype it can hold");
  ZERO_CHECK(delta.device() == x.device(), Error, "update: tensors are on two devices; got ",
             delta.device(), " for a tensor on ", x.device(), ", expected one device");
  ZERO_CHECK(expands_to(delta.sizes(), x.sizes()), ShapeError, "update: the shapes differ; got ",
             delta.sizes(), ", expected a shape that broadcasts to ", x.sizes());
  check_inplace("update", x, false);
  if (!x.is_meta() && x.numel() > 0) {
    const Tensor read = overlaps_partly(x, delta) ? clone(detach(delta)) : delta;
    const Operand a(x), b(read);
    run_elementwise(ElementwiseOp::Sub, dtype, x, {&a, &b});
  }
  x.impl()->version().bump();
}

}  // namespace zero
