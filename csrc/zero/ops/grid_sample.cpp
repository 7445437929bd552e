// Samples at the places of a grid, and their gradients. Places are checked by the caller.
#include <algorithm>
#include <limits>

#include "zero/autograd/grad_mode.h"
#include "zero/kernels/resample.h"
#include "zero/ops/ops.h"
#include "zero/ops/resample.h"
#include "zero/runtime/denormal.h"
#include "zero/runtime/parallel.h"

namespace zero {

namespace {

// The tensors as kernels read them.
struct Sampling {
  Sampling(const Tensor& input, const Tensor& places, const GridOptions& options)
      : wide(compute_dtype(input.dtype())),
        x(contiguous(to(input, wide))),
        grid(contiguous(to(places, wide))),
        dims(static_cast<int>(input.dim()) - 2) {
    int64_t plane = 1, locations = 1;
    for (int64_t d = 0; d < dims; ++d) {
      plane *= input.size(d + 2);
      locations *= places.size(d + 1);
    }
    ZERO_CHECK(plane <= std::numeric_limits<int32_t>::max(), NotImplementedError,
               "grid_sample: a plane is too large; got input ", input,
               ", expected at most 2^31 - 1 elements");
    args.channels = input.size(1);
    args.locations = locations;
    for (int64_t d = 0; d < 3; ++d) args.size[d] = d < dims ? input.size(dims + 1 - d) : 1;
    args.dims = dims;
    args.mode = static_cast<GridMode>(options.mode);
    args.padding = static_cast<GridPadding>(options.padding);
    args.align_corners = options.align_corners;
  }
  int64_t batch() const { return x.size(0); }
  int64_t plane() const { return args.size[0] * args.size[1] * args.size[2]; }
  // The elements of a sample of t, from one of the batch on.
  char* at(const Tensor& t, int64_t sample) const {
    return t.data<char>() + sample * (t.numel() / batch()) * itemsize(wide);
  }
  GridSampleArgs of(int64_t sample, int64_t begin, int64_t end) const {
    GridSampleArgs result = args;
    result.x = at(x, sample);
    result.grid = at(grid, sample);
    result.begin = begin;
    result.end = end;
    return result;
  }
  // f(sample, begin, end) for `each` places of all samples, in blocks of a length that depends on
  // the shape only.
  template <class F>
  void run(int64_t each, int64_t length, F f) const {
    const int64_t blocks = (each + length - 1) / length;
    const DenormalGuard denormal;
    parallel_for(batch() * blocks, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t begin = i % blocks * length;
        f(i / blocks, begin, std::min(begin + length, each));
      }
    });
  }

  DType wide;
  Tensor x, grid;
  int dims;
  GridSampleArgs args{};
};

constexpr int64_t kLocations = 64;  // of a block; the kernels', too

// How many locations are worth a range of their own, in whole blocks.
int64_t range_of(const GridSampleArgs& args) {
  const int64_t cost = (args.channels + 16) * (args.dims == 2 ? 8 : 16);
  return std::max<int64_t>(1, kGrainSize / cost / kLocations) * kLocations;
}

}  // namespace

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridOptions& options) {
  GradModeGuard no_grad(false);
  Dims sizes = x.sizes();
  for (int64_t d = 2; d < x.dim(); ++d) sizes[d] = grid.size(d - 1);
  if (x.is_meta()) return empty(sizes, x.options());
  const Sampling sampling(x, grid, options);
  const Tensor y = empty(sizes, {sampling.wide, x.device()});
  if (y.numel() > 0) {
    const GridSampleFn kernel =
        kernels().resample->grid_sample[static_cast<int>(compute_type(sampling.wide))];
    sampling.run(sampling.args.locations, range_of(sampling.args),
                 [&](int64_t sample, int64_t begin, int64_t end) {
                   GridSampleArgs args = sampling.of(sample, begin, end);
                   args.out = sampling.at(y, sample);
                   kernel(args);
                 });
  }
  return to(y, x.dtype());
}

std::pair<Tensor, Tensor> grid_sample_gradients(const Tensor& g, const Tensor& x,
                                                const Tensor& grid, const GridOptions& options,
                                                bool of_x, bool of_grid) {
  GradModeGuard no_grad(false);
  if (x.is_meta()) {
    return {of_x ? empty(x.sizes(), x.options()) : Tensor(),
            of_grid ? empty(grid.sizes(), grid.options()) : Tensor()};
  }
  const Sampling sampling(x, grid, options);
  const Tensor gradient = contiguous(to(g, sampling.wide));
  const ResampleKernels& table = *kernels().resample;
  const int type = static_cast<int>(compute_type(sampling.wide));
  Tensor dx, dgrid;
  if (of_x) {
    dx = zeros(x.sizes(), {sampling.wide, x.device()});
    // A channel has one writer; each block of channels finds the places anew.
    if (g.numel() > 0) {
      sampling.run(sampling.args.channels, 16, [&](int64_t sample, int64_t begin, int64_t end) {
        GridSampleArgs args = sampling.of(sample, begin, end);
        args.g = sampling.at(gradient, sample);
        args.out = sampling.at(dx, sample);
        table.grid_sample_input_gradient[type](args);
      });
    }
    dx = to(dx, x.dtype());
  }
  if (of_grid) {
    dgrid = zeros(grid.sizes(), {sampling.wide, x.device()});
    if (g.numel() > 0 && sampling.args.mode != GridMode::Nearest) {  // which has steps, no slopes
      sampling.run(sampling.args.locations, range_of(sampling.args),
                   [&](int64_t sample, int64_t begin, int64_t end) {
                     GridSampleArgs args = sampling.of(sample, begin, end);
                     args.g = sampling.at(gradient, sample);
                     args.out = sampling.at(dgrid, sample);
                     table.grid_sample_grid_gradient[type](args);
                   });
    }
    dgrid = to(dgrid, grid.dtype());
  }
  return {dx, dgrid};
}

}  // namespace zero
