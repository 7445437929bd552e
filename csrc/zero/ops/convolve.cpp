// The front of the convolutions, and the engines of those that gather: the convolution itself and
// its transpose. An engine is chosen by the shape alone.
//
// Winograd's   3 x 3 of float32 with many channels: in winograd.cpp.
// by_channels  vectors of channels: c[output][channel], where the source is read through offsets,
//              and the weight is packed to [depth][channels]. The result is transposed at the end.
// by_pixels    vectors of outputs: c[channel][output], where the source is gathered to
//              [depth][outputs]. For a small depth, few channels, or a kernel of size 1.
// by_sliding   vectors of outputs, a channel at a time, without a product of matrices: depthwise,
//              or of one channel of the source.
// by_products  a product of matrices for each image: kernels of size 1.
#include "zero/ops/convolve.h"

#include "zero/kernels/table.h"
#include "zero/ops/convolve_parts.h"
#include "zero/ops/gemm.h"
#include "zero/ops/winograd.h"
#include "zero/runtime/blocking.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

using namespace convolving;

namespace {

constexpr int64_t kBlockRows = 252;     // outputs of by_channels at a time: whole tiles
constexpr int64_t kPixelPanels = 4;     // panels of outputs of by_pixels at a time, and
constexpr int64_t kBlockResults = 144;  // channels
constexpr double kUnitWork = 1 << 20;   // multiply-adds of a panel and unit, at least
// Where another engine is faster than by_channels: a depth at which transposing the result costs
// too much, channels of the result that leave vectors empty, and for by_sliding channels of the
// source.
constexpr int64_t kShallow = 48, kNarrow = 12, kFewSources = 4;
constexpr int64_t kSourceBytes = 1 << 20;  // of an image, of by_products

const ConvolutionKernels& table() { return *kernels().convolution; }
int type_index(const Gather& g) { return static_cast<int>(compute_type(g.dtype)); }

// Outputs of a unit: many where little is done for each.
int64_t unit_pixels(const Gather& g, int64_t width) {
  const double each = static_cast<double>(std::max<int64_t>(g.depth() * width, 1));
  return std::clamp<int64_t>(static_cast<int64_t>(kUnitWork / each), 2 * kBlockRows, 4096);
}

double unit_work(const Gather& g, const Units& units, int64_t channels) {
  return static_cast<double>(units.images * units.rows * units.rest) *
         static_cast<double>(channels) * static_cast<double>(g.depth() + 1);
}

// Channels of a chunk of the depth.
int64_t chunk_channels(const Gather& g) {
  return std::max<int64_t>(kChunk / std::max<int64_t>(g.taps(), 1), 1);
}

// Calls f(channel, channels, first) for each chunk; once without channels if there is no depth.
template <class F>
void for_each_chunk(const Gather& g, F f) {
  const int64_t step = chunk_channels(g);
  if (g.depth() == 0) return f(int64_t{0}, g.sources, true);
  for (int64_t c = 0; c < g.sources; c += step) f(c, std::min(step, g.sources - c), c == 0);
}

// Whether the taps are all elements of a kernel, in order.
bool whole_kernels(const Gather& g, const std::vector<int64_t>& indices) {
  bool whole = true;
  for (int64_t t = 0; t < g.taps(); ++t) whole = whole && indices[static_cast<size_t>(t)] == t;
  return whole;
}

// ---- by channels --------------------------------------------------------------------------------

// The weight of a group as [depth][channels] of a panel; channels that aren't there are 0.
void pack_panel(const Gather& g, const Panels& panels, int64_t group, int64_t panel, char* to) {
  const int64_t item = g.item(), width = panels.width(panel), taps = g.taps();
  const int64_t channels = panels.channels_of(panel);
  if (channels < width) std::memset(to, 0, static_cast<size_t>(g.depth() * width * item));
  const char* const from =
      g.weight + (group * g.weight_group + panels.begin(panel) * g.weight_result) * item;
  const std::vector<int64_t> indices = g.weight_indices();
  if (whole_kernels(g, indices)) {
    const int64_t columns = g.weight_source == taps ? g.depth() : taps;
    for (int64_t p = 0; p < g.depth(); p += columns)
      copy_2d(g.dtype, to + p * width * item, item, width * item,
              from + p / taps * g.weight_source * item, g.weight_result * item, item, channels,
              columns);
    return;
  }
  for (int64_t t = 0; t < taps; ++t)
    copy_2d(g.dtype, to + t * width * item, item, taps * width * item,
            from + indices[static_cast<size_t>(t)] * item, g.weight_result * item,
            g.weight_source * item, channels, g.sources);
}

void by_channels(const Gather& g) {
  const int64_t item = g.item(), depth = g.depth(), taps = g.taps();
  const Panels panels(g.dtype, g.results);
  const Units units(g, unit_pixels(g, panels.widest), false);
  const int64_t group_bytes = depth * panels.padded() * item;
  const Block packed(g.groups * group_bytes);
  const auto panel_of = [&](int64_t group, int64_t panel) {
    return packed.data() + group * group_bytes + depth * panels.begin(panel) * item;
  };
  parallel_for(g.groups * panels.count, 1 + (1 << 16) / (depth * panels.widest + 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t group = i / panels.count, panel = i % panels.count;
                   pack_panel(g, panels, group, panel, panel_of(group, panel));
                 }
               });
  const ProductPanelFn multiply = table().product_panel[type_index(g)];
  const int64_t tasks = units.count() * g.groups * panels.count;
  parallel_for(tasks, grain_for(unit_work(g, units, panels.widest)),
               [&](int64_t begin, int64_t end) {
                 const int64_t sums_bytes = kBlockRows * panels.widest * item;
                 const Block memory(sums_bytes + panels.widest * item + units.box_bytes());
                 char* const sums = memory.data();
                 char* const bias = sums + sums_bytes;
                 char* const box = bias + panels.widest * item;
                 const char* source = nullptr;
                 int64_t loaded = -1;
                 for (int64_t task = begin; task < end; ++task) {
                   const int64_t panel = task % panels.count, load = task / panels.count;
                   const int64_t group = load % g.groups;
                   const Unit unit = units[load / g.groups];
                   if (load != loaded) source = units.load(g, unit, group, box);
                   loaded = load;
                   const int64_t width = panels.width(panel), channels = panels.channels_of(panel);
                   if (g.bias) {
                     std::memset(bias, 0, static_cast<size_t>(width * item));
                     std::memcpy(bias, g.bias + (group * g.results + panels.begin(panel)) * item,
                                 static_cast<size_t>(channels * item));
                   }
                   const int64_t count = units.pixels(unit);
                   for (int64_t q = 0; q < count; q += kBlockRows) {
                     const int64_t rows = std::min(kBlockRows, count - q);
                     for_each_chunk(g, [&](int64_t c, int64_t sources, bool first) {
                       multiply({.a = source,
                                 .rows = units.places.data() + q,
                                 .row_count = rows,
                                 .depths = units.tap_places.data() + c * taps,
                                 .depth = sources * taps,
                                 .b = panel_of(group, panel) + c * taps * width * item,
                                 .width = width,
                                 .columns = width,
                                 .c = sums,
                                 .c_row = width,
                                 .row_bias = nullptr,
                                 .column_bias = g.bias ? bias : nullptr,
                                 .add = !first});
                     });
                     place(g, units, unit, group, panels.begin(panel), channels, q, rows, sums,
                           width * item, item);
                   }
                 }
               });
}

