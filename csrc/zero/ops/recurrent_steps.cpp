#include "zero/ops/recurrent_steps.h"

#include <algorithm>
#include <cstring>

#include "zero/ops/gemm.h"
#include "zero/ops/iterator.h"
#include "zero/ops/ops.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

Steps::Steps(const Tensor& batch_sizes)
    : count_(batch_sizes.numel()), batch_(count_ > 0 ? batch_sizes.data<int64_t>()[0] : 0) {
  rows_ = 0;
  for (int64_t t = 0; t < count_; ++t) {
    sizes_.push_back(batch_sizes.data<int64_t>()[t]);
    offsets_.push_back(rows_);
    rows_ += sizes_.back();
  }
}

void copy_last(const Steps& steps, bool reverse, const void* from, int64_t from_row, int64_t n,
               int64_t itemsize, void* to) {
  const auto row = [&](int64_t source, int64_t b) {
    std::memcpy(static_cast<char*>(to) + b * n * itemsize,
                static_cast<const char*>(from) + source * from_row * itemsize,
                static_cast<size_t>(n * itemsize));
  };
  const int64_t last = steps.count() - 1;
  if (reverse || !steps.packed()) {
    const int64_t begin = reverse ? 0 : steps.offset(last);
    for (int64_t b = 0; b < steps.batch(); ++b) row(begin + b, b);
    return;
  }
  int64_t b = 0;
  for (int64_t t = last; t >= 0; --t)
    for (; b < steps.size(t); ++b) row(steps.offset(t) + b, b);
}

namespace {

// Multiply-adds that are worth a range of their own, if all threads meet again at once: ~5 µs.
constexpr double kStepGrain = 1 << 18;
constexpr int64_t kRowBlock = 4, kManyRows = 24;
constexpr int64_t kNearBytes = 1 << 18;  // of weights: they stay in the cache of each core

// Packing costs about as much as the product with 16 rows.
constexpr int64_t kPackedSteps = 4, kPackedRows = 24;

// What is derived from a direction, for both ways.
struct Engine {
  explicit Engine(const Direction& direction)
      : d(direction),
        steps(direction.steps),
        item(itemsize(d.dtype())),
        hidden(d.hidden()),
        out(d.out()),
        groups(recurrent_gates(d.mode)),
        width(recurrent_slots(d.mode) * hidden),
        type(static_cast<int>(compute_type(d.dtype()))),
        packs(!d.w.hr.defined() && steps.count() >= kPackedSteps && steps.rows() >= kPackedRows),
        zeros(zero::zeros({std::max(groups * hidden, out)}, d.w.ih.options())) {}

  char* at(const void* data, int64_t elements) const {
    return const_cast<char*>(static_cast<const char*>(data)) + elements * item;
  }
  // Row r of a step and what follows it; data may be null.
  RecurrentRows rows(const void* data, int64_t first, int64_t row) const {
    return {data ? at(data, first * row) : nullptr, row};
  }
  // Rows of step i that go on from the step before.
  int64_t going_on(int64_t i) const {
    return i == 0 ? 0 : std::min(steps.size(d.step(i - 1)), steps.size(d.step(i)));
  }
  RecurrentRows or_zeros(RecurrentRows rows) const {
    return rows.data ? rows : RecurrentRows{zeros.data(), 0};
  }
  double row_work() const {  // of one step
    return static_cast<double>(groups * hidden) * static_cast<double>(out + 20);
  }
  int64_t panels(int64_t groups_of_panel) const {
    const int64_t size = recurrent_panel(kernels().recurrent->vector_bytes, item, groups_of_panel);
    return (hidden + size - 1) / size;
  }
  Tensor packed(bool transposed) const;

  // step(i, first row, last, first panel, last) for all steps in order, or in reverse: threads
  // share the rows of all steps, or the units of each. By shape only.
  template <class F>
  void run(bool backward, int64_t count, int64_t all_panels, F&& step) const {
    const int64_t batch = steps.batch();
    const auto index = [&](int64_t i) { return backward ? count - 1 - i : i; };
    if (batch >= kManyRows && groups * hidden * out * item <= kNearBytes) {
      const double work = row_work() * kRowBlock * static_cast<double>(steps.count());
      parallel_for((batch + kRowBlock - 1) / kRowBlock, grain(work),
                   [&](int64_t begin, int64_t end) {
                     const int64_t last = std::min(batch, end * kRowBlock);
                     for (int64_t i = 0; i < count; ++i)
                       step(index(i), begin * kRowBlock, last, int64_t{0}, all_panels);
                   });
      return;
    }
    const int64_t each = grain(row_work() * static_cast<double>(batch) /
                               static_cast<double>(std::max<int64_t>(1, all_panels)));
    for (int64_t i = 0; i < count; ++i)
      parallel_for(all_panels, each, [&](int64_t begin, int64_t end) {
        step(index(i), int64_t{0}, batch, begin, end);
      });
  }
  static int64_t grain(double work) {
    return std::max<int64_t>(1, static_cast<int64_t>(kStepGrain / std::max(work, 1.0)));
  }

