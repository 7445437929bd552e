// Recurrent layers. A layer, both directions of it, is one node; its second gradient is that of the
// same layer composed of other operators.
#include "zero/ops/recurrent.h"

#include "zero/autograd/engine.h"
#include "zero/autograd/record.h"
#include "zero/ops/autocast.h"
#include "zero/ops/ops.h"
#include "zero/ops/recurrent_steps.h"

namespace zero {

namespace {

const char* const kNodes[] = {"RnnTanhBackward0", "RnnReluBackward0", "LstmBackward0",
                              "GruBackward0"};

// One layer: x is [T, B, in], or [rows, in] of packed sequences or of one step.
struct Layer {
  RecurrentMode mode;
  int64_t directions;
  int64_t steps, batch;  // of sequences that are not packed
  bool cell;             // one step, whose state is the result

  bool lstm() const { return mode == RecurrentMode::Lstm; }
};

constexpr int kWeights = 5;      // W_ih, W_hh, b_ih, b_hh, W_hr
constexpr int kFirstWeight = 3;  // of the inputs, behind x, h0 and c0
constexpr int kInputs = kFirstWeight + 2 * kWeights;

// What a node saves behind its inputs.
enum Saved { kSizes = kInputs, kOutput, kGates, kCells = kGates + 2, kSavedEnd = kCells + 2 };

Tensor* weight_of(RecurrentWeights& w, int i) {
  Tensor* const all[] = {&w.ih, &w.hh, &w.b_ih, &w.b_hh, &w.hr};
  return all[i];
}

Tensor dense(const Tensor& x) { return x.defined() ? contiguous(x) : x; }

void* part(const Tensor& x, int64_t elements) {
  return x.defined() ? x.data<char>() + elements * itemsize(x.dtype()) : nullptr;
}

// Direction k of a layer over dense tensors.
Direction direction(const Layer& layer, int64_t k, const Steps& steps, const Tensor& x,
                    const Tensor& h0, const Tensor& c0, const RecurrentWeights& w, const Tensor& y,
                    const Tensor& gates, const Tensor& c, bool keeps_c) {
  const int64_t out = w.hh.size(1), hidden = w.ih.size(0) / recurrent_gates(layer.mode);
  return {layer.mode,
          k == 1,
          steps,
          w,
          x,
          part(h0, k * steps.batch() * out),
          part(c0, k * steps.batch() * hidden),
          part(y, k * out),
          layer.directions * out,
          gates,
          keeps_c ? part(c, 0) : part(c, k * steps.batch() * hidden),
          keeps_c};
}

// ---- gradient -----------------------------------------------------------------------------------

// The layer by way of other operators, for gradients of gradients: {y, h_n, c_n}.
[[gnu::cold]] Tensors composed(const Layer& layer, const Steps& steps, const Tensor& x,
                               const Tensor& h0, const Tensor& c0, RecurrentWeights* weights) {
  Tensors ys, hs, cs;
  const Tensor rows = reshape(x, {steps.rows(), x.size(x.dim() - 1)});
  for (int64_t k = 0; k < layer.directions; ++k) {
    const RecurrentWeights& w = weights[k];
    const int64_t out = w.hh.size(1), n = w.ih.size(0) / recurrent_gates(layer.mode);
    const bool gru = layer.mode == RecurrentMode::Gru;
    const auto start = [&](const Tensor& given, int64_t size) {
      return given.defined() ? select(reshape(given, {layer.directions, steps.batch(), size}), 0, k)
                             : zeros({steps.batch(), size}, x.options());
    };
    const Tensor h_start = start(h0, out), c_start = layer.lstm() ? start(c0, n) : Tensor();
    const Tensor of_x = linear(rows, w.ih, w.b_ih);
    Tensors results(steps.count()), h_ends, c_ends;
    Tensor h, c;
    for (int64_t i = 0; i < steps.count(); ++i) {
      const int64_t t = k == 1 ? steps.count() - 1 - i : i, size = steps.size(t);
      const int64_t before = i == 0 ? 0 : h.size(0);
      // Rows that end, of falling sizes, or that begin, of rising ones.
      const auto go_on = [&](const Tensor& state, const Tensor& first, Tensors& ends) {
        if (before == 0) return slice(first, 0, 0, size);
        if (size < before) ends.push_back(slice(state, 0, size, before));
        if (size <= before) return slice(state, 0, 0, size);
        return cat({state, slice(first, 0, before, size)});
      };
      h = go_on(h, h_start, h_ends);
      if (c_start.defined()) c = go_on(c, c_start, c_ends);
      const Tensor a = slice(of_x, 0, steps.offset(t), steps.offset(t) + size);
      const Tensor b = linear(h, w.hh, w.b_hh);
      const auto gate = [&](const Tensor& all, int64_t g) {
        return slice(all, 1, g * n, (g + 1) * n);
      };
      if (gru) {
        const Tensor r = sigmoid(add(gate(a, 0), gate(b, 0)));
        const Tensor z = sigmoid(add(gate(a, 1), gate(b, 1)));
        const Tensor state = tanh(add(gate(a, 2), mul(r, gate(b, 2))));
        h = add(state, mul(z, sub(h, state)));
      } else if (layer.lstm()) {
        const Tensor all = add(a, b);
        c = add(mul(sigmoid(gate(all, 1)), c), mul(sigmoid(gate(all, 0)), tanh(gate(all, 2))));
        h = mul(sigmoid(gate(all, 3)), tanh(c));
        if (w.hr.defined()) h = linear(h, w.hr);
      } else {
        h = layer.mode == RecurrentMode::Tanh ? tanh(add(a, b)) : relu(add(a, b));
      }
      results[t] = h;
    }
    const auto last = [](const Tensor& state, const Tensors& ends) {
      Tensors parts{state};
      for (int64_t i = ends.size() - 1; i >= 0; --i) parts.push_back(ends[i]);
      return parts.size() == 1 ? state : cat(parts);
    };
    ys.push_back(cat(results));
    hs.push_back(last(h, h_ends));
    if (layer.lstm()) cs.push_back(last(c, c_ends));
  }
  Dims sizes = x.sizes();
  sizes.back() = layer.directions * weights[0].hh.size(1);
  const Tensor y = reshape(layer.directions == 1 ? ys[0] : cat(ys, 1), sizes);
  const Tensor h_n = layer.cell ? Tensor() : stack(hs);
  return {y, h_n, !layer.lstm() ? Tensor() : layer.cell ? cs[0] : stack(cs)};
}

[[gnu::cold]] Grads differentiable_backward(Node& node, const Grads& gs, const Layer& layer) {
  // As views, so that the pass below ends at them and not at what made them.
  Tensors inputs(kInputs), wanted;
  for (int i = 0; i < kInputs; ++i) {
    inputs[i] = node.saved(i);
    if (i >= node.next_.size() || !node.needs(i)) continue;
    inputs[i] = whole_view(inputs[i]);
    wanted.push_back(inputs[i]);
  }
  RecurrentWeights weights[2];
  for (int i = kFirstWeight; i < kInputs; ++i)
    *weight_of(weights[(i - kFirstWeight) / kWeights], (i - kFirstWeight) % kWeights) = inputs[i];
  const Steps steps = Steps::of(node.saved(kSizes), layer.steps, layer.batch);
  const Tensors all = composed(layer, steps, inputs[0], inputs[1], inputs[2], weights);
  Tensors results, gradients;
  int64_t next = 0;
  for (const Tensor& result : all) {
    if (!result.defined()) continue;
    if (gs[next].defined()) {
      results.push_back(result);
      gradients.push_back(gs[next]);
    }
    ++next;
  }
  const Tensors found = grad(results, gradients, wanted, true, true, true);
  Grads grads(node.next_.size());
  next = 0;
  for (int64_t i = 0; i < node.next_.size(); ++i)
    if (node.needs(static_cast<int>(i))) grads[i] = found[next++];
  return grads;
}

[[gnu::cold]] Grads empty_gradients(Node& node) {
  Grads grads(node.next_.size());
  for (int64_t i = 0; i < node.next_.size(); ++i)
    if (node.needs(static_cast<int>(i))) {
      const Tensor x = node.saved(static_cast<int>(i));
      grads[i] = empty(x.sizes(), x.options());
    }
  return grads;
}

Grads backward(Node& node, const Grads& gs, const Layer& layer) {
  const Tensor saved_x = node.saved(0);
  if (saved_x.is_meta()) return empty_gradients(node);
  if (grad_enabled()) return differentiable_backward(node, gs, layer);
  const Steps steps = Steps::of(node.saved(kSizes), layer.steps, layer.batch);
  const Tensor x = dense(saved_x), h0 = dense(node.saved(1)), c0 = dense(node.saved(2));
  const Tensor y = node.saved(kOutput), g = dense(gs[0]);
  const Tensor g_h = layer.cell ? Tensor() : gs[1];
  const Tensor g_c = layer.lstm() ? gs[layer.cell ? 1 : 2] : Tensor();
  Grads grads(node.next_.size());
  if (node.needs(0)) grads[0] = empty(x.sizes(), x.options());
  Tensors dhs, dcs;
  for (int k = 0; k < layer.directions; ++k) {
    const int first = kFirstWeight + k * kWeights;
    RecurrentWeights w;
    for (int i = 0; i < kWeights; ++i) *weight_of(w, i) = dense(node.saved(first + i));
    const Tensor gates = node.saved(kGates + k), cells = node.saved(kCells + k);
    const Direction d = direction(layer, k, steps, x, h0, c0, w, y, gates, cells, true);
    // Of the last state; written to, so it is never a part of what came.
    const auto state = [&](const Tensor& given, int64_t size) {
      if (!given.defined()) return zeros({steps.batch(), size}, x.options());
      Tensor to = empty({steps.batch(), size}, x.options());
      copy_(to, layer.cell ? given : select(given, 0, k));
      return to;
    };
    DirectionGradients gradients{};
    gradients.g = part(g, k * d.out());
    gradients.dh = state(g_h, d.out());
    if (layer.lstm()) gradients.dc = state(g_c, d.hidden());
    gradients.of_h0 = node.needs(1);
    gradients.dx = grads[0];
    gradients.add = k > 0;
    const auto needs = [&](int i) { return node.needs(first + i); };
    gradients.of_ih = needs(0);
    gradients.of_hh = needs(1);
    gradients.of_bias = needs(2) || needs(3);
    gradients.of_hr = needs(4);
    run_backward(d, gradients);
    for (int i = 0; i < kWeights; ++i)
      if (needs(i)) grads[first + i] = *weight_of(gradients.dw, i);
    dhs.push_back(gradients.dh);
    dcs.push_back(gradients.dc);
  }
  const auto joined = [&](const Tensors& parts) {
    if (layer.cell) return parts[0];
    if (parts.size() > 1) return stack(parts);
    Dims sizes = parts[0].sizes();
    sizes.insert(0, 1);
    return view(parts[0], sizes);
  };
  if (node.needs(1)) grads[1] = joined(dhs);
  if (node.needs(2)) grads[2] = joined(dcs);
  return grads;
}

// ---- forward ------------------------------------------------------------------------------------

// One layer, of float32 or float64; h0 and c0 are [directions, batch, …] or, of a cell, [batch, …];
// both may be undefined. {y, h_n, c_n}: h_n is undefined of a cell, c_n of all but an LSTM.
Tensors run_layer(const Layer& layer, const Tensor& x, const Tensor& batch_sizes,
                  const Steps& steps, const Tensor& h0, const Tensor& c0,
                  RecurrentWeights* weights) {
  Tensors inputs{x, h0, c0};
  for (int i = kFirstWeight; i < kFirstWeight + layer.directions * kWeights; ++i)
    inputs.push_back(
        *weight_of(weights[(i - kFirstWeight) / kWeights], (i - kFirstWeight) % kWeights));
  bool records = false;
  if (grad_enabled())
    for (const Tensor& input : inputs) records |= requires_grad(input);

  const int64_t batch = steps.batch(), out = weights[0].hh.size(1);
  const int64_t hidden = weights[0].ih.size(0) / recurrent_gates(layer.mode);
  Dims sizes = x.sizes();
  sizes.back() = layer.directions * out;
  const auto state = [&](int64_t size) {
    return empty(layer.cell ? Dims{batch, size} : Dims{layer.directions, batch, size}, x.options());
  };
  const Tensor y = empty(sizes, x.options());
  const Tensor h_n = layer.cell ? Tensor() : state(out);
  const Tensor c_n = layer.lstm() ? state(hidden) : Tensor();
  Tensor gates[2], cells[2];
  {
    const GradModeGuard no_grad(false);
    const Tensor in = dense(x), h_start = dense(h0), c_start = dense(c0);
    for (int64_t k = 0; k < layer.directions && !x.is_meta(); ++k) {
      RecurrentWeights w;
      for (int i = 0; i < kWeights; ++i) *weight_of(w, i) = dense(*weight_of(weights[k], i));
      gates[k] = empty({steps.rows(), recurrent_slots(layer.mode) * hidden}, x.options());
      if (layer.lstm() && records) cells[k] = empty({steps.rows(), hidden}, x.options());
      const Direction d = direction(layer, k, steps, in, h_start, c_start, w, y, gates[k],
                                    records ? cells[k] : c_n, records);
      run_forward(d);
      const int64_t item = itemsize(x.dtype());
      if (h_n.defined())
        copy_last(steps, d.reverse, d.y, d.y_row, out, item, part(h_n, k * batch * out));
      if (cells[k].defined())
        copy_last(steps, d.reverse, d.c, hidden, hidden, item, part(c_n, k * batch * hidden));
    }
  }
  Tensors outputs{y};
  if (h_n.defined()) outputs.push_back(h_n);
  if (c_n.defined()) outputs.push_back(c_n);
  if (records) {
    const auto w = [&](int i) -> const Tensor* {
      return i < layer.directions * kWeights ? &inputs[kFirstWeight + i] : nullptr;
    };
    // Of one step the state that it began with is all that its gradient takes.
    const Tensor* const result = keep(steps.count() > 1, y);
    record(kNodes[static_cast<int>(layer.mode)], outputs, inputs,
           {&x, &h0, &c0, w(0), w(1), w(2), w(3), w(4), w(5), w(6), w(7), w(8), w(9), &batch_sizes,
            result, &gates[0], &gates[1], &cells[0], &cells[1]},
           [layer](Node& n, const Grads& gs) { return backward(n, gs, layer); });
  }
  return {y, h_n, c_n};
}

// ---- checks -------------------------------------------------------------------------------------

void check_like(const char* op, const char* name, const Tensor& x, const Tensor& other,
                const Dims& sizes) {
  ZERO_CHECK(other.dtype() == x.dtype(), DTypeError, op, ": dtypes differ; got input ", x.dtype(),
             " and ", name, ' ', other.dtype(), ", expected one dtype; to() converts");
  ZERO_CHECK(other.device() == x.device(), Error, op, ": tensors are on two devices; got input on ",
             x.device(), " and ", name, " on ", other.device(), ", expected one device");
  ZERO_CHECK(other.sizes() == sizes, ShapeError, op, ": ", name, " does not fit; got ",
             other.sizes(), ", expected ", sizes);
}

void check_weights(const char* op, RecurrentMode mode, const Tensor& x, int64_t in,
                   const RecurrentWeights& w) {
  const int64_t groups = recurrent_gates(mode);
  ZERO_CHECK(!w.hr.defined() || w.hr.dim() == 2, ShapeError, op, ": weight_hr is no matrix; got ",
             w.hr.sizes(), ", expected (projection, hidden)");
  ZERO_CHECK(w.ih.dim() == 2 && w.hh.dim() == 2 && w.ih.size(0) % groups == 0, ShapeError, op,
             ": the weights are no matrices of ", groups, " gates; got ", w.ih.sizes(), " and ",
             w.hh.sizes(), ", expected (", groups, " * hidden, input) and (", groups,
             " * hidden, hidden)");
  const int64_t hidden = w.ih.size(0) / groups;
  ZERO_CHECK(w.ih.size(1) == in, ShapeError, op,
             ": the input's last dimension is not the weight's; got input ", x.sizes(),
             " and weight ", w.ih.sizes(), ", expected input.size(-1) == ", w.ih.size(1));
  const int64_t out = w.hr.defined() ? w.hr.size(0) : hidden;
  check_like(op, "weight_ih", x, w.ih, w.ih.sizes());
  check_like(op, "weight_hh", x, w.hh, {groups * hidden, out});
  if (w.b_ih.defined()) check_like(op, "bias_ih", x, w.b_ih, {groups * hidden});
  if (w.b_hh.defined()) check_like(op, "bias_hh", x, w.b_hh, {groups * hidden});
  if (w.hr.defined()) check_like(op, "weight_hr", x, w.hr, {out, hidden});
}

void check_floating(const char* op, const Tensor& x) {
  ZERO_CHECK(is_floating(x.dtype()), DTypeError, op, ": the input is not floating point; got ", x,
             ", expected a floating point tensor");
}

[[gnu::cold]] Steps packed_steps(const char* op, const Tensor& x, const Tensor& batch_sizes);

Steps steps_of(const char* op, const Tensor& x, const Tensor& batch_sizes) {
  if (!batch_sizes.defined()) {
    ZERO_CHECK(x.dim() == 3, ShapeError, op, ": wrong number of dimensions; got input ", x.sizes(),
               ", expected 3: steps, batch, features");
    ZERO_CHECK(x.size(0) > 0, ShapeError, op, ": a sequence without steps; got input ", x.sizes(),
               ", expected 1 or more");
    return {x.size(0), x.size(1)};
  }
  return packed_steps(op, x, batch_sizes);
}

Steps packed_steps(const char* op, const Tensor& x, const Tensor& batch_sizes) {
  ZERO_CHECK(x.dim() == 2, ShapeError, op, ": wrong number of dimensions; got packed input ",
             x.sizes(), ", expected 2: rows, features");
  ZERO_CHECK(batch_sizes.dtype() == DType::Int64 && batch_sizes.dim() == 1 &&
                 batch_sizes.device() == Device::Cpu && batch_sizes.numel() > 0,
             ShapeError, op, ": batch_sizes is no list; got ", batch_sizes,
             ", expected int64 of 1 dimension, on the CPU");
  const Tensor sizes = contiguous(batch_sizes);
  const int64_t* const size = sizes.data<int64_t>();
  int64_t rows = 0;
  for (int64_t t = 0; t < sizes.numel(); ++t) {
    ZERO_CHECK(size[t] > 0 && (t == 0 || size[t] <= size[t - 1]), ValueError, op,
               ": batch_sizes don't fall; got ", size[t], " at step ", t,
               ", expected 1 or more, and no more than before");
    const bool last = t + 1 == sizes.numel();
    const int64_t left = x.size(0) - rows;  // so that no sum overflows
    ZERO_CHECK(last ? size[t] == left : size[t] <= left, ShapeError, op,
               ": batch_sizes don't add up to the rows of the input; got ", size[t], " at step ", t,
               " and ", x.sizes(), ", expected ", left, last ? "" : " or less");
    rows += size[t];
  }
  return Steps(sizes);
}

// 16-bit floats are computed with as float32.
DType wide(const Tensor& x) { return compute_dtype(x.dtype()); }
Tensor widened(const Tensor& x, DType dtype) {
  return !x.defined() || x.dtype() == dtype ? x : to(x, dtype);
}

// Under autocast; the results of GRU and of single steps have the dtype of the input, as PyTorch's.
CastTo cast_of(const Tensor& input, bool always) {
  return always || input.dtype() != DType::Float32 ? CastTo::Lower : CastTo::Float32;
}

}  // namespace

Tensors recurrent(const char* op, const Tensor& input, const Tensor& batch_sizes, const Tensor& h0,
                  const Tensor& c0, const Tensors& weights, const RecurrentOptions& options) {
  if (autocast_on)
    return autocast(cast_of(input, options.mode != RecurrentMode::Gru), recurrent, op, input,
                    batch_sizes, h0, c0, weights, options);
  check_floating(op, input);
  const int64_t directions = options.bidirectional ? 2 : 1, cells = options.layers * directions;
  const int64_t each = cells > 0 ? weights.size() / cells : 0;
  const int64_t least = options.biases ? 4 : 2, groups = recurrent_gates(options.mode);
  const bool projects = options.mode == RecurrentMode::Lstm && each == least + 1;
  ZERO_CHECK(cells > 0 && weights.size() == cells * each && (each == least || projects), ValueError,
             op, ": wrong number of weights; got ", weights.size(), " for ", options.layers,
             " layers and ", directions, " directions, expected ", least, " each");
  const bool turned = options.batch_first && !batch_sizes.defined() && input.dim() == 3;
  Tensor x = turned ? transpose(input, 0, 1) : input;
  // A copy: the pass back cuts rows as this one does, whatever is written to it until then.
  const Tensor lengths = batch_sizes.defined() ? clone(batch_sizes) : batch_sizes;
  const Steps steps = steps_of(op, x, lengths);

  const auto weights_of = [&](int64_t cell) {
    const Tensor* w = weights.data() + cell * each;
    return RecurrentWeights{w[0], w[1], options.biases ? w[2] : Tensor(),
                            options.biases ? w[3] : Tensor(), projects ? w[least] : Tensor()};
  };
  int64_t in = x.size(x.dim() - 1), out = 0, hidden = 0;
  for (int64_t i = 0; i < cells; ++i) {
    const RecurrentWeights w = weights_of(i);
    if (i > 0 && i % directions == 0) in = directions * out;
    check_weights(op, options.mode, input, in, w);
    ZERO_CHECK(i == 0 || (w.hh.size(1) == out && w.ih.size(0) == groups * hidden), ShapeError, op,
               ": the sizes of layers differ; got ", w.ih.sizes(), " and ", w.hh.sizes(),
               ", expected those of the first");
    hidden = w.ih.size(0) / groups;
    out = w.hh.size(1);
  }
  if (h0.defined()) check_like(op, "the hidden state", input, h0, {cells, steps.batch(), out});
  if (c0.defined()) check_like(op, "the cell state", input, c0, {cells, steps.batch(), hidden});

  const DType dtype = wide(input);
  x = widened(x, dtype);
  const Tensor h = widened(h0, dtype), c = widened(c0, dtype);
  const bool packed = batch_sizes.defined();
  const Layer layer{options.mode, directions, packed ? 0 : steps.count(),
                    packed ? 0 : steps.batch(), false};
  Tensors h_ends, c_ends;
  for (int64_t l = 0; l < options.layers; ++l) {
    const auto start = [&](const Tensor& state) {
      return state.defined() && options.layers > 1
                 ? slice(state, 0, l * directions, (l + 1) * directions)
                 : state;
    };
    RecurrentWeights w[2];
    for (int64_t k = 0; k < directions; ++k) {
      w[k] = weights_of(l * directions + k);
      for (int i = 0; i < kWeights; ++i) *weight_of(w[k], i) = widened(*weight_of(w[k], i), dtype);
    }
    if (l > 0 && options.dropout > 0 && options.train) x = dropout(x, options.dropout, false);
    const Tensors results = run_layer(layer, x, lengths, steps, start(h), start(c), w);
    x = results[0];
    h_ends.push_back(results[1]);
    if (results[2].defined()) c_ends.push_back(results[2]);
  }
  const auto joined = [&](const Tensors& ends) {
    return widened(ends.size() == 1 ? ends[0] : cat(ends), input.dtype());
  };
  if (turned) x = transpose(x, 0, 1);
  Tensors outputs{widened(x, input.dtype()), joined(h_ends)};
  if (!c_ends.empty()) outputs.push_back(joined(c_ends));
  return outputs;
}

Tensors recurrent_cell(const char* op, RecurrentMode mode, const Tensor& input, const Tensor& h,
                       const Tensor& c, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                       const Tensor& b_hh) {
  if (autocast_on)
    return autocast(cast_of(input, mode != RecurrentMode::Gru && mode != RecurrentMode::Lstm),
                    recurrent_cell, op, mode, input, h, c, w_ih, w_hh, b_ih, b_hh);
  check_floating(op, input);
  ZERO_CHECK(input.dim() == 1 || input.dim() == 2, ShapeError, op,
             ": wrong number of dimensions; got input ", input.sizes(),
             ", expected 1 or 2: batch, features");
  ZERO_CHECK(b_ih.defined() == b_hh.defined(), ValueError, op,
             ": one bias; got one of b_ih and b_hh, expected both or none");
  const bool single = input.dim() == 1;
  RecurrentWeights w{w_ih, w_hh, b_ih, b_hh, {}};
  check_weights(op, mode, input, input.size(input.dim() - 1), w);
  Dims sizes = input.sizes();
  sizes.back() = w_hh.size(1);
  if (h.defined()) check_like(op, "the hidden state", input, h, sizes);
  if (c.defined()) check_like(op, "the cell state", input, c, sizes);

  const DType dtype = wide(input);
  for (int i = 0; i < kWeights; ++i) *weight_of(w, i) = widened(*weight_of(w, i), dtype);
  const auto batched = [&](const Tensor& state) {
    const Tensor x = widened(state, dtype);
    return single && x.defined() ? unsqueeze(x, 0) : x;
  };
  const auto result = [&](const Tensor& state) {
    return widened(single ? squeeze(state, {0}) : state, input.dtype());
  };
  const Tensor x = batched(input);
  const Layer layer{mode, 1, 1, x.size(0), true};
  const Tensors results = run_layer(layer, x, {}, {1, x.size(0)}, batched(h), batched(c), &w);
  Tensors outputs{result(results[0])};
  if (results[2].defined()) outputs.push_back(result(results[2]));
  return outputs;
}

}  // namespace zero