// ---- by pixels ----------------------------------------------------------------------------------

void by_pixels(const Gather& g) {
  const int64_t item = g.item(), taps = g.taps(), plane = g.result_plane();
  const Panels widths(g.dtype, 1);  // of outputs
  const int64_t widest = widths.widest;
  const Units units(g, unit_pixels(g, g.results), true);
  const bool dense = g.dense();
  // Channels in blocks of whole tiles, whose weights stay in L2.
  const int64_t blocks = ceil_divide(g.results, kBlockResults), tile = table().row_step;
  const int64_t most = ceil_divide(ceil_divide(g.results, blocks), tile) * tile;
  std::vector<int64_t> rows, depths;
  for (int64_t k = 0; k < g.results; ++k) rows.push_back(k * g.weight_result);
  const std::vector<int64_t> indices = g.weight_indices();
  for (int64_t c = 0; c < g.sources; ++c)
    for (int64_t index : indices) depths.push_back(c * g.weight_source + index);
  const ProductPanelFn multiply = table().product_panel[type_index(g)];
  const GatherColumnsFn gather = table().gather_columns[type_index(g)];
  const auto run_tasks = [&](int64_t begin, int64_t end) {
    const int64_t gathered_bytes =
        std::max<int64_t>(chunk_channels(g) * taps, 1) * kPixelPanels * widest * item;
    const int64_t sums_bytes = most * kPixelPanels * widest * item;
    const Block memory(gathered_bytes + sums_bytes + units.box_bytes());
    char* const gathered = memory.data();
    char* const sums = gathered + gathered_bytes;
    char* const box = sums + sums_bytes;
    const char* source = nullptr;
    int64_t loaded = -1;
    std::vector<int64_t> runs;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t load = task / blocks, group = load % g.groups;
      const int64_t first_result = task % blocks * most;
      const int64_t results = std::min(most, g.results - first_result);
      if (results <= 0) continue;
      const Unit unit = units[load / g.groups];
      if (load != loaded) source = units.load(g, unit, group, box);
      loaded = load;
      const int64_t channel = group * g.results + first_result;
      const int64_t count = units.pixels(unit), of_image = unit.rows * units.rest;
      for (int64_t q = 0; q < count; q += kPixelPanels * widest) {
        const int64_t columns = std::min(kPixelPanels * widest, count - q);
        const int64_t panels = ceil_divide(columns, widest);
        const int64_t* const places = units.places.data() + q;
        int64_t runs_of_whole = 0, last_width = widths.last;
        while (last_width < columns % widest) last_width *= 2;
        runs.clear();
        for (int64_t j = 0; j < columns; ++j) {
          if (j == columns / widest * widest) runs_of_whole = static_cast<int64_t>(runs.size());
          if (j % widest != 0 && places[j] == places[j - 1] + 1) {
            ++runs.back();
          } else {
            runs.push_back(1);
          }
        }
        for_each_chunk(g, [&](int64_t s, int64_t sources, bool first) {
          const int64_t depth = sources * taps;
          GatherColumnsArgs args{.in = source,
                                 .columns = places,
                                 .runs = runs.data(),
                                 .count = columns / widest * widest,
                                 .depths = units.tap_places.data() + s * taps,
                                 .depth = depth,
                                 .out = gathered,
                                 .width = widest,
                                 .panel_step = depth * widest};
          if (args.count > 0) gather(args);
          if (args.count < columns) {
            args.columns += args.count;
            args.runs += runs_of_whole;
            args.out = gathered + args.count * depth * item;
            args.count = columns - args.count;
            args.width = last_width;
            gather(args);
          }
          for (int64_t panel = 0; panel < panels; ++panel) {
            const int64_t at = q + panel * widest, valid = std::min(widest, count - at);
            // To the result itself, where these outputs are neighbours there.
            const bool direct = dense && at / of_image == (at + valid - 1) / of_image;
            char* c = sums + panel * most * widest * item;
            if (direct) {
              const int64_t index = (unit.image + at / of_image) * g.groups * g.results + channel;
              c = g.result + (index * plane + unit.row * units.rest + at % of_image) * item;
            }
            multiply({.a = g.weight + group * g.weight_group * item,
                      .rows = rows.data() + first_result,
                      .row_count = results,
                      .depths = depths.data() + s * taps,
                      .depth = depth,
                      .b = gathered + panel * depth * widest * item,
                      .width = valid == widest ? widest : last_width,
                      .columns = valid,
                      .c = c,
                      .c_row = direct ? plane : widest,
                      .row_bias = g.bias ? g.bias + channel * item : nullptr,
                      .column_bias = nullptr,
                      .add = !first});
            if (!direct && s + sources == g.sources)
              place(g, units, unit, group, first_result, results, at, valid, c, item,
                    widest * item);
          }
        });
      }
    }
  };
  parallel_for(units.count() * g.groups * blocks, grain_for(unit_work(g, units, most)), run_tasks);
}