  const Direction& d;
  const Steps& steps;
  int64_t item, hidden, out, groups, width;
  int type;
  bool packs;
  Tensor zeros;
};

Tensor Engine::packed(bool transposed) const {
  if (!packs) return Tensor();
  RecurrentPackArgs args{.b = d.w.hh.data(),
                         .b_row = transposed ? out : 1,
                         .b_column = transposed ? 1 : out,
                         .k = transposed ? groups * hidden : out,
                         .hidden = hidden,
                         .groups = transposed ? 1 : groups,
                         .begin = 0,
                         .end = panels(transposed ? 1 : groups),
                         .packed = nullptr};
  const int64_t vectors = args.groups == 1 ? 2 : args.groups;
  const int64_t panel = vectors * args.k * kernels().recurrent->vector_bytes / item;
  Tensor to = empty({args.end, panel}, d.w.ih.options());
  args.packed = to.data();
  const RecurrentPackFn pack = kernels().recurrent->pack[type];
  parallel_for(args.end, std::max<int64_t>(1, kGrainSize / std::max<int64_t>(1, panel)),
               [&](int64_t begin, int64_t end) {
                 RecurrentPackArgs part = args;
                 part.begin = begin;
                 part.end = end;
                 pack(part);
               });
  return to;
}

// b_ih, and b_hh with it where W_hh h is added to W_ih x at once.
Tensor bias_of_gates(const Direction& d, int64_t hidden) {
  if (!d.w.b_ih.defined()) return Tensor();
  if (d.mode != RecurrentMode::Gru) return add(d.w.b_ih, d.w.b_hh);
  Tensor bias = add(d.w.b_ih, d.w.b_hh);
  run_copy(slice(bias, 0, 2 * hidden, 3 * hidden), slice(d.w.b_ih, 0, 2 * hidden, 3 * hidden));
  return bias;
}

bool is_large(const Direction& d) {
  return static_cast<double>(d.steps.rows()) * static_cast<double>(d.w.ih.size(0)) *
             static_cast<double>(d.in() + d.out()) >
         1e7;
}

// ---- forward ------------------------------------------------------------------------------------

// The slots of `count` rows from `first` on get their part of W_hh h, where it is not packed.
void add_products(const Engine& e, int64_t first, int64_t count, RecurrentRows h, const void* b_n) {
  const Direction& d = e.d;
  char* const to = e.at(d.gates.data(), first * e.width);
  const bool gru = d.mode == RecurrentMode::Gru;
  const int64_t bytes = e.hidden * e.item;
  if (gru)
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + (i * e.width + 3 * e.hidden) * e.item, b_n ? b_n : e.zeros.data(),
                  static_cast<size_t>(bytes));
  if (!h.data || count == 0) return;
  Gemm g{d.dtype(),
         count,
         (gru ? 2 : e.groups) * e.hidden,
         e.out,
         {h.data, h.row, 1},
         {d.w.hh.data(), 1, e.out},
         to,
         e.width,
         true};
  gemm(g);
  if (!gru) return;
  g.n = e.hidden;
  g.b.data = e.at(d.w.hh.data(), 2 * e.hidden * e.out);
  g.c = to + 3 * bytes;
  gemm(g);
}

}  // namespace

