// The gradient of a convolution's weight: for each channel of y, and each channel and tap of x, the
// sum over all outputs. Images are cut into parts, the parts' sums are added in order.
#include "zero/kernels/table.h"
#include "zero/ops/convolve.h"
#include "zero/ops/convolve_parts.h"
#include "zero/ops/winograd.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

using namespace convolving;

namespace {

constexpr int64_t kOutputs = 384;   // of a chunk: products in one chain
constexpr int64_t kFewSources = 4;  // channels in that are taken one by one
constexpr int64_t kTasks = 16;      // so many parts and panels, if there are as many units

// Vectors of channels of y, which is transposed to [output][channel]; x is read through offsets.
void by_channels(const Gather& g, const char* y, char* weight) {
  const int64_t item = g.item(), depth = g.depth(), plane = g.result_plane();
  const Panels panels(g.dtype, g.results);
  const Units units(g, kOutputs, false);
  const int64_t tasks = g.groups * panels.count;
  const int64_t each = ceil_divide(units.count(), std::max<int64_t>(kTasks / tasks, 1));
  const int64_t parts = ceil_divide(units.count(), each);
  const int64_t group_bytes = depth * panels.padded() * item, part_bytes = g.groups * group_bytes;
  const Block sums(parts * part_bytes);  // [part][group][panel][depth][channel]
  const auto sums_of = [&](int64_t part, int64_t group, int64_t panel) {
    return sums.data() + part * part_bytes + group * group_bytes +
           depth * panels.begin(panel) * item;
  };
  const int type = static_cast<int>(compute_type(g.dtype));
  const ProductPanelFn multiply = kernels().convolution->product_panel[type];
  const double work = static_cast<double>(each * units.images * units.rows * units.rest) *
                      static_cast<double>(depth * panels.widest);
  parallel_for(parts * tasks, grain_for(work), [&](int64_t begin, int64_t end) {
    const int64_t y_bytes = kOutputs * panels.widest * item;
    const Block memory(y_bytes + units.box_bytes());
    char* const transposed = memory.data();
    char* const box = transposed + y_bytes;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t panel = task % panels.count, group = task / panels.count % g.groups;
      const int64_t part = task / tasks;
      const int64_t width = panels.width(panel), channels = panels.channels_of(panel);
      if (channels < width) std::memset(transposed, 0, static_cast<size_t>(y_bytes));
      bool first = true;
      for (int64_t u = part * each; u < std::min(units.count(), (part + 1) * each); ++u) {
        const Unit unit = units[u];
        const char* const source = units.load(g, unit, group, box);
        const int64_t count = units.pixels(unit), of_image = unit.rows * units.rest;
        for (int64_t q0 = 0; q0 < count; q0 += kOutputs) {
          const int64_t outputs = std::min(kOutputs, count - q0);
          for (int64_t q = q0; q < q0 + outputs;) {
            const int64_t n = std::min(of_image - q % of_image, q0 + outputs - q);
            const int64_t channel = (unit.image + q / of_image) * g.groups * g.results +
                                    group * g.results + panels.begin(panel);
            copy_2d(g.dtype, transposed + (q - q0) * width * item, item, width * item,
                    y + (channel * plane + unit.row * units.rest + q % of_image) * item,
                    plane * item, item, channels, n);
            q += n;
          }
          multiply({.a = source,
                    .rows = units.tap_places.data(),
                    .row_count = depth,
                    .depths = units.places.data() + q0,
                    .depth = outputs,
                    .b = transposed,
                    .width = width,
                    .columns = width,
                    .c = sums_of(part, group, panel),
                    .c_row = width,
                    .row_bias = nullptr,
                    .column_bias = nullptr,
                    .add = !first});
          first = false;
        }
      }
    }
  });
  const LoopFn add = kernels().elementwise[static_cast<int>(ElementwiseOp::Add)][type];
  parallel_for(
      tasks, 1 + (1 << 16) / (depth * panels.widest * parts + 1), [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t panel = task % panels.count, group = task / panels.count;
          const int64_t width = panels.width(panel);
          char* const total = sums_of(0, group, panel);
          for (int64_t part = 1; part < parts; ++part) {
            char* const data[3] = {total, total, sums_of(part, group, panel)};
            const int64_t strides[6] = {item, item, item, 0, 0, 0};
            add(data, strides, depth * width, 1, nullptr);
          }
          copy_2d(g.dtype,
                  weight + (group * g.weight_group + panels.begin(panel) * g.weight_result) * item,
                  g.weight_result * item, item, total, item, width * item,
                  panels.channels_of(panel), depth);
        }
      });
}