// ---- by sliding ---------------------------------------------------------------------------------

void by_sliding(const Gather& g) {
  const int64_t item = g.item(), depth = g.depth(), plane = g.result_plane();
  const Units units = Units::for_sliding(g);
  const int64_t rows = units.rest / g.axes[2].out;  // that a row of a unit has
  const std::vector<int64_t> out_rows = result_rows(g), indices = g.weight_indices();
  const bool in_order = whole_kernels(g, indices) && g.weight_source == g.taps();
  const SlideFn slide = table().slide[type_index(g)];
  parallel_for(
      units.count() * g.groups, grain_for(unit_work(g, units, g.results) / 4),
      [&](int64_t begin, int64_t end) {
        const int64_t weight_bytes = ceil_divide(depth * item, kAlignment) * kAlignment;
        const Block memory(weight_bytes + units.box_bytes() + kSlideSlack * item);
        char* const weight = memory.data();
        char* const box = weight + weight_bytes;
        for (int64_t task = begin; task < end; ++task) {
          const int64_t group = task % g.groups;
          const Unit unit = units[task / g.groups];
          const char* const source = units.load(g, unit, group, box);
          for (int64_t k = 0; k < g.results; ++k) {
            const int64_t channel = group * g.results + k;
            const char* const from =
                g.weight + (group * g.weight_group + k * g.weight_result) * item;
            for (int64_t c = 0, p = 0; !in_order && c < g.sources; ++c)
              for (int64_t index : indices)
                std::memcpy(weight + p++ * item, from + (c * g.weight_source + index) * item,
                            static_cast<size_t>(item));
            slide({.a = source,
                   .rows = units.places.data(),
                   .row_count = unit.rows * rows,
                   .width = g.axes[2].out,
                   .depths = units.tap_places.data(),
                   .depth = depth,
                   .weights = in_order ? from : weight,
                   .bias = g.bias ? g.bias + channel * item : nullptr,
                   .out = g.result + (unit.image * g.groups * g.results + channel) * plane * item,
                   .out_rows = out_rows.data() + unit.row * rows,
                   .out_step = g.axes[2].stride,
                   .readable = units.copies,
                   .gradient = nullptr});
          }
        }
      });
}

