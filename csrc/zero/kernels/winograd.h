// The kernels of Winograd's convolutions: 3 x 3 at a stride of 1 or 2 as products at points.
//
// A result is cut into tiles of 4 x 4, which need windows of the source. Tiles and weights are
// taken to points by linear maps; a convolution is a product of matrices at each point, [tiles,
// channels] by [channels, channels], and a map back. Vectors hold neighbouring channels. What is at
// the points lies in blocks of up to kWinogradBlock channels: [points][tiles or depth][channels of
// the block], dense but for the step between points.
#pragma once

#include "zero/kernels/table.h"

namespace zero {

inline constexpr int64_t kWinogradWeights = 36;  // points of the weight
inline constexpr int64_t kWinogradBlock = 64;    // channels

// A rectangle of tiles of one image, and the channels of a block.
struct WinogradTilesArgs {
  const float* in;
  float* out;                     // the image or what is at the points, as `in`
  int64_t plane, height, width;   // of the image; channels are a plane apart
  int64_t row, column;            // where the first tile begins; may lie outside of the image
  int64_t rows, columns;          // of tiles
  int64_t channels;               // that the image has
  int64_t point_step, tile_step;  // of what is at the points
  const float* bias;              // of store_result; null: none
  float* scratch;                 // the rectangle, one vector deep
};
using WinogradTilesFn = void (*)(const WinogradTilesArgs& args);

// Weights, [lanes][depth][3][3] in any order of the first two.
struct WinogradWeightArgs {
  const float* in;
  float* out;                     // the weights or what is at the points, as `in`
  int64_t lane_step, depth_step;  // of the weights
  int64_t lanes, depth;           // lanes: up to a block
  int64_t point_step, row_step;   // of what is at the points
  bool flipped;                   // of load_weight: the kernel's taps in reverse order
  bool add;                       // of store_weight: to what is there
};
using WinogradWeightFn = void (*)(const WinogradWeightArgs& args);

// c[i][j] = sum over p < depth of a[i a_row + p a_step] b[p b_row + j] for i < rows, j < columns,
// or c += that. columns is a multiple of the lanes.
struct WinogradProductArgs {
  const float* a;
  int64_t a_row, a_step;
  const float* b;
  int64_t b_row;
  float* c;
  int64_t c_row;
  int64_t rows, columns, depth;
  bool add;
};
using WinogradProductFn = void (*)(const WinogradProductArgs& args);

// The maps for one stride. Each side of a tile has `points` points, and of those the weight has 6.
struct WinogradScheme {
  int64_t points;
  int weight[9];  // which of the weight's
  // Tiles of the result y are 4 apart, those of the source x `step`; the windows that a tile of the
  // other side reads have `halo` more elements than that.
  int64_t step, halo;
  WinogradTilesFn load_source, store_result;
  WinogradTilesFn load_back, store_back;  // of the transposed convolution: from y to x
  WinogradTilesFn load_gradient;          // tiles of y for the gradient of the weight
  WinogradWeightFn load_weight;
  WinogradWeightFn store_weight;  // the gradient: from sums at the points
};

struct WinogradKernels {
  int64_t lanes;              // of a vector: blocks have whole vectors
  WinogradScheme schemes[2];  // strides of 1 and 2
  WinogradProductFn product;
};

}  // namespace zero
