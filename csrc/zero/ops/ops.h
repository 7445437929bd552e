// The index of the library: every operator of the core. Those of layers have headers of their own
// beside this one: activation, batch_norm, convolution, embedding, loss, pooling, resample.
//
// An op is written as: check -> infer the shape -> allocate -> run kernels -> record. Names,
// arguments and meanings are PyTorch's. Where a `Target` is taken, the result goes into a new
// tensor by default, into `self` with Target::inplace(self) (x.mul_(y)), or into another with
// Target::out(t) (out=t).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "zero/autograd/inplace.h"
#include "zero/core/generator.h"
#include "zero/core/tensor.h"

namespace zero {

// A tensor, or a Python number that takes part without becoming one. An argument type: it borrows
// the tensor.
class Operand {
 public:
  Operand() = default;  // the number 0
  Operand(const Tensor& t) : tensor_(&t) {}
  Operand(const Scalar& s) : scalar_(s) {}
  Operand(double s) : scalar_(s) {}
  Operand(int s) : scalar_(s) {}

  bool is_tensor() const { return tensor_->defined(); }
  const Tensor& tensor() const { return *tensor_; }  // undefined for a number
  const Scalar& scalar() const { return scalar_; }

 private:
  static inline const Tensor no_tensor_;
  const Tensor* tensor_ = &no_tensor_;
  Scalar scalar_;
};

enum class Reduction : uint8_t { None, Mean, Sum };

// What a write to places does with the numbers there.
enum class Combine : uint8_t { Assign, Add, Mul, Mean, Max, Min };

// The dtype of an op on several operands: PyTorch's rules for tensors, 0-d tensors and numbers.
DType result_type(const Operand& a, const Operand& b);
DType result_type(std::initializer_list<const Operand*> operands);

// ---- creation.cpp -------------------------------------------------------------------------------
Tensor zeros(const Dims& sizes, TensorOptions options = {});
Tensor ones(const Dims& sizes, TensorOptions options = {});
Tensor full(const Dims& sizes, const Scalar& value, TensorOptions options);
Tensor scalar_tensor(const Scalar& value, TensorOptions options);
Tensor empty_like(const Tensor& x,
                  TensorOptions options);  // keeps dense strides, as PyTorch's preserve_format
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, TensorOptions options);
// `steps` values from start to end, both included; logspace gives base to their power.
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, TensorOptions options);
Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                TensorOptions options);
Tensor eye(int64_t rows, int64_t columns, TensorOptions options = {});
Tensor rand(const Dims& sizes, TensorOptions options = {}, Generator* generator = nullptr);
Tensor randn(const Dims& sizes, TensorOptions options = {}, Generator* generator = nullptr);
Tensor randint(int64_t low, int64_t high, const Dims& sizes, TensorOptions options,
               Generator* generator = nullptr);
Tensor randperm(int64_t n, TensorOptions options, Generator* generator = nullptr);
// `value` with probability p, else 0.
Tensor random_choice(const Dims& sizes, double p, double value, TensorOptions options,
                     Generator* generator = nullptr);
// Overwrite all elements with draws; random_ without bounds takes the integers from 0 on that the
// dtype holds.
Tensor uniform_(const Tensor& self, double low, double high, Generator* generator = nullptr);
Tensor normal_(const Tensor& self, double mean, double deviation, Generator* generator = nullptr);
Tensor random_(const Tensor& self, std::optional<int64_t> low, std::optional<int64_t> high,
               Generator* generator = nullptr);

// ---- random.cpp: draws; in place, or by other tensors, to which the gradient is 0 ---------------
Tensor exponential_(const Tensor& self, double rate, Generator* generator = nullptr);
Tensor cauchy_(const Tensor& self, double median, double sigma, Generator* generator = nullptr);
Tensor log_normal_(const Tensor& self, double mean, double deviation,
                   Generator* generator = nullptr);
Tensor geometric_(const Tensor& self, double p, Generator* generator = nullptr);
Tensor bernoulli_(const Tensor& self, double p, Generator* generator = nullptr);
Tensor bernoulli_(const Tensor& self, const Tensor& p, Generator* generator = nullptr);
Tensor bernoulli(const Tensor& p, Generator* generator = nullptr);
Tensor normal(const Operand& mean, const Operand& deviation,  // at least one is a tensor
              Generator* generator = nullptr);
