// Muon's step: the running mean of gradients, a matrix made nearly orthogonal, is the update.
//
// Values are rounded to bfloat16 where PyTorch's are; operands of products are float32 again: those
// products are faster, and sums are rounded once.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "zero/ops/gemm.h"
#include "zero/ops/iterator.h"
#include "zero/ops/optim.h"

namespace zero {

namespace {

// x = (a x + b y) / divisor in bfloat16, of the first n elements.
void round_to_bfloat16(const Tensor& to, const Tensor& from, int64_t n, const RoundArgs& args) {
  float *x = to.data<float>(), *y = from.data<float>();
  parallel_for(n, kGrainSize, [=](int64_t begin, int64_t end) {
    kernels().optimizer->round_bfloat16(x + begin, y + begin, end - begin, args);
  });
}

float rounded(float x) {
  kernels().optimizer->round_bfloat16(&x, &x, 1, {});
  return x;
}

// c = a b, or with a or b transposed.
struct Side {
  const Tensor& x;
  int64_t columns;
  bool turned = false;
};
void product(const Tensor& c, int64_t m, int64_t n, int64_t k, const Side& a, const Side& b) {
  const auto operand = [](const Side& s) {
    return GemmOperand{s.x.data<float>(), s.turned ? 1 : s.columns, s.turned ? s.columns : 1};
  };
  gemm({.dtype = DType::Float32,
        .m = m,
        .n = n,
        .k = k,
        .a = operand(a),
        .b = operand(b),
        .c = c.data<float>(),
        .c_row = n});
}

// Room for the largest matrix: u, the next u, and two squares of the shorter side.
struct Room { Tensor u, next, w, square; };

// Brings all singular values of u, a matrix as x, near 1; options from ns_coefficients on.
void orthogonal(const OptimizerItem& x, const double* options, Room& room) {
  const int64_t rows = x.rows, columns = x.columns, n = std::min(rows, columns), size = x.numel;
  const auto q0 = static_cast<float>(options[0]), q1 = static_cast<float>(options[1]),
             q2 = static_cast<float>(options[2]), eps = static_cast<float>(options[3]);
  auto& [u, next, w, square] = room;
  round_to_bfloat16(u, u, size, {});
  const auto norm_of = [&](const Tensor& t) {
    return static_cast<float>(item(norm(slice(t, 0, 0, size))).to_double());
  };
  const float norm = rounded(norm_of(u));
  round_to_bfloat16(u, u, size, {.divisor = norm < eps ? rounded(eps) : norm});
  const bool tall = rows > columns;  // u^T u is the smaller square then
  for (int k = 0; k < options[4]; ++k) {
    product(w, n, n, tall ? rows : columns, {u, columns, tall}, {u, columns, !tall});
    round_to_bfloat16(w, w, n * n, {});
    product(square, n, n, n, {w, n}, {w, n});
    round_to_bfloat16(square, w, n * n, {.a = q2, .b = q1});
    if (tall) {
      product(next, rows, columns, n, {u, columns}, {square, n});
    } else {
      product(next, rows, columns, n, {square, n}, {u, columns});
    }
    round_to_bfloat16(next, u, size, {.b = q0});
    std::swap(u, next);
  }
}

}  // namespace

void muon(const double* options, const std::vector<OptimizerItem>& items) {
  const double lr = options[0], weight_decay = options[1], momentum = options[2];
  const double nesterov = options[3], match = options[9];
  int64_t elements = 0, squares = 0;
  for (const OptimizerItem& x : items) {
    const int64_t n = std::min(x.rows, x.columns);
    elements = std::max(elements, x.numel);
    squares = std::max(squares, x.numel > 0 ? n * n : 0);
  }
  const auto room_of = [](int64_t n, DType dtype) { return empty({n}, {dtype, Device()}); };
  const DType single = DType::Float32;
  Room room{room_of(elements, single), room_of(elements, single), room_of(squares, single),
            room_of(squares, single)};
  std::vector<OptimizerItem> one(1);
  for (const OptimizerItem& x : items) {
    if (x.numel == 0) continue;
    const bool direct = x.dtype == single;
    Tensor update = direct ? room.u : room_of(x.numel, x.dtype);
    one[0] = x;
    one[0].data[0] = update.data<char>();
    one[0].args.c[0] = momentum;
    one[0].args.c[1] = nesterov;
    update_items(UpdateRule::Muon, one);
    if (!direct) run_copy(slice(room.u, 0, 0, x.numel), update);
    orthogonal(x, options + 4, room);
    if (direct) {
      update = room.u;
    } else {
      run_copy(update, slice(room.u, 0, 0, x.numel));
    }
    const double rows = static_cast<double>(x.rows), columns = static_cast<double>(x.columns);
    const double factor = match != 0 ? 0.2 * std::sqrt(std::max(rows, columns))
                                     : std::sqrt(std::max(1.0, rows / columns));
    one[0] = x;
    one[0].data[1] = update.data<char>();
    one[0].data[2] = nullptr;
    one[0].args.keep = 1 - lr * weight_decay;
    one[0].args.c[0] = lr * factor;
    update_items(UpdateRule::Sgd, one);
  }
}

}  // namespace zero
