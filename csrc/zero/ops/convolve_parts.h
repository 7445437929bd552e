// What the engines of convolutions share: the sum they compute, and how it is cut into units.
#pragma once

#include <vector>

#include "zero/core/allocator.h"
#include "zero/core/shape.h"
#include "zero/kernels/convolution.h"
#include "zero/ops/convolve.h"

namespace zero::convolving {

// Memory for one call or one range of it.
class Block {
 public:
  explicit Block(int64_t bytes)
      : bytes_(static_cast<size_t>(bytes)), data_(static_cast<char*>(allocate(bytes_))) {}
  ~Block() { deallocate(data_, bytes_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  char* data() const { return data_; }

 private:
  size_t bytes_;
  char* data_;
};

struct Tap { int64_t shift, index; };  // reads place o * step + shift; its part of a weight's index

// A spatial dimension of a Gather. Output o is place start + o * stride of `full` in the result.
struct Axis {
  int64_t in, out, step, start, stride, full;
  SmallVector<Tap, 8> taps;

  int64_t low() const;   // the least shift, and
  int64_t high() const;  // the greatest
};

// result[n, r, o] = bias[r] + sum over s and t of source[n, s, o step + shift(t)] weight[r, s, t]
//
// for each group. A convolution is one of these; a transposed one is one for each remainder of
// places by the stride. Strides of weights are in elements.
struct Gather {
  DType dtype;
  int64_t batch, groups, sources, results;  // channels of a group
  std::array<Axis, 3> axes;
  const char *source, *weight, *bias;
  char* result;
  int64_t weight_group, weight_result, weight_source;

  int64_t item() const { return itemsize(dtype); }
  int64_t taps() const { return axes[0].taps.size() * axes[1].taps.size() * axes[2].taps.size(); }
  int64_t depth() const { return sources * taps(); }
  int64_t source_plane() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t result_plane() const { return axes[0].full * axes[1].full * axes[2].full; }
  int64_t pixels() const { return axes[0].out * axes[1].out * axes[2].out; }
  bool dense() const;                           // outputs are all there is of the result
  std::vector<int64_t> weight_indices() const;  // of the taps
};

// The convolution of a shape as a Gather, without its pointers.
Gather forward_gather(DType dtype, const ConvolutionShape& shape);

// Some images, or some rows of one: of the first dimension that has several outputs.
struct Unit { int64_t image, images, row, rows; };

// How the images are cut into units, by the shape alone, and where in memory a unit's source lies:
// in the tensor, or where its edges are padded in a copy, a box for each channel.
struct Units {
  // `pixels`: how many outputs a unit should have, if it may; `by_remainder`: outputs of a row read
  // neighbouring columns, also with a step, by way of a copy.
  Units(const Gather& g, int64_t pixels, bool by_remainder)
      : Units(g, pixels, by_remainder, false) {}
  // For by_sliding: likewise, a unit is of one image, and `places` are those of the first output in
  // each row.
  static Units for_sliding(const Gather& g) { return Units(g, 1 << 14, true, true); }

  int64_t count() const { return blocks * parts; }
  Unit operator[](int64_t index) const;
  int64_t pixels(const Unit& unit) const { return unit.images * unit.rows * rest; }
  int64_t box_bytes() const { return copies ? images * image_step * item : 0; }
  // The source of a unit: its first element. `box` has box_bytes().
  const char* load(const Gather& g, const Unit& unit, int64_t group, char* box) const;

  int64_t item, batch;
  int axis;                          // the one that is cut, and
  int64_t all_rows;                  // its outputs
  int64_t images, rows;              // of a unit, the last ones may be smaller
  int64_t rest;                      // outputs of a row
  int64_t blocks, parts;             // blocks of images; parts of an image
  bool copies;                       // the source is copied
  bool by_remainder;                 // its columns in order of their remainder by the step
  Triple base, size;                 // least shifts and sizes of a box
  Triple step;                       // between outputs, in elements
  int64_t channel_step, image_step;  // likewise
  std::vector<int64_t> places;       // of outputs, and of the taps of all channels: a source
  std::vector<int64_t> tap_places;   // element's place is the sum of two of them

 private:
  Units(const Gather& g, int64_t pixels, bool by_remainder, bool sliding);
};

// Copies outputs [first, first + count) of a unit, of channels [channel, channel + channels) of a
// group, to the result. `from` has strides in bytes.
void place(const Gather& g, const Units& units, const Unit& unit, int64_t group, int64_t channel,
           int64_t channels, int64_t first, int64_t count, const char* from, int64_t from_output,
           int64_t from_channel);

// A strided copy of n0 x n1 elements; strides in bytes.
void copy_2d(DType dtype, char* to, int64_t to0, int64_t to1, const char* from, int64_t from0,
             int64_t from1, int64_t n0, int64_t n1);

// Channels in panels of vectors: all as wide as can be, the last one as narrow as will do.
struct Panels {
  Panels(DType dtype, int64_t channels);
  int64_t width(int64_t panel) const { return panel + 1 < count ? widest : last; }
  int64_t channels_of(int64_t panel) const { return std::min(widest, channels - panel * widest); }
  int64_t begin(int64_t panel) const { return panel * widest; }
  int64_t padded() const { return (count - 1) * widest + last; }  // columns of all

  int64_t channels, widest, count, last;
};

constexpr int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::vector<int64_t> result_rows(const Gather& g);  // where each row lies in a channel
bool few_results(const Gather& g);        // so few channels that products of matrices don't pay
bool is_large(const Gather& g);           // worth letting the interpreter's lock go
int64_t grain_for(double multiply_adds);  // tasks that are worth a range of their own

// A product in chunks: each adds so many products in one chain.
inline constexpr int64_t kChunk = 256;

}  // namespace zero::convolving