Tensor poisson(const Tensor& rate, Generator* generator = nullptr);
Tensor binomial(const Tensor& count, const Tensor& probability, Generator* generator = nullptr);
// Of rate 1; the gradient is that of a fixed quantile.
Tensor standard_gamma(const Tensor& concentration, Generator* generator = nullptr);
// Indices of the last dimension by their weights, [rows, samples].
Tensor multinomial(const Tensor& weights, int64_t samples, bool replacement,
                   Generator* generator = nullptr);

// ---- copy.cpp -----------------------------------------------------------------------------------
Tensor copy_(const Tensor& self, const Tensor& source);  // broadcasts and casts
Tensor fill_(const Tensor& self, const Scalar& value);
Tensor fill_(const Tensor& self, const Tensor& value);  // a 0-d tensor
Tensor zero_(const Tensor& self);
// What out= comes to for an op without a Target: checks as the others, copies the result.
Tensor write_out(const char* op, const Tensor& result, const Tensor& out);
void write_two_out(const char* op, const std::pair<Tensor, Tensor>& results, const Tensor& first,
                   const Tensor& second);
Tensor clone(const Tensor& x);
Tensor contiguous(const Tensor& x);  // x itself if it is
Tensor to(const Tensor& x, DType dtype, Device device, bool copy = false);
inline Tensor to(const Tensor& x, DType dtype) { return to(x, dtype, x.device()); }
Scalar item(const Tensor& x);  // the one element

// ---- elementwise.cpp: one input -----------------------------------------------------------------
Tensor neg(const Tensor& x, Target target = {});
Tensor abs(const Tensor& x, Target target = {});
Tensor sign(const Tensor& x, Target target = {});
Tensor exp(const Tensor& x, Target target = {});
Tensor log(const Tensor& x, Target target = {});
Tensor sqrt(const Tensor& x, Target target = {});
Tensor tanh(const Tensor& x, Target target = {});
Tensor sigmoid(const Tensor& x, Target target = {});
Tensor relu(const Tensor& x, Target target = {});
Tensor reciprocal(const Tensor& x, Target target = {});
Tensor bitwise_not(const Tensor& x, Target target = {});
Tensor logical_not(const Tensor& x, Target target = {});
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);
Tensor isfinite(const Tensor& x);
// Limits the values; a bound may be absent. NaN stays NaN.
Tensor clamp(const Tensor& x, const std::optional<Scalar>& min, const std::optional<Scalar>& max,
             Target target = {});

// ---- functions.cpp ------------------------------------------------------------------------------
Tensor exp2(const Tensor& x, Target target = {});
Tensor expm1(const Tensor& x, Target target = {});
Tensor log2(const Tensor& x, Target target = {});
Tensor log10(const Tensor& x, Target target = {});
Tensor log1p(const Tensor& x, Target target = {});
Tensor rsqrt(const Tensor& x, Target target = {});
Tensor sin(const Tensor& x, Target target = {});
Tensor cos(const Tensor& x, Target target = {});
Tensor tan(const Tensor& x, Target target = {});
Tensor asin(const Tensor& x, Target target = {});
Tensor acos(const Tensor& x, Target target = {});
Tensor atan(const Tensor& x, Target target = {});
Tensor sinh(const Tensor& x, Target target = {});
Tensor cosh(const Tensor& x, Target target = {});
Tensor asinh(const Tensor& x, Target target = {});
Tensor acosh(const Tensor& x, Target target = {});
Tensor atanh(const Tensor& x, Target target = {});
Tensor erf(const Tensor& x, Target target = {});
Tensor erfc(const Tensor& x, Target target = {});
Tensor floor(const Tensor& x, Target target = {});
Tensor ceil(const Tensor& x, Target target = {});
Tensor round(const Tensor& x, Target target = {});  // half to even
Tensor trunc(const Tensor& x, Target target = {});
Tensor frac(const Tensor& x, Target target = {});  // x - trunc(x)

