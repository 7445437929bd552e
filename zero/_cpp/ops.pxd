# Every operator of the core, in the order of ops.h.

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.optional cimport optional
from libcpp.string cimport string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from zero._cpp.device cimport CDevice
from zero._cpp.dtype cimport CDType
from zero._cpp.error cimport raise_error
from zero._cpp.generator cimport CGenerator
from zero._cpp.inplace cimport CTarget
from zero._cpp.scalar cimport CScalar
from zero._cpp.shape cimport CDims
from zero._cpp.tensor cimport CTensor, CTensorOptions, CTensors


cdef extern from "zero/ops/ops.h" namespace "zero":
    cdef cppclass COperand "zero::Operand":
        COperand() noexcept
        COperand(const CTensor&) noexcept
        COperand(const CScalar&) noexcept

    cdef enum class CReduction "zero::Reduction":
        Mean "zero::Reduction::Mean"
        Sum "zero::Reduction::Sum"

    cdef cppclass CUnique "zero::Unique":
        CTensor values, inverse, counts

    cdef enum class CCombine "zero::Combine":
        Assign "zero::Combine::Assign"
        Add "zero::Combine::Add"
        Mul "zero::Combine::Mul"
        Mean "zero::Combine::Mean"
        Max "zero::Combine::Max"
        Min "zero::Combine::Min"

# Declared by their type, so that a binding can take one as an argument.
ctypedef CTensor (*BinaryOp)(const COperand&, const COperand&, CTarget) except +raise_error