// ---- by products --------------------------------------------------------------------------------

// Whether each image is a product of the weight and its source as it lies in memory, with results
// that fill vectors and a source of which L2 holds a copy.
bool is_product(const Gather& g) {
  if (!is_floating(g.dtype) || g.taps() != 1 || !g.dense() || g.bias) return false;
  for (const Axis& a : g.axes)
    if (a.step != 1 || a.taps[0].shift != 0 || a.in != a.out) return false;
  const int64_t plane = g.result_plane(), panel = table().panel_bytes / g.item();
  return plane > 4 * panel && 8 * plane >= 7 * ceil_divide(plane, panel) * panel &&
         g.sources * plane * g.item() <= kSourceBytes;
}

void by_products(const Gather& g) {
  const int64_t item = g.item(), plane = g.result_plane(), images = g.batch * g.groups;
  const double work = static_cast<double>(g.results * g.sources) * static_cast<double>(plane);
  // Few images: threads share each product.
  const int64_t grain = images < num_threads() ? images : grain_for(work);
  parallel_for(images, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      gemm(
          {.dtype = g.dtype,
           .m = g.results,
           .n = plane,
           .k = g.sources,
           .a = {g.weight + i % g.groups * g.weight_group * item, g.weight_result, g.weight_source},
           .b = {g.source + i * g.sources * plane * item, plane, 1},
           .c = g.result + i * g.results * plane * item,
           .c_row = plane});
  });
}

// ---- the front ----------------------------------------------------------------------------------