// ---- binary.cpp: two and three inputs, broadcast ------------------------------------------------
Tensor add(const Operand& a, const Operand& b, const Scalar& alpha = 1, Target target = {});
Tensor sub(const Operand& a, const Operand& b, const Scalar& alpha = 1, Target target = {});
Tensor mul(const Operand& a, const Operand& b, Target target = {});
Tensor div(const Operand& a, const Operand& b, Target target = {});           // true division
Tensor floor_divide(const Operand& a, const Operand& b, Target target = {});  // rounds down
Tensor remainder(const Operand& a, const Operand& b, Target target = {});     // sign of the divisor
Tensor fmod(const Operand& a, const Operand& b, Target target = {});  // sign of the dividend
Tensor atan2(const Operand& a, const Operand& b, Target target = {});
Tensor pow(const Operand& a, const Operand& b, Target target = {});
Tensor maximum(const Operand& a, const Operand& b, Target target = {});
Tensor minimum(const Operand& a, const Operand& b, Target target = {});
Tensor bitwise_and(const Operand& a, const Operand& b, Target target = {});
Tensor bitwise_or(const Operand& a, const Operand& b, Target target = {});
Tensor bitwise_xor(const Operand& a, const Operand& b, Target target = {});
Tensor logical_and(const Operand& a, const Operand& b, Target target = {});
Tensor logical_or(const Operand& a, const Operand& b, Target target = {});
Tensor logical_xor(const Operand& a, const Operand& b, Target target = {});
Tensor eq(const Operand& a, const Operand& b, Target target = {});
Tensor ne(const Operand& a, const Operand& b, Target target = {});
Tensor lt(const Operand& a, const Operand& b, Target target = {});
Tensor le(const Operand& a, const Operand& b, Target target = {});
Tensor gt(const Operand& a, const Operand& b, Target target = {});
Tensor ge(const Operand& a, const Operand& b, Target target = {});
Tensor where(const Tensor& condition, const Operand& a, const Operand& b, Target target = {});

// ---- pointwise.cpp ------------------------------------------------------------------------------
Tensor signbit(const Tensor& x, Target target = {});
Tensor isposinf(const Tensor& x, Target target = {});
Tensor isneginf(const Tensor& x, Target target = {});
Tensor angle(const Tensor& x, Target target = {});
// Infinities become these numbers, or the largest and the least that the dtype has.
Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<double> posinf = {},
                  std::optional<double> neginf = {}, Target target = {});
std::pair<Tensor, Tensor> frexp(const Tensor& x);  // mantissas and, as int32, exponents
Tensor copysign(const Operand& a, const Operand& b, Target target = {});
Tensor fmax(const Operand& a, const Operand& b, Target target = {});  // NaN only if both are
Tensor fmin(const Operand& a, const Operand& b, Target target = {});
Tensor heaviside(const Operand& a, const Operand& b, Target target = {});  // b where a is 0
Tensor nextafter(const Operand& a, const Operand& b, Target target = {});
Tensor hypot(const Operand& a, const Operand& b, Target target = {});
Tensor logaddexp(const Operand& a, const Operand& b, Target target = {});
Tensor logaddexp2(const Operand& a, const Operand& b, Target target = {});
Tensor xlogy(const Operand& a, const Operand& b, Target target = {});
Tensor xlog1py(const Operand& a, const Operand& b, Target target = {});
Tensor bitwise_left_shift(const Operand& a, const Operand& b, Target target = {});
Tensor bitwise_right_shift(const Operand& a, const Operand& b, Target target = {});
Tensor gcd(const Operand& a, const Operand& b, Target target = {});
Tensor lcm(const Operand& a, const Operand& b, Target target = {});
Tensor div_floor(const Operand& a, const Operand& b, Target target = {});
Tensor div_trunc(const Operand& a, const Operand& b, Target target = {});
// x limited by bounds that may be tensors; null for none.
Tensor clamp_between(const Tensor& x, const Operand* low, const Operand* high, Target target = {});
// x + value a b, x + value a / b
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value = 1,
               Target target = {});
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value = 1,
               Target target = {});
// start + weight (end - start)
Tensor lerp(const Tensor& start, const Tensor& end, const Scalar& weight, Target target = {});
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight, Target target = {});