// A pair of channels at a time.
void by_sliding(const Gather& g, const char* y, char* weight) {
  const int64_t item = g.item(), depth = g.depth(), plane = g.result_plane();
  const Units units = Units::for_sliding(g);
  const int64_t rows = units.rest / g.axes[2].out;  // that a row of a unit has
  const int64_t each = ceil_divide(units.count(), std::max<int64_t>(kTasks / g.groups, 1));
  const int64_t parts = ceil_divide(units.count(), each), count = g.groups * g.weight_group;
  const std::vector<int64_t> y_rows = result_rows(g);
  std::vector<double> sums(static_cast<size_t>(parts * count), 0.0);
  const int type = static_cast<int>(compute_type(g.dtype));
  const SlideFn slide = kernels().convolution->slide_gradient[type];
  const double work =
      static_cast<double>(each * units.rows * units.rest) * static_cast<double>(depth * g.results);
  parallel_for(parts * g.groups, grain_for(work / 4), [&](int64_t begin, int64_t end) {
    const Block box(units.box_bytes());
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group = task % g.groups, part = task / g.groups;
      for (int64_t u = part * each; u < std::min(units.count(), (part + 1) * each); ++u) {
        const Unit unit = units[u];
        const char* const source = units.load(g, unit, group, box.data());
        for (int64_t k = 0; k < g.results; ++k) {
          const int64_t channel = (unit.image * g.groups + group) * g.results + k;
          slide({.a = source,
                 .rows = units.places.data(),
                 .row_count = unit.rows * rows,
                 .width = g.axes[2].out,
                 .depths = units.tap_places.data(),
                 .depth = depth,
                 .weights = nullptr,
                 .bias = nullptr,
                 .out = const_cast<char*>(y) + channel * plane * item,
                 .out_rows = y_rows.data() + unit.row * rows,
                 .out_step = 1,
                 .readable = false,
                 .gradient =
                     sums.data() + part * count + group * g.weight_group + k * g.weight_result});
        }
      }
    }
  });
  for (int64_t i = 0; i < count; ++i) {
    double total = 0;
    for (int64_t part = 0; part < parts; ++part) total += sums[part * count + i];
    if (g.dtype == DType::Float32) {
      reinterpret_cast<float*>(weight)[i] = static_cast<float>(total);
    } else {
      reinterpret_cast<double*>(weight)[i] = total;
    }
  }
}

}  // namespace

void convolve_weight(DType dtype, const ConvolutionShape& shape, const void* x, const void* y,
                     void* weight) {
  Gather g = forward_gather(dtype, shape);
  g.source = static_cast<const char*>(x);
  const int64_t count = g.groups * g.weight_group;
  if (count == 0) return;
  if (g.batch == 0 || g.pixels() == 0) {
    std::memset(weight, 0, static_cast<size_t>(count * g.item()));
    return;
  }
  const BlockingSection section(is_large(g));
  const DenormalGuard denormal;
  if (winograd_serves(dtype, shape, WinogradTask::Weight))
    return winograd_weight(shape, static_cast<const float*>(x), static_cast<const float*>(y),
                           static_cast<float*>(weight));
  const char* const gradient = static_cast<const char*>(y);
  char* const out = static_cast<char*>(weight);
  if (few_results(g) && g.sources <= kFewSources) {
    by_sliding(g, gradient, out);
  } else {
    by_channels(g, gradient, out);
  }
}

}  // namespace zero
