#include "zero/ops/iterator.h"

#include <cstring>

#include "zero/ops/map.h"
#include "zero/runtime/denormal.h"

namespace zero {

StridedLoop::StridedLoop(const Tensor* const* operands, int n)
    : operands_(n), numel_(operands[0]->numel()) {
  const Dims& sizes = operands[0]->sizes();
  const int64_t ndim = sizes.size();
  for (int k = 0; k < n; ++k) data_[k] = static_cast<char*>(operands[k]->data());
  for (int64_t d = ndim - 1; d >= 0; --d) {
    if (sizes[d] == 1) continue;
    Dim dim{sizes[d], {}};
    for (int k = 0; k < n; ++k) {
      const Tensor& x = *operands[k];
      const int64_t own = d - (ndim - x.dim());
      const bool moves = own >= 0 && x.size(own) != 1;
      dim.strides[k] = moves ? x.stride(own) * itemsize(x.dtype()) : 0;
    }
    dims_.push_back(dim);
  }
  coalesce();
}

void StridedLoop::coalesce() {
  if (dims_.empty()) dims_.push_back({1, {}});
  // Innermost goes the dimension with the smallest stride of the output, then of the inputs.
  auto inner = [&](const Dim& a, const Dim& b) {
    for (int k = 0; k < operands_; ++k)
      if (a.strides[k] && b.strides[k] && a.strides[k] != b.strides[k])
        return a.strides[k] < b.strides[k];
    return false;
  };
  for (int64_t i = 1; i < dims_.size(); ++i)
    for (int64_t j = i; j > 0 && inner(dims_[j], dims_[j - 1]); --j)
      std::swap(dims_[j], dims_[j - 1]);
  int64_t last = 0;
  for (int64_t i = 1; i < dims_.size(); ++i) {
    bool merges = true;
    for (int k = 0; k < operands_; ++k)
      merges &= dims_[i].strides[k] == dims_[last].strides[k] * dims_[last].size;
    if (merges)
      dims_[last].size *= dims_[i].size;
    else
      dims_[++last] = dims_[i];
  }
  dims_.resize(last + 1);
}

namespace {

constexpr int64_t kBlock =
    512;  // elements converted at a time: four operands of 8 bytes are 16 KB, half of L1

constexpr bool is_compare(ElementwiseOp op) {
#define ZERO_COMPARE_CASE(name, types) case ElementwiseOp::name:
  switch (op) {
    ZERO_UNARY_COMPARE_OPS(ZERO_COMPARE_CASE)
    ZERO_POINTWISE_COMPARE_OPS(ZERO_COMPARE_CASE)
    ZERO_BINARY_COMPARE_OPS(ZERO_COMPARE_CASE) return true;
    default: return false;
  }
#undef ZERO_COMPARE_CASE
}

// Results that are exact keep denormals; flushing is for arithmetic.
constexpr bool is_exact(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::Where:
    case ElementwiseOp::Neg:
    case ElementwiseOp::Abs:
    case ElementwiseOp::Sign:
    case ElementwiseOp::Maximum:
    case ElementwiseOp::Minimum:
    case ElementwiseOp::Fmax:
    case ElementwiseOp::Fmin:
    case ElementwiseOp::Copysign:
    case ElementwiseOp::Heaviside:
    case ElementwiseOp::Nextafter:
    case ElementwiseOp::NanToNum:
    case ElementwiseOp::Angle:
    case ElementwiseOp::FrexpMantissa:
    case ElementwiseOp::FrexpExponent:
    case ElementwiseOp::ClampBoth: return true;
    default: return is_compare(op);
  }
}

constexpr int64_t grain_of(ElementwiseOp op) {
#define ZERO_SPECIAL_CASE(name) case ElementwiseOp::name:
  switch (op) {
    ZERO_SPECIAL_UNARY_OPS(ZERO_SPECIAL_CASE)
    ZERO_SPECIAL_BINARY_OPS(ZERO_SPECIAL_CASE) return kGrainSize / 8;
    case ElementwiseOp::Exp:
    case ElementwiseOp::Log:
    case ElementwiseOp::Tanh:
    case ElementwiseOp::Sigmoid:
    case ElementwiseOp::Pow:
    case ElementwiseOp::Sin:
    case ElementwiseOp::Cos:
    case ElementwiseOp::LogAddExp:
    case ElementwiseOp::LogAddExp2:
    case ElementwiseOp::Xlogy:
    case ElementwiseOp::Xlog1py:
    case ElementwiseOp::Gcd:
    case ElementwiseOp::Lcm: return kGrainSize / 4;
    default: return kGrainSize;
  }
#undef ZERO_SPECIAL_CASE
}

// A kernel with what converts its operands: the iterator's inner loop.
struct Loop {
  LoopFn kernel;
  const void* params;
  int operands;
  LoopFn convert[kMaxOperands];  // null where the dtype is the kernel's
  int64_t item[kMaxOperands];    // bytes of the kernel's own elements
  bool converts = false;