void run_forward(const Direction& d) {
  const Engine e(d);
  if (d.steps.rows() == 0) return;
  const BlockingSection section(is_large(d));
  const DenormalGuard denormal;
  const Tensor bias = bias_of_gates(d, e.hidden);
  gemm({d.dtype(),
        d.steps.rows(),
        e.groups * e.hidden,
        d.in(),
        {d.x.data(), d.in(), 1},
        {d.w.ih.data(), 1, d.in()},
        d.gates.data(),
        e.width});
  const void* const b_n =
      d.w.b_hh.defined() ? e.at(d.w.b_hh.data(), 2 * e.hidden * (e.groups == 3)) : nullptr;
  const Tensor packed = e.packed(false);
  const RecurrentForwardFn fn = kernels().recurrent->forward[static_cast<int>(d.mode)][e.type];
  const Tensor before_projection =
      d.w.hr.defined() ? empty({d.steps.batch(), e.hidden}, d.w.ih.options()) : Tensor();
  const bool projects = before_projection.defined();

  // The arguments of step i for the rows from `first` on.
  const auto arguments = [&](int64_t i, int64_t first, int64_t last) {
    const int64_t t = d.step(i), at = d.steps.offset(t) + first;
    const int64_t before = i > 0 ? d.steps.offset(d.step(i - 1)) + first : first;
    const int64_t rows = std::min(last, d.steps.size(t)) - first;
    RecurrentForwardArgs args{};
    args.rows = rows;
    args.split = std::clamp<int64_t>(e.going_on(i) - first, 0, std::max<int64_t>(rows, 0));
    args.hidden = e.hidden;
    args.gates = e.at(d.gates.data(), at * e.width);
    args.packed = packed.defined() ? packed.data() : nullptr;
    args.k = e.out;
    args.h_before = e.rows(d.y, before, d.y_row);
    args.h_start = e.rows(d.h0, first, e.out);
    args.c_before = e.rows(d.c, d.keeps_c ? before : first, e.hidden);
    args.c_start = e.or_zeros(e.rows(d.c0, first, e.hidden));
    args.zeros = e.zeros.data();
    args.bias = bias.defined() ? bias.data() : e.zeros.data();
    args.bias_n = b_n;
    args.fill = e.packs;
    args.c = d.c ? e.at(d.c, (d.keeps_c ? at : first) * e.hidden) : nullptr;
    args.c_row = e.hidden;
    args.h = projects ? before_projection.data() : e.at(d.y, at * d.y_row);
    args.h_row = projects ? e.hidden : d.y_row;
    return args;
  };
  const int64_t panels = e.panels(e.groups);
  if (e.packs) {
    e.run(false, d.steps.count(), panels,
          [&](int64_t i, int64_t first, int64_t last, int64_t begin, int64_t end) {
            RecurrentForwardArgs args = arguments(i, first, last);
            args.begin = begin;
            args.end = end;
            if (args.rows > 0) fn(args);
          });
    return;
  }
  for (int64_t i = 0; i < d.steps.count(); ++i) {
    const RecurrentForwardArgs whole = arguments(i, 0, d.steps.batch());
    const int64_t at = d.steps.offset(d.step(i));
    add_products(e, at, whole.split, whole.h_before, b_n);
    add_products(e, at + whole.split, whole.rows - whole.split, e.rows(d.h0, whole.split, e.out),
                 b_n);
    parallel_for(whole.rows, Engine::grain(static_cast<double>(20 * e.width)),
                 [&](int64_t begin, int64_t end) {
                   RecurrentForwardArgs args = arguments(i, begin, end);
                   if (projects) args.h = e.at(args.h, begin * e.hidden);
                   args.end = panels;
                   fn(args);
                 });
    if (projects)
      gemm({d.dtype(),
            whole.rows,
            e.out,
            e.hidden,
            {before_projection.data(), e.hidden, 1},
            {d.w.hr.data(), 1, e.hidden},
            e.at(d.y, at * d.y_row),
            d.y_row});
  }
}

// ---- backward -----------------------------------------------------------------------------------