// ---- special.cpp --------------------------------------------------------------------------------
Tensor erfinv(const Tensor& x, Target target = {});
Tensor erfcx(const Tensor& x, Target target = {});     // e^(x^2) erfc(x)
Tensor ndtr(const Tensor& x, Target target = {});      // the normal distribution function,
Tensor ndtri(const Tensor& x, Target target = {});     // its inverse
Tensor log_ndtr(const Tensor& x, Target target = {});  // and logarithm
Tensor entr(const Tensor& x, Target target = {});      // -x log x
Tensor logit(const Tensor& x, std::optional<double> eps = {}, Target target = {});
Tensor sinc(const Tensor& x, Target target = {});  // sin(pi x) / (pi x)
Tensor lgamma(const Tensor& x, Target target = {});
Tensor digamma(const Tensor& x, Target target = {});
Tensor polygamma(int64_t n, const Tensor& x, Target target = {});
Tensor mvlgamma(const Tensor& x, int64_t p, Target target = {});
Tensor igamma(const Operand& a, const Operand& x, Target target = {});   // P(a, x)
Tensor igammac(const Operand& a, const Operand& x, Target target = {});  // Q(a, x) = 1 - P(a, x)
Tensor zeta(const Operand& s, const Operand& q, Target target = {});     // Hurwitz's
Tensor i0(const Tensor& x, Target target = {});
Tensor i0e(const Tensor& x, Target target = {});  // e^-|x| I0(x)
Tensor i1(const Tensor& x, Target target = {});
Tensor i1e(const Tensor& x, Target target = {});
// Functions of the namespace zero.special, by names such as "special.bessel_j0".
Tensor special_unary(const std::string& name, const Tensor& x, Target target = {});
Tensor special_binary(const std::string& name, const Operand& a, const Operand& b,
                      Target target = {});

// ---- reduce.cpp, norm.cpp -----------------------------------------------------------------------
// Empty `dims` reduces over all. keepdim leaves size 1.
Tensor sum(const Tensor& x, const Dims& dims = {}, bool keepdim = false,
           std::optional<DType> dtype = {});
Tensor nansum(const Tensor& x, const Dims& dims = {}, bool keepdim = false,
              std::optional<DType> dtype = {});  // of what is not NaN
Tensor count_nonzero(const Tensor& x, const Dims& dims = {});
Tensor mean(const Tensor& x, const Dims& dims = {}, bool keepdim = false,
            std::optional<DType> dtype = {});
Tensor var(const Tensor& x, const Dims& dims = {}, double correction = 1, bool keepdim = false);
Tensor std_dev(const Tensor& x, const Dims& dims = {}, double correction = 1, bool keepdim = false);
Tensor amax(const Tensor& x, const Dims& dims = {},
            bool keepdim = false);  // gradient shared among ties
Tensor amin(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
Tensor max(const Tensor& x);  // over all
Tensor min(const Tensor& x);
std::pair<Tensor, Tensor> max(const Tensor& x, int64_t dim, bool keepdim);  // values, first indices
std::pair<Tensor, Tensor> min(const Tensor& x, int64_t dim, bool keepdim);
Tensor argmax(const Tensor& x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor argmin(const Tensor& x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor all(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
Tensor any(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
Tensor prod(const Tensor& x, const Dims& dims = {}, bool keepdim = false,
            std::optional<DType> dtype = {});
// (sum |x|^p)^(1/p); the largest or smallest magnitude for p = inf, -inf, the count of what is not
// 0 for p = 0. The gradient where the norm is 0 is 0.
Tensor norm(const Tensor& x, double p = 2, const Dims& dims = {}, bool keepdim = false);
bool equal(const Tensor& a, const Tensor& b);       // same shape and elements
Tensor sum_to(const Tensor& x, const Dims& sizes);  // undoes a broadcast

// ---- dropout.cpp --------------------------------------------------------------------------------
// `channels`: x is [N, C, ...], and each of the N * C parts is kept or dropped as a whole.
Tensor dropout(const Tensor& x, double p, bool channels, Target target = {});

// ---- scan.cpp: running sums and products; `reverse` starts at the end ---------------------------
Tensor cumsum(const Tensor& x, int64_t dim, std::optional<DType> dtype = {}, bool reverse = false);
Tensor cumprod(const Tensor& x, int64_t dim, std::optional<DType> dtype = {}, bool reverse = false);

std::pair<Tensor, Tensor> cummax(const Tensor& x, int64_t dim);  // values, indices
std::pair<Tensor, Tensor> cummin(const Tensor& x, int64_t dim);
Tensor logcumsumexp(const Tensor& x, int64_t dim, bool reverse = false);

// ---- order.cpp: values and indices; stable; NaN is the largest ----------------------------------
std::pair<Tensor, Tensor> sort(const Tensor& x, int64_t dim, bool descending);
Tensor argsort(const Tensor& x, int64_t dim, bool descending);
std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int64_t dim, bool largest);
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, int64_t k, int64_t dim, bool keepdim);
std::pair<Tensor, Tensor> median(const Tensor& x, int64_t dim, bool keepdim);
std::pair<Tensor, Tensor> nanmedian(const Tensor& x, int64_t dim, bool keepdim);
Tensor median(const Tensor& x);  // of all; gradient shared among ties
Tensor nanmedian(const Tensor& x);
std::pair<Tensor, Tensor> mode(const Tensor& x, int64_t dim, bool keepdim);

// ---- unique.cpp, search.cpp ---------------------------------------------------------------------
struct Unique { Tensor values, inverse, counts; };  // the last two where asked for
Unique unique(const Tensor& x, bool inverse, bool counts);
Unique unique_consecutive(const Tensor& x, bool inverse, bool counts);
// Slices along a dimension; `sorted`, or only neighbours compared. `op` is the name in errors.
Unique unique_along(const char* op, const Tensor& x, int64_t dim, bool inverse, bool counts,
                    bool sorted);
// The number of sorted values below each value or, for `right`, up to it. `sorter` may be
// undefined.
Tensor searchsorted(const char* op, const Tensor& sorted, const Tensor& values, bool right,
                    bool int32, const Tensor& sorter);
Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minlength);
// Points [n, d] between the edges of bins along each dimension, or the sum of their weights; bins
// of one width are found faster.
Tensor bin_counts(const Tensor& points, const Tensors& edges, bool uniform, const Tensor& weight);
Tensor histc(const Tensor& x, int64_t bins, double low, double high);

// ---- softmax.cpp, loss.cpp ----------------------------------------------------------------------
Tensor softmax(const Tensor& x, int64_t dim, std::optional<DType> dtype = {});
Tensor log_softmax(const Tensor& x, int64_t dim, std::optional<DType> dtype = {});
Tensor nll_loss(const Tensor& log_probs, const Tensor& target, const Tensor& weight = {},
                int64_t ignore_index = -100, Reduction reduction = Reduction::Mean);
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight = {},
                     int64_t ignore_index = -100, Reduction reduction = Reduction::Mean,
                     double label_smoothing = 0);
Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim = false);
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::Mean);

