// Padding, and resampling of the last dimensions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "zero/core/tensor.h"

namespace zero {

// `pads` is (before, after) for the last dimension, then for the one before it, and so on; negative
// numbers cut off.
Tensor constant_pad(const Tensor& x, const Dims& pads, const Scalar& value);
// Padding of the last one, two or three dimensions with the tensor's own elements, by the mode
// "reflect", "replicate" or "circular".
Tensor pad_by(const std::string& mode, const Tensor& x, const Dims& pads);

// x is [N, C, ...] with one, two or three more dimensions, which get other sizes. The mode is
// "nearest", "nearest-exact", "linear", "cubic", or one that averages where sizes get smaller:
// "linear-antialias", "cubic-antialias", "lanczos-antialias". `scales` is empty, or tells how many
// times larger each dimension is meant to be (0: not said); else that is the ratio of the sizes.
// With align_corners the centres of the first and last elements stay where they are, else the
// borders do.
Tensor resample(const std::string& mode, const Tensor& x, const Dims& sizes,
                const std::vector<double>& scales, bool align_corners);

// Samples of x [N, C, ...] at the places of a grid [N, ..., dims], for two and three dimensions;
// not recorded. Modes are PyTorch's numbers: 0 linear, 1 nearest, 2 cubic (two dimensions);
// padding 0 zeros, 1 border, 2 reflection.
struct GridOptions {
  int mode, padding;
  bool align_corners;
};
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridOptions& options);
// The gradients of x and of the grid; undefined where not asked for.
std::pair<Tensor, Tensor> grid_sample_gradients(const Tensor& g, const Tensor& x,
                                                const Tensor& grid, const GridOptions& options,
                                                bool of_x, bool of_grid);

}  // namespace zero