namespace {

// The states that steps went on from, [rows, out], 0 where there was none.
Tensor states_before(const Engine& e) {
  const Direction& d = e.d;
  Tensor states = empty({d.steps.rows(), e.out}, d.w.ih.options());
  for (int64_t i = 0; i < d.steps.count(); ++i) {
    const int64_t t = d.step(i), split = e.going_on(i);
    const int64_t before = i > 0 ? d.steps.offset(d.step(i - 1)) : 0;
    for (int64_t b = 0; b < d.steps.size(t); ++b) {
      const void* const from = b < split ? e.at(d.y, (before + b) * d.y_row)
                               : d.h0    ? e.at(d.h0, b * e.out)
                                         : e.zeros.data();
      std::memcpy(e.at(states.data(), (d.steps.offset(t) + b) * e.out), from,
                  static_cast<size_t>(e.out * e.item));
    }
  }
  return states;
}

// The gradients of the slots, of a GRU in the order r z, W_hn h, n: blocks that belong to W_hh, and
// those that belong to W_ih.
struct Blocks { int64_t first, count, of_weight; };
SmallVector<Blocks, 2> input_blocks(RecurrentMode mode, int64_t hidden) {
  if (mode == RecurrentMode::Gru) return {{0, 2 * hidden, 0}, {3 * hidden, hidden, 2 * hidden}};
  return {{0, recurrent_gates(mode) * hidden, 0}};
}

// dw += slots[rows]^T states[rows], for `rows` rows.
void add_weight_gradient(const Engine& e, const Tensor& slots, int64_t first, int64_t rows,
                         const void* states, int64_t states_row, bool add, const Tensor& dw) {
  gemm({e.d.dtype(),
        e.groups * e.hidden,
        e.out,
        rows,
        {e.at(slots.data(), first * e.width), 1, e.width},
        {states, states_row, 1},
        dw.data(),
        e.out,
        add});
}

Tensor gradient_of_hh(const Engine& e, const Tensor& slots) {
  const Direction& d = e.d;
  Tensor dw = empty(d.w.hh.sizes(), d.w.hh.options());
  if (d.steps.packed()) {
    const Tensor states = states_before(e);
    add_weight_gradient(e, slots, 0, d.steps.rows(), states.data(), e.out, false, dw);
    return dw;
  }
  const int64_t batch = d.steps.batch(), going_on = d.steps.rows() - batch;
  // Of a single step d.y is null: no sum, but zeros.
  add_weight_gradient(e, slots, d.reverse ? 0 : batch, going_on,
                      d.reverse && d.y ? e.at(d.y, batch * d.y_row) : d.y, d.y_row, false, dw);
  if (d.h0) add_weight_gradient(e, slots, d.reverse ? going_on : 0, batch, d.h0, e.out, true, dw);
  return dw;
}

void weight_gradients(const Engine& e, const Tensor& slots, DirectionGradients& gradients) {
  const Direction& d = e.d;
  const int64_t rows = d.steps.rows(), in = d.in();
  const auto blocks = input_blocks(d.mode, e.hidden);
  if (gradients.of_ih) {
    gradients.dw.ih = empty(d.w.ih.sizes(), d.w.ih.options());
    for (const Blocks& b : blocks)
      gemm({d.dtype(),
            b.count,
            in,
            rows,
            {e.at(slots.data(), b.first), 1, e.width},
            {d.x.data(), in, 1},
            e.at(gradients.dw.ih.data(), b.of_weight * in),
            in});
  }
  if (gradients.dx.defined()) {
    bool add = gradients.add;
    for (const Blocks& b : blocks) {
      gemm({d.dtype(),
            rows,
            in,
            b.count,
            {e.at(slots.data(), b.first), e.width, 1},
            {e.at(d.w.ih.data(), b.of_weight * in), in, 1},
            gradients.dx.data(),
            in,
            add});
      add = true;
    }
  }
  if (gradients.of_hh) gradients.dw.hh = gradient_of_hh(e, slots);
  if (gradients.of_bias) {
    const Tensor sums = sum(slots, {0});
    if (d.mode == RecurrentMode::Gru) {
      gradients.dw.b_hh = contiguous(slice(sums, 0, 0, 3 * e.hidden));
      gradients.dw.b_ih = empty({3 * e.hidden}, sums.options());
      for (const Blocks& b : blocks)
        run_copy(slice(gradients.dw.b_ih, 0, b.of_weight, b.of_weight + b.count),
                 slice(sums, 0, b.first, b.first + b.count));
    } else {
      gradients.dw.b_ih = gradients.dw.b_hh = sums;
    }
  }
}

}  // namespace