// ---- normalize.cpp ------------------------------------------------------------------------------
// Over the last dimensions, whose sizes are given; weight and bias may be undefined.
Tensor layer_norm(const Tensor& x, const Dims& sizes, const Tensor& weight, const Tensor& bias,
                  double eps);
Tensor rms_norm(const Tensor& x, const Dims& sizes, const Tensor& weight,
                std::optional<double> eps = {});  // else the machine epsilon of the dtype
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps);

// ---- matmul.cpp ---------------------------------------------------------------------------------
// `op` is the name in error messages: mm, bmm, mv and dot are products too.
Tensor matmul(const Tensor& a, const Tensor& b, Target target = {}, const char* op = "matmul");
Tensor linear(const Tensor& x, const Tensor& weight,
              const Tensor& bias = {});  // x @ weight.T + bias

// ---- products.cpp -------------------------------------------------------------------------------
// beta input + alpha product; in place only for beta = 1, else a new tensor whatever the target is.
Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1,
             const Scalar& alpha = 1, Target target = {});
Tensor addmv(const Tensor& input, const Tensor& matrix, const Tensor& vector,
             const Scalar& beta = 1, const Scalar& alpha = 1, Target target = {});
Tensor addr(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1,
            const Scalar& alpha = 1, Target target = {});
Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1,
               const Scalar& alpha = 1, Target target = {});
Tensor addbmm(const Tensor& input, const Tensor& a, const Tensor& b, const Scalar& beta = 1,
              const Scalar& alpha = 1, Target target = {});
Tensor kron(const Tensor& a, const Tensor& b);
// Along a dimension of size 3; the first such one if it is not given.
Tensor cross(const Tensor& a, const Tensor& b, std::optional<int64_t> dim = {});

// ---- distance.cpp -------------------------------------------------------------------------------
// (sum_m |x1[.., i, m] - x2[.., j, m]|^p)^(1/p); the gradient where it is 0 is 0.
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2);

