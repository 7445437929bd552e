// Convolutions as operators. T(x, w, y) = sum of x w y over all products of a convolution is linear
// in each of the three: the convolution is its gradient by y, the transposed one that by x, and the
// weight's gradient that by w. So each operator here is one of T's gradients, and its own gradients
// are the two others.
#include "zero/ops/convolution.h"

#include "zero/autograd/record.h"
#include "zero/ops/autocast.h"
#include "zero/ops/convolve.h"
#include "zero/ops/ops.h"

namespace zero {

namespace {

enum Role : uint8_t { kX, kWeight, kY };

struct Form {
  ConvolutionShape shape;
  int spatial;  // dimensions

  Dims sizes(Role role) const {
    const ConvolutionShape& s = shape;
    const Triple& last = role == kX ? s.in : role == kY ? s.out : s.kernel;
    Dims sizes{s.batch, s.groups * (role == kX ? s.in_channels : s.out_channels)};
    if (role == kWeight) sizes = {s.groups * s.out_channels, s.in_channels};
    for (int d = 3 - spatial; d < 3; ++d) sizes.push_back(last[d]);
    return sizes;
  }
};

// Whether a kernel of one element takes only some elements of x, those at multiples of the stride.
bool thins(const ConvolutionShape& s) {
  const Triple ones{1, 1, 1};
  return s.kernel == ones && s.stride != ones && s.padding == Triple{0, 0, 0};
}
Tensor thinned(const Form& form, Tensor x) {
  for (int d = 0; d < form.spatial; ++d) {
    const int at = 3 - form.spatial + d;
    const int64_t step = form.shape.stride[at];
    x = slice(x, d + 2, 0, (form.shape.out[at] - 1) * step + 1, step);
  }
  return x;
}

// The gradient of T by `result`; a and b are the two others, in the order of Role.
Tensor compute(const Form& form, Role result, const Tensor& a, const Tensor& b,
               const Tensor& bias) {
  const Dims sizes = form.sizes(result);
  if (a.is_meta()) return empty(sizes, a.options());
  const GradModeGuard no_grad(false);
  if (a.numel() == 0 || b.numel() == 0) {  // nothing is summed
    if (!bias.defined()) return zeros(sizes, a.options());
    Dims channels(sizes.size(), 1);
    channels[1] = sizes[1];
    return clone(expand(reshape(bias, channels), sizes));
  }
  if (thins(form.shape) && !(result == kX && bias.defined())) {
    Form part = form;  // of those elements
    part.shape.in = part.shape.out;
    part.shape.stride = {1, 1, 1};
    if (result != kX) return compute(part, result, contiguous(thinned(form, a)), b, bias);
    Tensor x = zeros(sizes, a.options());
    copy_(thinned(form, x), compute(part, kX, a, b, bias));
    return x;
  }
  const DType wide = is_floating(a.dtype()) ? compute_dtype(a.dtype()) : DType::Int64;
  const auto dense = [&](const Tensor& t) { return contiguous(to(t, wide)); };
  const Tensor first = dense(a), second = dense(b);
  const Tensor added = bias.defined() ? dense(bias) : bias;
  const void* const bias_data = added.defined() ? added.data() : nullptr;
  const Tensor out = empty(sizes, first.options());
  switch (result) {
    case kX:
      convolve_transposed(wide, form.shape, second.data(), first.data(), bias_data, out.data());
      break;
    case kWeight: convolve_weight(wide, form.shape, first.data(), second.data(), out.data()); break;
    case kY: convolve(wide, form.shape, first.data(), second.data(), bias_data, out.data()); break;
  }
  return to(out, a.dtype());
}

// The same, recorded.
Tensor product(const Form& form, Role result, const Tensor& a, const Tensor& b);

// The gradient by one of the two operands of product(form, result, a, b), where `g` is that of its
// result and `other` the other operand.
Tensor product_gradient(const Form& form, Role result, Role by, const Tensor& other,
                        const Tensor& g) {
  const Role role = static_cast<Role>(kX + kWeight + kY - result - by);  // of `other`
  return role < result ? product(form, by, other, g) : product(form, by, g, other);
}

Tensor product(const Form& form, Role result, const Tensor& a, const Tensor& b) {
  Tensor y = compute(form, result, a, b, {});
  record("ConvolutionBackwardBackward0", {}, y, {&a, &b},
         {keep(requires_grad(b), a), keep(requires_grad(a), b)},
         [form, result](Node& n, const Tensor& g) {
           const Role first = result == kX ? kWeight : kX, second = result == kY ? kWeight : kY;
           Grads grads(2);
           if (n.needs(0)) grads[0] = product_gradient(form, result, first, n.saved(1), g);
           if (n.needs(1)) grads[1] = product_gradient(form, result, second, n.saved(0), g);
           return grads;
         });
  return y;
}

Dims spatial_sizes(const Tensor& t) { return Dims(t.sizes().begin() + 2, t.sizes().end()); }

// One function for all messages of this form: each of its own would be a kilobyte of code.
template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void reject(const char* op, const char* what,
                                                   const Dims& got, const std::string& expected) {
  fail<E>(op, ": ", what, "; got ", got, ", expected ", expected);
}

void check_tensors(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const ConvolutionOptions& o, int64_t spatial) {
  const int64_t groups = o.groups;
  ZERO_CHECK(groups > 0, ValueError, op, ": groups is not positive; got ", groups,
             ", expected 1 or more");
  if (weight.dim() != spatial + 2)
    reject<ShapeError>(op, "the weight has a wrong number of dimensions", weight.sizes(),
                       std::to_string(spatial + 2));
  if (x.dim() != spatial + 2)
    reject<ShapeError>(op, "the input has a wrong number of dimensions", x.sizes(),
                       std::to_string(spatial + 2) + ", or one less without the batch");
  for (int64_t d = 0; d < spatial; ++d) {
    if (weight.size(d + 2) == 0)
      reject<ShapeError>(op, "the kernel has no elements", weight.sizes(),
                         "1 or more in each spatial dimension");
    if (o.stride[d] <= 0) reject<ValueError>(op, "stride is not positive", o.stride, "1 or more");
    if (o.dilation[d] <= 0)
      reject<ValueError>(op, "dilation is not positive", o.dilation, "1 or more");
    for (const Dims* option : {&o.stride, &o.dilation, &o.padding})  // so that sums don't overflow
      if ((*option)[d] > INT32_MAX)
        reject<ValueError>(op, "an option is too large", *option, "less than 2**31");
    if (o.padding[d] < 0) reject<ValueError>(op, "padding is negative", o.padding, "0 or more");
  }
  if (!(weight.size(0) % groups == 0 && weight.size(0) > 0))
    reject<ShapeError>(
        op, "groups does not divide the weight", weight.sizes(),
        "a first size that is a multiple of groups, which is " + std::to_string(groups));
  const int64_t channels = o.transposed ? weight.size(0) : weight.size(1) * groups;
  ZERO_CHECK(x.size(1) == channels, ShapeError, op, ": the channels differ; got input ", x.sizes(),
             " and weight ", weight.sizes(), " with groups=", groups, ", expected an input of ",
             channels, " channels");
  ZERO_CHECK(x.dtype() != DType::Bool, DTypeError, op,
             ": not defined for bool, expected floats or integers");
  for (const Tensor* t : {&weight, &bias}) {
    if (!t->defined()) continue;
    const char* const name = t == &bias ? "bias" : "weight";
    ZERO_CHECK(t->dtype() == x.dtype(), DTypeError, op, ": the dtypes differ; got input ",
               x.dtype(), " and ", name, " ", t->dtype(), ", expected one dtype");
    ZERO_CHECK(t->device() == x.device(), Error, op, ": devices differ; got input on ", x.device(),
               " and ", name, " on ", t->device(), ", expected one device");
  }
  const int64_t results = o.transposed ? weight.size(1) * groups : weight.size(0);
  if (bias.defined() && !(bias.sizes() == Dims{results}))
    reject<ShapeError>(op, "the bias does not fit", bias.sizes(),
                       "(" + std::to_string(results) + ",)");
}

// The sizes of T's three tensors; checks that the result has elements in each spatial dimension.
Form form_of(const char* op, const Tensor& x, const Tensor& weight, const ConvolutionOptions& o,
             int64_t spatial) {
  Form form{{}, static_cast<int>(spatial)};
  ConvolutionShape& s = form.shape;
  s = {x.size(0), o.groups,  weight.size(1), weight.size(0) / o.groups,
       {1, 1, 1}, {1, 1, 1}, {1, 1, 1},      {1, 1, 1},
       {0, 0, 0}, {1, 1, 1}};
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t d = 3 - spatial + i, size = x.size(i + 2);
    const int64_t reach = o.dilation[i] * (weight.size(i + 2) - 1);
    s.kernel[d] = weight.size(i + 2);
    s.stride[d] = o.stride[i];
    s.padding[d] = o.padding[i];
    s.dilation[d] = o.dilation[i];
    const int64_t pads = o.padding[i] + o.padding_after[i];
    if (o.transposed) {
      const int64_t added = o.output_padding[i];
      if (added < 0 || (added >= o.stride[i] && added >= o.dilation[i]))
        reject<ValueError>(op, "output_padding does not fit", o.output_padding,
                           "each to be less than the stride or the dilation");
      s.out[d] = size;
      s.in[d] = (size - 1) * o.stride[i] - pads + reach + added + 1;
      ZERO_CHECK(size > 0 && s.in[d] > 0, ShapeError, op,
                 ": the result would have no elements; got input ", x.sizes(), ", weight ",
                 weight.sizes(), ", stride ", o.stride, ", padding ", o.padding,
                 ", expected a size of 1 or more in dimension ", i + 2);
    } else {
      ZERO_CHECK(size + pads > reach, ShapeError, op,
                 ": the kernel is larger than the padded input; got ", size + pads,
                 " in dimension ", i + 2, " of ", spatial_sizes(x), " with padding ", o.padding,
                 ", expected at least ", reach + 1, " for a kernel ", spatial_sizes(weight),
                 " with dilation ", o.dilation);
      s.in[d] = size;
      s.out[d] = (size + pads - reach - 1) / o.stride[i] + 1;
    }
  }
  return form;
}

}  // namespace