void run_backward(const Direction& d, DirectionGradients& gradients) {
  const Engine e(d);
  const BlockingSection section(is_large(d));
  const DenormalGuard denormal;
  const int64_t count = d.steps.count(), batch = d.steps.batch();
  const Tensor slots = empty({d.steps.rows(), e.width}, d.w.ih.options());
  const Tensor packed = e.packed(true);
  const RecurrentBackwardFn fn = kernels().recurrent->backward[static_cast<int>(d.mode)][e.type];
  const bool projects = d.w.hr.defined();
  // With a projection: gradients of what comes out of it, and of one step of what goes in.
  const Tensor projected = projects ? empty({d.steps.rows(), e.out}, d.w.ih.options()) : Tensor();
  const Tensor inner = projects ? empty({batch, e.hidden}, d.w.ih.options()) : gradients.dh;

  const auto arguments = [&](int64_t i, int64_t first, int64_t last) {
    const int64_t t = d.step(i), at = d.steps.offset(t) + first;
    const int64_t before = i > 0 ? d.steps.offset(d.step(i - 1)) + first : first;
    RecurrentBackwardArgs args{};
    args.rows = std::max<int64_t>(0, std::min(last, d.steps.size(t)) - first);
    args.split = std::clamp<int64_t>(e.going_on(i) - first, 0, args.rows);
    args.hidden = e.hidden;
    args.gates = e.at(d.gates.data(), at * e.width);
    args.g = e.or_zeros(projects ? RecurrentRows{} : e.rows(gradients.g, at, d.y_row));
    args.h_before = e.rows(d.y, before, d.y_row);
    args.h_start = e.or_zeros(e.rows(d.h0, first, e.out));
    args.c_before = e.rows(d.c, before, e.hidden);
    args.c_start = e.or_zeros(e.rows(d.c0, first, e.hidden));
    args.c = e.rows(d.c, at, e.hidden);
    args.dh = e.at(inner.data(), first * e.hidden);
    args.dc = gradients.dc.defined() ? e.at(gradients.dc.data(), first * e.hidden) : nullptr;
    args.out = e.at(slots.data(), at * e.width);
    return args;
  };
  const int64_t panels = e.panels(1);
  if (e.packs) {
    // The product of a step stands before the gates of the next, so that both need no other units;
    // that of the last one has no step behind it.
    const int64_t extra = gradients.of_h0 ? 1 : 0;
    e.run(true, count + extra, panels,
          [&](int64_t index, int64_t first, int64_t last, int64_t begin, int64_t end) {
            const int64_t i = index - extra;
            RecurrentBackwardArgs args{};
            if (i >= 0) {
              args = arguments(i, first, last);
            } else {
              args.hidden = e.hidden;
              args.dh = e.at(inner.data(), first * e.hidden);
            }
            args.begin = begin;
            args.end = end;
            if (i + 1 < count) {
              const int64_t t = d.step(i + 1);
              args.packed = packed.data();
              args.next = e.at(slots.data(), (d.steps.offset(t) + first) * e.width);
              args.next_rows = std::max<int64_t>(0, std::min(last, d.steps.size(t)) - first);
              args.k = e.groups * e.hidden;
            }
            fn(args);
          });
  } else {
    for (int64_t i = count - 1; i >= 0; --i) {
      const int64_t at = d.steps.offset(d.step(i)), rows = d.steps.size(d.step(i));
      if (projects) {
        const Tensor to = slice(projected, 0, at, at + rows), dh = slice(gradients.dh, 0, 0, rows);
        if (gradients.g) {
          for (int64_t r = 0; r < rows; ++r)
            std::memcpy(e.at(projected.data(), (at + r) * e.out),
                        e.at(gradients.g, (at + r) * d.y_row), static_cast<size_t>(e.out * e.item));
          const Operand a(to), b(dh);
          run_elementwise(ElementwiseOp::Add, d.dtype(), to, {&a, &b});
        } else {
          run_copy(to, dh);
        }
        gemm({d.dtype(),
              rows,
              e.hidden,
              e.out,
              {to.data(), e.out, 1},
              {d.w.hr.data(), e.hidden, 1},
              inner.data(),
              e.hidden});
      }
      parallel_for(rows, Engine::grain(static_cast<double>(20 * e.width)),
                   [&](int64_t begin, int64_t end) {
                     RecurrentBackwardArgs args = arguments(i, begin, end);
                     args.end = panels;
                     fn(args);
                   });
      if (i > 0 || gradients.of_h0)
        gemm({d.dtype(),
              rows,
              e.out,
              e.groups * e.hidden,
              {e.at(slots.data(), at * e.width), e.width, 1},
              {d.w.hh.data(), e.out, 1},
              gradients.dh.data(),
              e.out,
              !projects});
    }
  }
  if (gradients.of_hr) {
    const Tensor o = slice(d.gates, 1, 3 * e.hidden, 4 * e.hidden);
    const Tensor c = empty({d.steps.rows(), e.hidden}, d.w.ih.options());
    std::memcpy(c.data(), d.c, static_cast<size_t>(c.numel() * e.item));
    const Tensor q = mul(o, tanh(c));
    gradients.dw.hr = empty(d.w.hr.sizes(), d.w.hr.options());
    gemm({d.dtype(),
          e.out,
          e.hidden,
          d.steps.rows(),
          {projected.data(), 1, e.out},
          {q.data(), e.hidden, 1},
          gradients.dw.hr.data(),
          e.hidden});
  }
  weight_gradients(e, slots, gradients);
}

}  // namespace zero