  void operator()(char* const* data, const int64_t* strides, int64_t n0, int64_t n1) const {
    if (!converts) return kernel(data, strides, n0, n1, params);
    // Blocks of as many short rows as make one; squarer ones where an operand runs along n1.
    bool turned = false;
    for (int k = 0; k < operands; ++k)
      turned |= convert[k] && strides[operands + k] != 0 && strides[k] > strides[operands + k];
    const int64_t columns = std::min<int64_t>(n0, turned && n1 > 1 ? 32 : kBlock);
    const int64_t rows = std::min(n1, kBlock / columns);
    alignas(64) char buffers[kMaxOperands][kBlock * 8];
    for (int64_t j = 0; j < n1; j += rows)
      for (int64_t i = 0; i < n0; i += columns)
        run_block(data, strides, i, j, std::min(columns, n0 - i), std::min(rows, n1 - j), buffers);
  }

 private:
  // `columns` elements of `rows` rows, from element i of row j on.
  void run_block(char* const* data, const int64_t* strides, int64_t i, int64_t j, int64_t columns,
                 int64_t rows, char (*buffers)[kBlock * 8]) const {
    char* own[kMaxOperands];
    char* block[kMaxOperands];
    int64_t block_strides[2 * kMaxOperands];
    for (int k = 0; k < operands; ++k) {
      const int64_t inner = strides[k], outer = strides[operands + k];
      own[k] = data[k] + i * inner + j * outer;
      block[k] = own[k];
      block_strides[k] = inner;
      block_strides[operands + k] = outer;
      if (!convert[k]) continue;
      block[k] = buffers[k];
      const bool wide = inner != 0 || k == 0, high = outer != 0 || k == 0;  // else it repeats
      const int64_t row = (wide ? columns : 1) * item[k];
      block_strides[k] = wide ? item[k] : 0;
      block_strides[operands + k] = high ? row : 0;
      if (k == 0) continue;
      char* pair[2] = {buffers[k], own[k]};
      const int64_t pair_strides[4] = {item[k], inner, row, outer};
      convert[k](pair, pair_strides, wide ? columns : 1, high ? rows : 1, nullptr);
    }
    kernel(block, block_strides, columns, rows, params);
    if (!convert[0]) return;
    char* pair[2] = {own[0], buffers[0]};
    const int64_t pair_strides[4] = {strides[0], item[0], strides[operands], columns * item[0]};
    convert[0](pair, pair_strides, columns, rows, nullptr);
  }
};

// One value everywhere, as an expanded gradient has it.
bool is_one_value(const Tensor& x) {
  if (x.numel() == 1) return true;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (x.stride(d) != 0 && x.size(d) != 1) return false;
  return true;
}

// Operands of one long inner loop.
struct Flat {
  char* data[kMaxOperands];
  int64_t strides[2 * kMaxOperands] = {};
  int operands = 0;

  void add(char* first, int64_t stride) {
    data[operands] = first;
    strides[operands++] = stride;
  }
};

[[gnu::noinline]] void run_flat_in_parts(LoopFn kernel, const Flat& flat, int64_t n, int64_t grain,
                                         const void* params) {
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    char* part[kMaxOperands];
    for (int k = 0; k < flat.operands; ++k) part[k] = flat.data[k] + begin * flat.strides[k];
    kernel(part, flat.strides, end - begin, 1, params);
  });
}

