#include "zero/ops/convolve_parts.h"

#include "zero/kernels/table.h"

namespace zero::convolving {

namespace {

constexpr int64_t kBoxBytes = 384 << 10;  // of a unit's copied source: a part of L2
constexpr int64_t kFewResults = 4;
constexpr double kGrain = 1 << 19;  // multiply-adds that are worth a range of their own
constexpr double kLarge = 1e7;

}  // namespace

int64_t Axis::low() const {
  int64_t least = taps.empty() ? 0 : taps[0].shift;
  for (const Tap& tap : taps) least = std::min(least, tap.shift);
  return least;
}

int64_t Axis::high() const {
  int64_t most = taps.empty() ? 0 : taps[0].shift;
  for (const Tap& tap : taps) most = std::max(most, tap.shift);
  return most;
}

bool Gather::dense() const {
  for (const Axis& axis : axes)
    if (axis.start != 0 || axis.stride != 1 || axis.out != axis.full) return false;
  return true;
}

std::vector<int64_t> Gather::weight_indices() const {
  std::vector<int64_t> indices;
  for (const Tap& d : axes[0].taps)
    for (const Tap& h : axes[1].taps)
      for (const Tap& w : axes[2].taps) indices.push_back(d.index + h.index + w.index);
  return indices;
}

Gather forward_gather(DType dtype, const ConvolutionShape& s) {
  Gather g{};
  g.dtype = dtype;
  g.batch = s.batch;
  g.groups = s.groups;
  g.sources = s.in_channels;
  g.results = s.out_channels;
  int64_t kernel = 1;
  for (int d = 2; d >= 0; --d) {
    g.axes[d] = {s.in[d], s.out[d], s.stride[d], 0, 1, s.out[d], {}};
    for (int64_t t = 0; t < s.kernel[d]; ++t)
      g.axes[d].taps.push_back({t * s.dilation[d] - s.padding[d], t * kernel});
    kernel *= s.kernel[d];
  }
  g.weight_source = kernel;
  g.weight_result = kernel * s.in_channels;
  g.weight_group = g.weight_result * s.out_channels;
  return g;
}

Units::Units(const Gather& g, int64_t pixels, bool remainder, bool sliding)
    : item(g.item()), batch(g.batch), axis(0) {
  while (axis < (sliding ? 1 : 2) && g.axes[axis].out == 1) ++axis;
  all_rows = g.axes[axis].out;
  rest = g.pixels() / std::max<int64_t>(all_rows, 1);
  by_remainder = remainder && g.axes[2].step > 1;

  // A copy may be read beyond the end of its rows, which pays where several channels read it.
  copies = by_remainder || (sliding && g.results > 1);
  for (int d = 0; d < 3; ++d) {
    const Axis& a = g.axes[d];
    base[d] = a.low();
    size[d] = (a.out - 1) * a.step + a.high() - base[d] + 1;
    copies = copies || base[d] < 0 || (a.out - 1) * a.step + a.high() >= a.in;
  }
  // Bytes of a box as far as it depends on the rows: a x rows + b.
  const Axis& cut = g.axes[axis];
  int64_t slice = g.sources * item;
  for (int d = axis + 1; d < 3; ++d) slice *= size[d];
  const int64_t halo = size[axis] - all_rows * cut.step;
  const int64_t fit =
      copies ? std::max<int64_t>((kBoxBytes / slice - halo) / cut.step, 1) : all_rows;
  const bool whole = all_rows <= fit && all_rows * rest <= 2 * pixels;
  parts = whole ? 1 : ceil_divide(all_rows, std::clamp<int64_t>(pixels / rest, 1, fit));
  rows = ceil_divide(all_rows, parts);
  parts = ceil_divide(all_rows, rows);
  images = 1;
  if (parts == 1 && !sliding) {
    images = std::min(std::max<int64_t>(pixels / g.pixels(), 1), g.batch);
    if (copies) images = std::min(images, std::max<int64_t>(kBoxBytes / (slice * size[axis]), 1));
  }
  blocks = ceil_divide(g.batch, images);
  if (copies) size[axis] += (rows - all_rows) * cut.step;

  Triple stride;
  if (copies) {
    const int64_t row = box_row(size[2], by_remainder ? g.axes[2].step : 1);
    stride = {row * size[1], row, 1};
    channel_step = stride[0] * size[0];
    image_step = channel_step * g.sources;
  } else {
    stride = {g.axes[1].in * g.axes[2].in, g.axes[2].in, 1};
    channel_step = g.source_plane();
    image_step = channel_step * g.sources * g.groups;
    base = {0, 0, 0};
  }
  for (int d = 0; d < 3; ++d) step[d] = stride[d] * g.axes[d].step;
  if (by_remainder) step[2] = 1;

  Triple outs = {g.axes[0].out, g.axes[1].out, g.axes[2].out};
  outs[axis] = rows;
  if (sliding) outs[2] = 1;
  places.reserve(static_cast<size_t>(images * outs[0] * outs[1] * outs[2]));
  for (int64_t i = 0; i < images; ++i)
    for (int64_t d = 0; d < outs[0]; ++d)
      for (int64_t h = 0; h < outs[1]; ++h)
        for (int64_t w = 0; w < outs[2]; ++w)
          places.push_back(i * image_step + d * step[0] + h * step[1] + w * step[2]);

  tap_places.reserve(static_cast<size_t>(g.depth()));
  const auto column = [&](int64_t x) {
    const int64_t by = g.axes[2].step;
    return by_remainder ? x % by * (stride[1] / by) + x / by : x;
  };
  for (int64_t c = 0; c < g.sources; ++c)
    for (const Tap& d : g.axes[0].taps)
      for (const Tap& h : g.axes[1].taps)
        for (const Tap& w : g.axes[2].taps)
          tap_places.push_back(c * channel_step + (d.shift - base[0]) * stride[0] +
                               (h.shift - base[1]) * stride[1] + column(w.shift - base[2]));
}

Unit Units::operator[](int64_t index) const {
  const int64_t block = index / parts, part = index % parts;
  return {block * images, std::min(images, batch - block * images), part * rows,
          std::min(rows, all_rows - part * rows)};
}

const char* Units::load(const Gather& g, const Unit& unit, int64_t group, char* box) const {
  const int64_t plane = g.source_plane(), image = plane * g.sources * g.groups;
  const char* const first = g.source + (unit.image * image + group * g.sources * plane) * item;
  if (!copies) return first + unit.row * step[axis] * item;
  CopyBoxArgs args{};
  args.in_step = plane;
  args.count = g.sources;
  for (int d = 0; d < 3; ++d) {
    args.in_size[d] = g.axes[d].in;
    args.low[d] = base[d];
    args.size[d] = size[d];
  }
  args.low[axis] += unit.row * g.axes[axis].step;
  args.step = by_remainder ? g.axes[2].step : 1;
  const CopyBoxFn copy = kernels().convolution->copy_box[static_cast<int>(compute_type(g.dtype))];
  for (int64_t i = 0; i < unit.images; ++i) {
    args.in = first + i * image * item;
    args.out = box + i * image_step * item;
    copy(args);
  }
  return box;
}

void copy_2d(DType dtype, char* to, int64_t to0, int64_t to1, const char* from, int64_t from0,
             int64_t from1, int64_t n0, int64_t n1) {
  char* const data[2] = {to, const_cast<char*>(from)};
  const int64_t strides[4] = {to0, from0, to1, from1};
  const int type = static_cast<int>(dtype);
  kernels().cast[type][type](data, strides, n0, n1, nullptr);
}

void place(const Gather& g, const Units& units, const Unit& unit, int64_t group, int64_t channel,
           int64_t channels, int64_t first, int64_t count, const char* from, int64_t from_output,
           int64_t from_channel) {
  const int64_t item = g.item(), plane = g.result_plane();
  const int64_t of_image = unit.rows * units.rest, width = g.axes[2].out;
  const bool dense = g.dense();
  for (int64_t q = first; q < first + count;) {
    const int64_t image = q / of_image, o = q % of_image + unit.row * units.rest;
    const int64_t left = dense ? of_image - q % of_image : width - o % width;
    const int64_t n = std::min(left, first + count - q);
    int64_t at = o;
    if (!dense) {
      const Axis &d = g.axes[0], &h = g.axes[1], &w = g.axes[2];
      const int64_t row = o / width;
      at = ((d.start + row / h.out * d.stride) * h.full + h.start + row % h.out * h.stride) *
               w.full +
           w.start + o % width * w.stride;
    }
    const int64_t index = (unit.image + image) * g.groups * g.results + group * g.results + channel;
    copy_2d(g.dtype, g.result + (index * plane + at) * item, g.axes[2].stride * item, plane * item,
            from + (q - first) * from_output, from_output, from_channel, n, channels);
    q += n;
  }
}

Panels::Panels(DType dtype, int64_t channels) : channels(channels) {
  const ConvolutionKernels& k = *kernels().convolution;
  widest = k.panel_bytes / itemsize(dtype);
  count = std::max<int64_t>(ceil_divide(channels, widest), 1);
  last = widest / k.narrowest;
  while (last < channels - (count - 1) * widest) last *= 2;
}

std::vector<int64_t> result_rows(const Gather& g) {
  const Axis &d = g.axes[0], &h = g.axes[1], &w = g.axes[2];
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < d.out; ++i)
    for (int64_t j = 0; j < h.out; ++j)
      rows.push_back(((d.start + i * d.stride) * h.full + h.start + j * h.stride) * w.full +
                     w.start);
  return rows;
}

bool few_results(const Gather& g) { return is_floating(g.dtype) && g.results <= kFewResults; }

bool is_large(const Gather& g) {
  return static_cast<double>(g.batch * g.pixels()) *
             static_cast<double>(g.groups * g.results * g.depth()) >
         kLarge;
}

int64_t grain_for(double work) {
  return work >= kGrain ? 1 : static_cast<int64_t>(kGrain / std::max(work, 1.0)) + 1;
}

}  // namespace zero::convolving