cdef extern from "zero/ops/ops.h" namespace "zero":
    const CReduction no_reduction "zero::Reduction::None"

    CDType result_type(const COperand&, const COperand&) except +raise_error

    # creation.cpp
    CTensor zeros(const CDims&, CTensorOptions) except +raise_error
    CTensor ones(const CDims&, CTensorOptions) except +raise_error
    CTensor full(const CDims&, const CScalar&, CTensorOptions) except +raise_error
    CTensor scalar_tensor(const CScalar&, CTensorOptions) except +raise_error
    CTensor empty_like(const CTensor&, CTensorOptions) except +raise_error
    CTensor arange(
        const CScalar&, const CScalar&, const CScalar&, CTensorOptions) except +raise_error
    CTensor linspace(const CScalar&, const CScalar&, int64_t, CTensorOptions) except +raise_error
    CTensor logspace(
        const CScalar&, const CScalar&, int64_t, double, CTensorOptions) except +raise_error
    CTensor eye(int64_t, int64_t, CTensorOptions) except +raise_error
    CTensor rand(const CDims&, CTensorOptions, CGenerator*) except +raise_error
    CTensor randn(const CDims&, CTensorOptions, CGenerator*) except +raise_error
    CTensor randint(
        int64_t, int64_t, const CDims&, CTensorOptions, CGenerator*) except +raise_error
    CTensor randperm(int64_t, CTensorOptions, CGenerator*) except +raise_error
    CTensor uniform_(const CTensor&, double, double, CGenerator*) except +raise_error
    CTensor normal_(const CTensor&, double, double, CGenerator*) except +raise_error
    CTensor random_(
        const CTensor&, optional[int64_t], optional[int64_t], CGenerator*) except +raise_error

    # random.cpp
    CTensor exponential_(const CTensor&, double, CGenerator*) except +raise_error
    CTensor cauchy_(const CTensor&, double, double, CGenerator*) except +raise_error
    CTensor log_normal_(const CTensor&, double, double, CGenerator*) except +raise_error
    CTensor geometric_(const CTensor&, double, CGenerator*) except +raise_error
    CTensor bernoulli_(const CTensor&, double, CGenerator*) except +raise_error
    CTensor bernoulli_by_ "zero::bernoulli_"(
        const CTensor&, const CTensor&, CGenerator*) except +raise_error
    CTensor bernoulli(const CTensor&, CGenerator*) except +raise_error
    CTensor normal(const COperand&, const COperand&, CGenerator*) except +raise_error
    CTensor poisson(const CTensor&, CGenerator*) except +raise_error
    CTensor binomial(const CTensor&, const CTensor&, CGenerator*) except +raise_error
    CTensor standard_gamma(const CTensor&, CGenerator*) except +raise_error
    CTensor multinomial(const CTensor&, int64_t, cbool, CGenerator*) except +raise_error

    # products.cpp
    CTensor addmm(
        const CTensor&, const CTensor&, const CTensor&, const CScalar&, const CScalar&,
        CTarget) except +raise_error
    CTensor addmv(
        const CTensor&, const CTensor&, const CTensor&, const CScalar&, const CScalar&,
        CTarget) except +raise_error
    CTensor addr(
        const CTensor&, const CTensor&, const CTensor&, const CScalar&, const CScalar&,
        CTarget) except +raise_error
    CTensor baddbmm(
        const CTensor&, const CTensor&, const CTensor&, const CScalar&, const CScalar&,
        CTarget) except +raise_error
    CTensor addbmm(
        const CTensor&, const CTensor&, const CTensor&, const CScalar&, const CScalar&,
        CTarget) except +raise_error
    CTensor kron(const CTensor&, const CTensor&) except +raise_error
    CTensor cross(const CTensor&, const CTensor&, optional[int64_t]) except +raise_error

    # distance.cpp
    CTensor cdist(const CTensor&, const CTensor&, double) except +raise_error

    # copy.cpp
    CTensor copy_(const CTensor&, const CTensor&) except +raise_error
    CTensor fill_number_ "zero::fill_"(const CTensor&, const CScalar&) except +raise_error
    CTensor fill_tensor_ "zero::fill_"(const CTensor&, const CTensor&) except +raise_error
    CTensor zero_(const CTensor&) except +raise_error
    CTensor write_out(const char*, const CTensor&, const CTensor&) except +raise_error
    void write_two_out(const char*, const pair[CTensor, CTensor]&, const CTensor&,
                       const CTensor&) except +raise_error
    CTensor clone(const CTensor&) except +raise_error
    CTensor contiguous(const CTensor&) except +raise_error
    CTensor to(const CTensor&, CDType, CDevice, cbool) except +raise_error
    CScalar item(const CTensor&) except +raise_error

    # elementwise.cpp
    CTensor neg(const CTensor&, CTarget) except +raise_error
    CTensor abs(const CTensor&, CTarget) except +raise_error
    CTensor sign(const CTensor&, CTarget) except +raise_error
    CTensor exp(const CTensor&, CTarget) except +raise_error
    CTensor log(const CTensor&, CTarget) except +raise_error
    CTensor sqrt(const CTensor&, CTarget) except +raise_error
    CTensor tanh(const CTensor&, CTarget) except +raise_error
    CTensor sigmoid(const CTensor&, CTarget) except +raise_error
    CTensor relu(const CTensor&, CTarget) except +raise_error
    CTensor reciprocal(const CTensor&, CTarget) except +raise_error
    CTensor bitwise_not(const CTensor&, CTarget) except +raise_error
    CTensor logical_not(const CTensor&, CTarget) except +raise_error
    CTensor isnan(const CTensor&) except +raise_error
    CTensor isinf(const CTensor&) except +raise_error
    CTensor isfinite(const CTensor&) except +raise_error
    CTensor clamp(
        const CTensor&, const optional[CScalar]&, const optional[CScalar]&, CTarget
    ) except +raise_error

    # functions.cpp
    CTensor exp2(const CTensor&, CTarget) except +raise_error
    CTensor expm1(const CTensor&, CTarget) except +raise_error
    CTensor log2(const CTensor&, CTarget) except +raise_error
    CTensor log10(const CTensor&, CTarget) except +raise_error
    CTensor log1p(const CTensor&, CTarget) except +raise_error
    CTensor rsqrt(const CTensor&, CTarget) except +raise_error
    CTensor sin(const CTensor&, CTarget) except +raise_error
    CTensor cos(const CTensor&, CTarget) except +raise_error
    CTensor tan(const CTensor&, CTarget) except +raise_error
    CTensor asin(const CTensor&, CTarget) except +raise_error
    CTensor acos(const CTensor&, CTarget) except +raise_error
    CTensor atan(const CTensor&, CTarget) except +raise_error
    CTensor sinh(const CTensor&, CTarget) except +raise_error
    CTensor cosh(const CTensor&, CTarget) except +raise_error
    CTensor asinh(const CTensor&, CTarget) except +raise_error
    CTensor acosh(const CTensor&, CTarget) except +raise_error
    CTensor atanh(const CTensor&, CTarget) except +raise_error
    CTensor erf(const CTensor&, CTarget) except +raise_error
    CTensor erfc(const CTensor&, CTarget) except +raise_error
    CTensor floor(const CTensor&, CTarget) except +raise_error
    CTensor ceil(const CTensor&, CTarget) except +raise_error
    CTensor round(const CTensor&, CTarget) except +raise_error
    CTensor trunc(const CTensor&, CTarget) except +raise_error
    CTensor frac(const CTensor&, CTarget) except +raise_error

    # binary.cpp
    CTensor add(const COperand&, const COperand&, const CScalar&, CTarget) except +raise_error
    CTensor sub(const COperand&, const COperand&, const CScalar&, CTarget) except +raise_error
    BinaryOp mul, div, floor_divide, remainder, pow, maximum, minimum
    BinaryOp bitwise_and, bitwise_or, bitwise_xor, logical_and, logical_or, logical_xor
    BinaryOp eq, ne, lt, le, gt, ge, fmod, atan2
    CTensor addcmul(const CTensor&, const CTensor&, const CTensor&, const CScalar&,
                    CTarget) except +raise_error
    CTensor addcdiv(const CTensor&, const CTensor&, const CTensor&, const CScalar&,
                    CTarget) except +raise_error
    CTensor lerp(const CTensor&, const CTensor&, const CScalar&, CTarget) except +raise_error
    CTensor lerp_by_tensor "zero::lerp"(
        const CTensor&, const CTensor&, const CTensor&, CTarget) except +raise_error
    CTensor where(const CTensor&, const COperand&, const COperand&, CTarget) except +raise_error

    # pointwise.cpp
    CTensor signbit(const CTensor&, CTarget) except +raise_error
    CTensor isposinf(const CTensor&, CTarget) except +raise_error
    CTensor isneginf(const CTensor&, CTarget) except +raise_error
    CTensor angle(const CTensor&, CTarget) except +raise_error
    CTensor nan_to_num(const CTensor&, double, optional[double], optional[double],
                       CTarget) except +raise_error
    pair[CTensor, CTensor] frexp(const CTensor&) except +raise_error
    BinaryOp copysign, fmax, fmin, heaviside, nextafter, hypot, logaddexp, logaddexp2, xlogy
    BinaryOp xlog1py, bitwise_left_shift, bitwise_right_shift, gcd, lcm, div_floor, div_trunc
    CTensor clamp_between(const CTensor&, const COperand*, const COperand*,
                          CTarget) except +raise_error

    # special.cpp
    CTensor erfinv(const CTensor&, CTarget) except +raise_error
    CTensor sinc(const CTensor&, CTarget) except +raise_error
    CTensor lgamma(const CTensor&, CTarget) except +raise_error
    CTensor digamma(const CTensor&, CTarget) except +raise_error
    CTensor i0(const CTensor&, CTarget) except +raise_error
    CTensor logit(const CTensor&, optional[double], CTarget) except +raise_error
    CTensor polygamma(int64_t, const CTensor&, CTarget) except +raise_error
    CTensor mvlgamma(const CTensor&, int64_t, CTarget) except +raise_error
    BinaryOp igamma, igammac
    CTensor special_unary(const string&, const CTensor&, CTarget) except +raise_error
    CTensor special_binary(
        const string&, const COperand&, const COperand&, CTarget) except +raise_error

    # reduce.cpp
    CTensor sum(const CTensor&, const CDims&, cbool, optional[CDType]) except +raise_error
    CTensor mean(const CTensor&, const CDims&, cbool, optional[CDType]) except +raise_error
    CTensor var(const CTensor&, const CDims&, double, cbool) except +raise_error
    CTensor std_dev(const CTensor&, const CDims&, double, cbool) except +raise_error
    CTensor amax(const CTensor&, const CDims&, cbool) except +raise_error
    CTensor amin(const CTensor&, const CDims&, cbool) except +raise_error
    CTensor max_of_all "zero::max"(const CTensor&) except +raise_error
    CTensor min_of_all "zero::min"(const CTensor&) except +raise_error
    pair[CTensor, CTensor] max "zero::max"(const CTensor&, int64_t, cbool) except +raise_error
    pair[CTensor, CTensor] min "zero::min"(const CTensor&, int64_t, cbool) except +raise_error
    CTensor argmax(const CTensor&, optional[int64_t], cbool) except +raise_error
    CTensor argmin(const CTensor&, optional[int64_t], cbool) except +raise_error
    CTensor all(const CTensor&, const CDims&, cbool) except +raise_error
    CTensor any(const CTensor&, const CDims&, cbool) except +raise_error
    CTensor prod(const CTensor&, const CDims&, cbool, optional[CDType]) except +raise_error
    CTensor count_nonzero(const CTensor&, const CDims&) except +raise_error
    CTensor nansum(const CTensor&, const CDims&, cbool, optional[CDType]) except +raise_error
    CTensor norm(const CTensor&, double, const CDims&, cbool) except +raise_error
    CTensor cumsum(const CTensor&, int64_t, optional[CDType]) except +raise_error
    CTensor cumprod(const CTensor&, int64_t, optional[CDType]) except +raise_error
    pair[CTensor, CTensor] cummax(const CTensor&, int64_t) except +raise_error
    pair[CTensor, CTensor] cummin(const CTensor&, int64_t) except +raise_error
    CTensor logcumsumexp(const CTensor&, int64_t) except +raise_error
    cbool equal(const CTensor&, const CTensor&) except +raise_error
    CTensor sum_to(const CTensor&, const CDims&) except +raise_error

    # order.cpp
    pair[CTensor, CTensor] sort(const CTensor&, int64_t, cbool) except +raise_error
    CTensor argsort(const CTensor&, int64_t, cbool) except +raise_error
    pair[CTensor, CTensor] topk(const CTensor&, int64_t, int64_t, cbool) except +raise_error
    pair[CTensor, CTensor] kthvalue(const CTensor&, int64_t, int64_t, cbool) except +raise_error
    pair[CTensor, CTensor] median(const CTensor&, int64_t, cbool) except +raise_error
    pair[CTensor, CTensor] nanmedian(const CTensor&, int64_t, cbool) except +raise_error
    CTensor median_of_all "zero::median"(const CTensor&) except +raise_error
    CTensor nanmedian_of_all "zero::nanmedian"(const CTensor&) except +raise_error
    pair[CTensor, CTensor] mode(const CTensor&, int64_t, cbool) except +raise_error

    # unique.cpp, search.cpp
    CUnique unique(const CTensor&, cbool, cbool) except +raise_error
    CUnique unique_consecutive(const CTensor&, cbool, cbool) except +raise_error
    CUnique unique_along(const char*, const CTensor&, int64_t, cbool, cbool,
                         cbool) except +raise_error
    CTensor searchsorted(const char*, const CTensor&, const CTensor&, cbool, cbool,
                         const CTensor&) except +raise_error
    CTensor bincount(const CTensor&, const CTensor&, int64_t) except +raise_error
    CTensor bin_counts(const CTensor&, const CTensors&, cbool, const CTensor&) except +raise_error
    CTensor histc(const CTensor&, int64_t, double, double) except +raise_error

    # dropout.cpp
    CTensor dropout(const CTensor&, double, cbool, CTarget) except +raise_error

    # softmax.cpp, loss.cpp
    CTensor softmax(const CTensor&, int64_t, optional[CDType]) except +raise_error
    CTensor log_softmax(const CTensor&, int64_t, optional[CDType]) except +raise_error
    CTensor nll_loss(
        const CTensor&, const CTensor&, const CTensor&, int64_t, CReduction) except +raise_error
    CTensor cross_entropy(
        const CTensor&, const CTensor&, const CTensor&, int64_t, CReduction, double
    ) except +raise_error
    CTensor logsumexp(const CTensor&, const CDims&, bint) except +raise_error
    CTensor mse_loss(const CTensor&, const CTensor&, CReduction) except +raise_error

    # normalize.cpp
    CTensor layer_norm(
        const CTensor&, const CDims&, const CTensor&, const CTensor&, double) except +raise_error
    CTensor rms_norm(
        const CTensor&, const CDims&, const CTensor&, optional[double]) except +raise_error
    CTensor group_norm(
        const CTensor&, int64_t, const CTensor&, const CTensor&, double) except +raise_error

    # matmul.cpp
    CTensor matmul(const CTensor&, const CTensor&, CTarget) except +raise_error
    CTensor matmul(const CTensor&, const CTensor&, CTarget, const char*) except +raise_error
    CTensor linear(const CTensor&, const CTensor&, const CTensor&) except +raise_error

    # view.cpp
    CTensor as_strided(const CTensor&, const CDims&, const CDims&, int64_t) except +raise_error
    CTensor view(const CTensor&, const CDims&) except +raise_error
    CTensor whole_view(const CTensor&) except +raise_error
    CTensor unsafe_view(const CTensor&, const CDims&) except +raise_error
    CTensor reshape(const CTensor&, const CDims&) except +raise_error
    CTensor flatten(const CTensor&, int64_t, int64_t) except +raise_error
    CTensor expand(const CTensor&, const CDims&) except +raise_error
    CTensor transpose(const CTensor&, int64_t, int64_t) except +raise_error
    CTensor permute(const CTensor&, const CDims&) except +raise_error
    CTensor squeeze_all "zero::squeeze"(const CTensor&) except +raise_error
    CTensor squeeze(const CTensor&, const CDims&) except +raise_error
    CTensor unsqueeze(const CTensor&, int64_t) except +raise_error
    CTensor select(const CTensor&, int64_t, int64_t) except +raise_error
    CTensor slice(const CTensor&, int64_t, int64_t, int64_t, int64_t) except +raise_error
    CTensor diagonal(const CTensor&, int64_t, int64_t, int64_t) except +raise_error
    CTensors split(const CTensor&, const CDims&, int64_t) except +raise_error
    CTensors unbind(const CTensor&, int64_t) except +raise_error

    # geometry.cpp
    CTensor unfold(const CTensor&, int64_t, int64_t, int64_t) except +raise_error
    CTensor view_as_type "zero::view"(const CTensor&, CDType) except +raise_error
    CTensor storage_bytes(const CTensor&) except +raise_error
    void restride_(const char*, const CTensor&, const CTensor&) except +raise_error
    void resize_(const CTensor&, const CDims&) except +raise_error

    # arrange.cpp
    CTensor tril(const CTensor&, int64_t, CTarget) except +raise_error
    CTensor triu(const CTensor&, int64_t, CTarget) except +raise_error
    CTensor triangle_indices(int64_t, int64_t, int64_t, cbool) except +raise_error
    CTensor flip(const CTensor&, const CDims&) except +raise_error
    CTensor roll(const CTensor&, const CDims&, const CDims&) except +raise_error
    CTensor repeat_interleave(const CTensor&) except +raise_error
    CTensor diag_embed(const CTensor&, int64_t, int64_t, int64_t) except +raise_error

    # index.cpp, select.cpp
    CTensor index(const CTensor&, const CTensors&) except +raise_error
    CTensor index_put(const CTensor&, const CTensors&, const CTensor&, cbool,
                      CTarget) except +raise_error
    void set_index(const CTensor&, const CTensors&, const CTensor&) except +raise_error
    CTensor masked_fill(
        const CTensor&, const CTensor&, const COperand&, CTarget) except +raise_error
    CTensor masked_select(const CTensor&, const CTensor&) except +raise_error
    CTensor nonzero(const CTensor&) except +raise_error
    CTensors nonzero_as_tuple(const CTensor&) except +raise_error
    CTensor masked_scatter(
        const CTensor&, const CTensor&, const CTensor&, CTarget) except +raise_error
    CTensor take(const CTensor&, const CTensor&) except +raise_error
    CTensor put(const CTensor&, const CTensor&, const CTensor&, cbool,
                CTarget) except +raise_error
    CTensor index_select(const CTensor&, int64_t, const CTensor&) except +raise_error
    CTensor index_add(const CTensor&, int64_t, const CTensor&, const CTensor&, const CScalar&,
                      CTarget) except +raise_error
    CTensor index_copy(const CTensor&, int64_t, const CTensor&, const CTensor&,
                       CTarget) except +raise_error
    CTensor index_fill(const CTensor&, int64_t, const CTensor&, const COperand&,
                       CTarget) except +raise_error
    CTensor index_reduce(const CTensor&, int64_t, const CTensor&, const CTensor&, CCombine, cbool,
                         CTarget) except +raise_error
    CTensor gather(const CTensor&, int64_t, const CTensor&) except +raise_error
    CTensor scatter(const char*, const CTensor&, int64_t, const CTensor&, const COperand&,
                    CCombine, cbool, CTarget) except +raise_error
    CTensor take_along_dim(const CTensor&, const CTensor&, int64_t) except +raise_error

    # join.cpp
    CTensor cat(const CTensors&, int64_t) except +raise_error
    CTensor stack(const CTensors&, int64_t) except +raise_error

    # optim.cpp
    void update_(const CTensor&, const CTensor&) except +raise_error