// A kernel as the functions below need it: `first` is the dtype of the first input, `exact` keeps
// denormals.
struct Kernel {
  LoopFn loop;
  DType first, inputs, result;
  int64_t grain;
  bool exact;
};

// The short way: every tensor is contiguous, of the kernel's dtype and of the output's shape or one
// number. Most calls end here, and a call on few elements must cost little. False, and nothing
// done, where that doesn't hold.
bool run_flat(const Kernel& kernel, const Tensor& out, std::initializer_list<const Operand*> inputs,
              const void* params) {
  if (!out.is_contiguous() || out.dtype() != kernel.result) return false;
  Flat flat;
  int64_t numbers[kMaxOperands];
  flat.add(out.data<char>(), itemsize(kernel.result));
  const int64_t n = out.numel();
  for (const Operand* input : inputs) {
    const DType wanted = flat.operands == 1 ? kernel.first : kernel.inputs;
    const Tensor& x = input->tensor();
    if (!x.defined()) {
      int64_t* number = &numbers[flat.operands];
      store_scalar(number, wanted, input->scalar());
      flat.add(reinterpret_cast<char*>(number), 0);
      continue;
    }
    if (x.dtype() != wanted) return false;
    if (x.is_contiguous() && x.numel() == n) {  // x broadcasts to out, so the shape is the same
      flat.add(x.data<char>(), itemsize(wanted));
    } else if (is_one_value(x)) {
      flat.add(x.data<char>(), 0);
    } else {
      return false;
    }
  }
  DenormalGuard guard(flush_denormal() && !kernel.exact);
  if (n <= kBlock && !detail::forced_grain) {
    kernel.loop(flat.data, flat.strides, n, 1, params);
  } else {
    run_flat_in_parts(kernel.loop, flat, n, kernel.grain, params);
  }
  return true;
}

[[gnu::noinline]] bool writes_what_it_reads(const Tensor& out,
                                            std::initializer_list<const Operand*> inputs) {
  for (const Operand* input : inputs)
    if (input->is_tensor() && overlaps_partly(out, input->tensor())) return true;
  return false;
}

void run_kernel(const Kernel& kernel, const Tensor& out,
                std::initializer_list<const Operand*> inputs, const void* params) {
  if (out.impl()->storage_->use_count() > 1 && writes_what_it_reads(out, inputs)) [[unlikely]] {
    const Tensor fresh = empty(out.sizes(), out.options());  // all is read before a write
    run_kernel(kernel, fresh, inputs, params);
    return run_copy(out, fresh);
  }
  if (run_flat(kernel, out, inputs, params)) return;

  const KernelTable& table = kernels();
  Loop loop{kernel.loop, params, 1, {}, {}};
  loop.item[0] = itemsize(kernel.result);
  if (out.dtype() != kernel.result)
    loop.convert[0] = table.cast[static_cast<int>(kernel.result)][static_cast<int>(out.dtype())];
  int64_t numbers[kMaxOperands];
  Tensor number_views[kMaxOperands];  // numbers join as 0-d tensors over foreign memory
  const Tensor* tensors[kMaxOperands] = {&out};
  for (const Operand* input : inputs) {
    const int k = loop.operands++;
    const DType wanted = k == 1 ? kernel.first : kernel.inputs;
    loop.item[k] = itemsize(wanted);
    if (input->is_tensor()) {
      tensors[k] = &input->tensor();
      const DType own = tensors[k]->dtype();
      if (own != wanted)
        loop.convert[k] = table.cast[static_cast<int>(own)][static_cast<int>(wanted)];
    } else {
      store_scalar(&numbers[k], wanted, input->scalar());
      auto storage = make_ref<Storage>(&numbers[k], sizeof(int64_t), [](void*) {}, nullptr);
      number_views[k] = Tensor(make_ref<TensorImpl>(std::move(storage), Dims(), wanted, 1));
      tensors[k] = &number_views[k];
    }
  }
  for (int k = 0; k < loop.operands; ++k) loop.converts |= loop.convert[k] != nullptr;
  DenormalGuard guard(flush_denormal() && !kernel.exact);
  StridedLoop(tensors, loop.operands).run(kernel.grain, loop);
}

}  // namespace