// ---- view.cpp: same memory, other strides -------------------------------------------------------
Tensor as_strided(const Tensor& x, const Dims& sizes, const Dims& strides, int64_t offset);
Tensor view(const Tensor& x, const Dims& sizes);         // one size may be -1
Tensor whole_view(const Tensor& x);                      // of all of x: what x[...] is
Tensor unsafe_view(const Tensor& x, const Dims& sizes);  // of a tensor nobody else holds: no view
Tensor reshape(const Tensor& x, const Dims& sizes);      // a view if possible, else a copy
Tensor flatten(const Tensor& x, int64_t start_dim = 0, int64_t end_dim = -1);
Tensor expand(const Tensor& x, const Dims& sizes);  // -1 keeps a size
Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1);
Tensor permute(const Tensor& x, const Dims& dims);
Tensor squeeze(const Tensor& x);
Tensor squeeze(const Tensor& x, const Dims& dims);
Tensor unsqueeze(const Tensor& x, int64_t dim);
Tensor select(const Tensor& x, int64_t dim, int64_t index);
Tensor slice(const Tensor& x, int64_t dim, int64_t start, int64_t end, int64_t step = 1);
Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);
Tensors split(const Tensor& x, const Dims& lengths, int64_t dim = 0);
Tensors unbind(const Tensor& x, int64_t dim = 0);

// ---- geometry.cpp -------------------------------------------------------------------------------
// Windows of `size` along a dimension, `step` apart, as a last dimension; a view.
Tensor unfold(const Tensor& x, int64_t dim, int64_t size, int64_t step);
Tensor view(const Tensor& x, DType dtype);  // the same bytes; has no history
Tensor storage_bytes(const Tensor& x);      // all the memory it is a part of
// x takes the geometry of a view of itself, and its place in the graph.
void restride_(const char* op, const Tensor& x, const Tensor& view);
void resize_(const Tensor& x, const Dims& sizes);  // keeps the elements there is room for

// ---- arrange.cpp: copies with elements elsewhere, or zeros in place of some ---------------------
Tensor tril(const Tensor& x, int64_t diagonal = 0, Target target = {});
Tensor triu(const Tensor& x, int64_t diagonal = 0, Target target = {});
Tensor triangle_indices(int64_t rows, int64_t columns, int64_t offset, bool lower);  // [2, n]
Tensor flip(const Tensor& x, const Dims& dims);
// Along dims[i] by shifts[i]; one shift without dims is for all elements as one dimension.
Tensor roll(const Tensor& x, const Dims& shifts, const Dims& dims);
Tensor repeat_interleave(const Tensor& counts);  // [0, 2, 1] -> [1, 1, 2]
Tensor diag_embed(const Tensor& x, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);

// ---- index.cpp, select.cpp: places that tensors name --------------------------------------------
// One index per dimension of x: integers, which broadcast together, bools (a mask covers as many
// dimensions as it has), or an undefined tensor for all of the dimension.
Tensor index(const Tensor& x, const Tensors& indices);
// Of values for one place the last stays; with `accumulate` all are added.
Tensor index_put(const Tensor& self, const Tensors& indices, const Tensor& values,
                 bool accumulate = false, Target target = {});
// self[indices] = values, which are cast and may have more dimensions of size 1 in front.
void set_index(const Tensor& self, const Tensors& indices, const Tensor& values);
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Operand& value, Target target = {});
Tensor masked_select(const Tensor& x, const Tensor& mask);
// The elements of `source`, in their order, where the mask is true.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source,
                      Target target = {});
Tensor nonzero(const Tensor& x);            // [n, x.dim()], rows in row-major order
Tensors nonzero_as_tuple(const Tensor& x);  // its columns
// Places counted in row-major order, negative ones from the end.
Tensor take(const Tensor& x, const Tensor& index);
Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate = false,
           Target target = {});
// Rows that a list of indices names along a dimension.
Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index);
Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha = 1, Target target = {});
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                  Target target = {});
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Operand& value,
                  Target target = {});
Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    Combine combine, bool include_self = true, Target target = {});
// y[i, j] = x[index[i, j], j] for dim 0; scatter is self[index[i, j], j] = values[i, j]. `op` is
// the name in messages, a literal.
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index);
Tensor scatter(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
               const Operand& values, Combine combine = Combine::Assign, bool include_self = true,
               Target target = {});
Tensor take_along_dim(const Tensor& x, const Tensor& indices, int64_t dim);

// ---- join.cpp -----------------------------------------------------------------------------------
Tensor cat(const Tensors& tensors, int64_t dim = 0);
Tensor stack(const Tensors& tensors, int64_t dim = 0);

// ---- optim.cpp; steps of optimizers are in optim.h ----------------------------------------------
// x -= delta without a record: what Parameter.update does.
void update_(const Tensor& x, const Tensor& delta);

}  // namespace zero