Tensor convolution(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const ConvolutionOptions& o) {
  if (autocast_on) return autocast(CastTo::Lower, convolution, op, x, weight, bias, o);
  const int64_t spatial = o.stride.size();
  if (x.dim() == spatial + 1)
    return squeeze(convolution(op, unsqueeze(x, 0), weight, bias, o), {0});
  check_tensors(op, x, weight, bias, o, spatial);
  const Form form = form_of(op, x, weight, o, spatial);
  const Role result = o.transposed ? kX : kY;
  Tensor y = o.transposed ? compute(form, kX, weight, x, bias) : compute(form, kY, x, weight, bias);
  record("ConvolutionBackward0", {}, y, {&x, &weight, &bias},
         {keep(requires_grad(weight), x), keep(requires_grad(x), weight)},
         [form, result](Node& n, const Tensor& g) {
           Grads grads(3);
           const Role input = result == kY ? kX : kY;
           if (n.needs(0)) grads[0] = product_gradient(form, result, input, n.saved(1), g);
           if (n.needs(1)) grads[1] = product_gradient(form, result, kWeight, n.saved(0), g);
           if (n.needs(2)) {
             Dims all_but_channels{0};
             for (int64_t d = 2; d < g.dim(); ++d) all_but_channels.push_back(d);
             grads[2] = sum(g, all_but_channels);
           }
           return grads;
         });
  return y;
}

}  // namespace zero