void run_elementwise(ElementwiseOp op, DType dtype, const Tensor& out,
                     std::initializer_list<const Operand*> inputs, const void* params) {
  if (out.is_meta() || out.numel() == 0) return;
  const LoopFn loop =
      kernels().elementwise[static_cast<int>(op)][static_cast<int>(compute_type(dtype))];
  ZERO_CHECK(loop, NotImplementedError, "elementwise: no kernel for ", dtype);
  const DType compute = compute_dtype(dtype);
  const Kernel kernel{loop,         op == ElementwiseOp::Where ? DType::Bool : compute,
                      compute,      is_compare(op) ? DType::Bool : compute,
                      grain_of(op), is_exact(op)};
  run_kernel(kernel, out, inputs, params);
}

void run_map(const DenseFn (&loops)[kNumComputeTypes], int cost, DType dtype, const Tensor& out,
             std::initializer_list<const Operand*> inputs, const void* params) {
  if (out.is_meta() || out.numel() == 0) return;
  const DType compute = compute_dtype(dtype);
  const int type = static_cast<int>(compute_type(dtype));
  const DenseMap map{loops[type], params};
  const LoopFn loop = kernels().activation->maps.of_inputs[inputs.size()][type];
  run_kernel({loop, compute, compute, compute, kGrainSize / cost, false}, out, inputs, &map);
}

void run_copy(const Tensor& out, const Tensor& in) {
  if (out.is_meta() || out.numel() == 0) return;
  const LoopFn cast = kernels().cast[static_cast<int>(in.dtype())][static_cast<int>(out.dtype())];
  const Tensor* operands[] = {&out, &in};
  StridedLoop(operands, 2)
      .run(kGrainSize, [cast](char* const* data, const int64_t* strides, int64_t n0, int64_t n1) {
        cast(data, strides, n0, n1, nullptr);
      });
}

// Strides below 0 live only here: no tensor that others see has them.
void run_reversed_copy(const Tensor& out, const Tensor& in, const Dims& dims) {
  if (out.is_meta() || out.numel() == 0) return;
  Dims strides = in.strides();
  int64_t offset = in.storage_offset();
  for (int64_t d : dims) {
    offset += (in.size(d) - 1) * strides[d];
    strides[d] = -strides[d];
  }
  run_copy(out, Tensor(make_ref<TensorImpl>(in.impl()->storage_, in.sizes(), std::move(strides),
                                            offset, in.dtype())));
}

void store_scalar(void* where, DType dtype, const Scalar& value) {
  const KernelTable& table = kernels();
  const bool real = value.is_float();
  double f = value.to_double();
  int64_t i = real ? 0 : value.to_int();
  if (real && dtype == DType::Float64) return void(std::memcpy(where, &f, sizeof f));
  if (real && dtype == DType::Float32) {
    const float narrow = static_cast<float>(f);
    return void(std::memcpy(where, &narrow, sizeof narrow));
  }
  if (!real && dtype == DType::Int64) return void(std::memcpy(where, &i, sizeof i));
  char* data[2] = {static_cast<char*>(where),
                   real ? reinterpret_cast<char*>(&f) : reinterpret_cast<char*>(&i)};
  const int64_t strides[4] = {};
  table.cast[static_cast<int>(real ? DType::Float64 : DType::Int64)][static_cast<int>(dtype)](
      data, strides, 1, 1, nullptr);
}

Scalar load_scalar(const void* where, DType dtype) {
  const bool real = is_floating(dtype);
  double f = 0;
  int64_t i = 0;
  char* data[2] = {real ? reinterpret_cast<char*>(&f) : reinterpret_cast<char*>(&i),
                   static_cast<char*>(const_cast<void*>(where))};
  const int64_t strides[4] = {};
  kernels().cast[static_cast<int>(dtype)][static_cast<int>(real ? DType::Float64 : DType::Int64)](
      data, strides, 1, 1, nullptr);
  if (real) return Scalar(f);
  return dtype == DType::Bool ? Scalar(i != 0) : Scalar(i);
}

}  // namespace zero