// Whether rows fill the vectors of by_sliding, two at a time.
bool fills_vectors(const Gather& g) {
  const int64_t lanes = 2 * table().panel_bytes / table().narrowest / g.item();
  const int64_t width = g.axes[2].out;
  return 4 * width >= 3 * ceil_divide(width, lanes) * lanes;
}

bool slides(const Gather& g) {
  if (!is_floating(g.dtype)) return false;
  if (few_results(g)) return g.sources <= kFewSources || fills_vectors(g);
  return g.sources == 1 && g.depth() < kShallow && fills_vectors(g);
}

void run(const Gather& g) {
  if (g.batch == 0 || g.groups * g.results == 0 || g.pixels() == 0) return;
  if (slides(g)) {
    by_sliding(g);
  } else if (is_product(g)) {
    by_products(g);
  } else if (g.depth() < kShallow || g.results < kNarrow || g.taps() == 1) {
    by_pixels(g);
  } else {
    by_channels(g);
  }
}

// Along one dimension the places first, first + stride, ... of the source of a convolution are read
// by the same taps. They become outputs.
Axis transposed_axis(const ConvolutionShape& s, int d, int64_t kernel_step, int64_t first) {
  const int64_t stride = s.stride[d], padding = s.padding[d];
  Axis axis{s.out[d], ceil_divide(s.in[d] - first, stride), 1, first, stride, s.in[d], {}};
  for (int64_t t = 0; t < s.kernel[d]; ++t) {
    const int64_t distance = first + padding - t * s.dilation[d];
    if (distance % stride == 0) axis.taps.push_back({distance / stride, t * kernel_step});
  }
  return axis;
}

}  // namespace

void convolve(DType dtype, const ConvolutionShape& shape, const void* x, const void* weight,
              const void* bias, void* y) {
  Gather g = forward_gather(dtype, shape);
  g.source = static_cast<const char*>(x);
  g.weight = static_cast<const char*>(weight);
  g.bias = static_cast<const char*>(bias);
  g.result = static_cast<char*>(y);
  const BlockingSection section(is_large(g));
  const DenormalGuard denormal;
  if (winograd_serves(dtype, shape, WinogradTask::Convolution))
    return winograd_convolve(shape, static_cast<const float*>(x), static_cast<const float*>(weight),
                             static_cast<const float*>(bias), static_cast<float*>(y));
  run(g);
}

void convolve_transposed(DType dtype, const ConvolutionShape& s, const void* y, const void* weight,
                         const void* bias, void* x) {
  const BlockingSection section(is_large(forward_gather(dtype, s)));
  const DenormalGuard denormal;
  if (winograd_serves(dtype, s, WinogradTask::Transposed))
    return winograd_transposed(s, static_cast<const float*>(y), static_cast<const float*>(weight),
                               static_cast<const float*>(bias), static_cast<float*>(x));
  const int64_t kernel = s.kernel[0] * s.kernel[1] * s.kernel[2];
  Gather g{};
  g.dtype = dtype;
  g.batch = s.batch;
  g.groups = s.groups;
  g.sources = s.out_channels;
  g.results = s.in_channels;
  g.source = static_cast<const char*>(y);
  g.weight = static_cast<const char*>(weight);
  g.bias = static_cast<const char*>(bias);
  g.result = static_cast<char*>(x);
  g.weight_result = kernel;
  g.weight_source = kernel * s.in_channels;
  g.weight_group = g.weight_source * s.out_channels;
  const auto firsts = [&](int d) { return std::min(s.stride[d], s.in[d]); };
  for (int64_t d = 0; d < firsts(0); ++d) {
    g.axes[0] = transposed_axis(s, 0, s.kernel[1] * s.kernel[2], d);
    for (int64_t h = 0; h < firsts(1); ++h) {
      g.axes[1] = transposed_axis(s, 1, s.kernel[2], h);
      for (int64_t w = 0; w < firsts(2); ++w) {
        g.axes[2] = transposed_axis(s, 2, 1, w);
        run(g);
      }
    }
  }
}

}  // namespace zero
