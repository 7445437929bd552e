#include "zero/ops/winograd.h"

#include "zero/kernels/table.h"
#include "zero/kernels/winograd.h"
#include "zero/ops/convolve_parts.h"
#include "zero/runtime/parallel.h"

namespace zero {

using namespace convolving;

namespace {

constexpr int64_t kWeights = kWinogradWeights, kBlock = kWinogradBlock;
constexpr int64_t kFewChannels = 16;         // fewer leave vectors empty
constexpr int64_t kSkew = 16;                // between points: they fall into different sets of L1
constexpr int64_t kStrip = 16 << 10;         // elements of a rectangle of tiles, one vector deep
constexpr int64_t kHeldWeights = 640 << 10;  // elements of weights at the points that L2 may hold
constexpr int64_t kGroup = 128 << 10;        // elements at the points: of tiles that stay in L2,
constexpr int64_t kLargeGroup = 2 << 20;     // or for which weights are transformed once more
constexpr int64_t kGradientGroup = 256 << 10, kLargeGradientGroup = 3 << 20;
constexpr int64_t kChunkTiles = 64;  // products in one chain of the weight's gradient
constexpr int64_t kLoadTiles = 16;   // of a task

const WinogradKernels& table() { return *kernels().winograd; }

int64_t round_up(int64_t n, int64_t step) { return ceil_divide(n, step) * step; }
int64_t padded(int64_t channels) { return round_up(channels, table().lanes); }
int64_t block_count(int64_t channels) { return ceil_divide(channels, kBlock); }

// Channels of a block, and its columns: whole vectors.
int64_t channels_of(int64_t channels, int64_t block) {
  return std::min(kBlock, channels - block * kBlock);
}
int64_t width_of(int64_t channels, int64_t block) { return padded(channels_of(channels, block)); }

// [rows][width] at each point.
int64_t point_step(int64_t rows, int64_t width) { return rows * width + kSkew; }

int64_t bytes(int64_t elements) { return elements * static_cast<int64_t>(sizeof(float)); }
float* floats(const Block& block) { return reinterpret_cast<float*>(block.data()); }

// A scheme and its points in two dimensions.
struct Scheme {
  explicit Scheme(int64_t stride)
      : of(table().schemes[stride - 1]), points(of.points * of.points) {}
  // Which of the weight's points belongs to one.
  int64_t weight(int64_t point) const {
    return of.weight[point / of.points] * 6 + of.weight[point % of.points];
  }

  const WinogradScheme& of;
  int64_t points;
};

// What is at the points of a group of tiles: [block][points][tiles][channels of the block].
struct Stage {
  int64_t points, channels, tiles;
  float* data;

  int64_t block_step() const { return points * point_step(tiles, kBlock); }
  int64_t elements() const { return block_count(channels) * block_step(); }
  int64_t width(int64_t block) const { return width_of(channels, block); }
  int64_t step(int64_t block) const { return point_step(tiles, width(block)); }
  float* block(int64_t index) const { return data + index * block_step(); }
};

// The images of one side of a convolution, and the tiles that they are cut into, numbered from
// image to image, row to row.
struct Images {
  int64_t channels, height, width;
  int64_t low_row, low_column;  // where the first tile begins
  int64_t step, halo;           // of tiles
  int64_t tile_rows, tile_columns;

  int64_t plane() const { return height * width; }
  int64_t tiles() const { return tile_rows * tile_columns; }  // of an image

  // Calls f(image, tile, args) for tiles [first, first + count) in rectangles; args without what
  // belongs to a block of channels.
  template <class F>
  void for_each_rectangle(int64_t first, int64_t count, float* scratch, F f) const {
    const int64_t strip = kStrip / table().lanes;
    const int64_t most_columns = (strip / (step + halo) - halo) / step;
    for (int64_t tile = first; tile < first + count;) {
      const int64_t at = tile % tiles(), row = at / tile_columns, column = at % tile_columns;
      const int64_t left = first + count - tile;
      int64_t rows = 1, columns = std::min({left, tile_columns - column, most_columns});
      if (columns == tile_columns) {
        const int64_t fit = (strip / (step * columns + halo) - halo) / step;
        rows = std::min({left / columns, tile_rows - row, fit});
      }
      WinogradTilesArgs args{};
      args.plane = plane();
      args.height = height;
      args.width = width;
      args.row = low_row + step * row;
      args.column = low_column + step * column;
      args.rows = rows;
      args.columns = columns;
      args.scratch = scratch;
      f(tile / tiles(), tile - first, args);
      tile += rows * columns;
    }
  }

  // Takes tiles [first, first + count) of a block of channels to the points: tiles [at, at + count)
  // of the stage.
  void load(WinogradTilesFn kernel, const float* images, int64_t first, int64_t count,
            const Stage& stage, int64_t at, int64_t block, float* scratch) const {
    for_each_rectangle(first, count, scratch, [&](int64_t image, int64_t tile, auto& args) {
      args.in = images + (image * channels + block * kBlock) * plane();
      args.channels = channels_of(channels, block);
      args.tile_step = stage.width(block);
      args.point_step = stage.step(block);
      args.out = stage.block(block) + (at + tile) * args.tile_step;
      kernel(args);
    });
  }
};

// The two sides x and y of a convolution, where tiles are those of one of them.
struct Sides {
  Sides(const ConvolutionShape& s, bool of_x)
      : scheme(s.stride[1]),
        x(side(s.in_channels, s.in, scheme.of.step)),
        y(side(s.out_channels, s.out, 4)) {
    for (int d = 1; d < 3; ++d) {
      // y[o] reads x[o stride - padding + t]. A tile of y reads from its first o on. One of x reads
      // at a stride of 1 also the o whose t is 2; at 2 it begins where t is 1, so that its window
      // of y begins there.
      int64_t& low_x = d == 1 ? x.low_row : x.low_column;
      int64_t& low_y = d == 1 ? y.low_row : y.low_column;
      const int64_t padding = s.padding[d];
      int64_t tiles = ceil_divide(s.out[d], 4);
      if (!of_x) {
        low_x = -padding;
      } else if (s.stride[d] == 1) {
        low_y = padding - 2;
        tiles = ceil_divide(s.in[d], 4);
      } else {
        low_y = padding == 0 ? -1 : 0;
        low_x = 1 - padding + 2 * low_y;
        tiles = ceil_divide(s.in[d] - low_x, 8);
      }
      (d == 1 ? x.tile_rows : x.tile_columns) = tiles;
      (d == 1 ? y.tile_rows : y.tile_columns) = tiles;
    }
  }

  Scheme scheme;
  Images x, y;

 private:
  Images side(int64_t channels, const Triple& size, int64_t step) const {
    return {channels, size[1], size[2], 0, 0, step, scheme.of.halo, 0, 0};
  }
};

// A convolution or a transposed one: from the source by way of the points to the result.
struct Job {
  const Scheme& scheme;
  int64_t batch;
  const Images &source, &result;
  WinogradTilesFn load_source, store_result;
  const float *x, *weight, *bias;
  float* y;
  int64_t weight_result, weight_source;  // between channels of the weight
  bool flipped;

  int64_t tiles() const { return batch * result.tiles(); }
  double work(int64_t tiles_, int64_t results) const {
    return static_cast<double>(scheme.points * tiles_) *
           static_cast<double>(source.channels * results);
  }
  Stage stage(int64_t channels, int64_t count, float* data) const {
    return {scheme.points, channels, count, data};
  }

  // The weight of two blocks at its points: [36][channels of the source][columns].
  int64_t weight_step(int64_t block, int64_t source_block) const {
    return point_step(channels_of(source.channels, source_block), width_of(result.channels, block));
  }
  void load_weight(int64_t block, int64_t source_block, float* to) const {
    scheme.of.load_weight(
        {.in = weight + block * kBlock * weight_result + source_block * kBlock * weight_source,
         .out = to,
         .lane_step = weight_result,
         .depth_step = weight_source,
         .lanes = channels_of(result.channels, block),
         .depth = channels_of(source.channels, source_block),
         .point_step = weight_step(block, source_block),
         .row_step = width_of(result.channels, block),
         .flipped = flipped,
         .add = false});
  }

  // Sums at one point for a block of results: what a block of the source adds to them.
  void multiply(const Stage& from, int64_t source_block, const float* weights, int64_t block,
                int64_t point, float* sums) const {
    const int64_t width = width_of(result.channels, block);
    table().product({.a = from.block(source_block) + point * from.step(source_block),
                     .a_row = from.width(source_block),
                     .a_step = 1,
                     .b = weights + scheme.weight(point) * weight_step(block, source_block),
                     .b_row = width,
                     .c = sums + point * point_step(from.tiles, width),
                     .c_row = width,
                     .rows = from.tiles,
                     .columns = width,
                     .depth = channels_of(source.channels, source_block),
                     .add = source_block > 0});
  }

  // From sums at the points to a block of results of tiles [first, first + count).
  void store(int64_t first, int64_t count, int64_t block, const float* sums, float* scratch) const {
    const int64_t width = width_of(result.channels, block);
    result.for_each_rectangle(first, count, scratch, [&](int64_t image, int64_t tile, auto& args) {
      args.in = sums + tile * width;
      args.out = y + (image * result.channels + block * kBlock) * result.plane();
      args.channels = channels_of(result.channels, block);
      args.tile_step = width;
      args.point_step = point_step(count, width);
      args.bias = bias ? bias + block * kBlock : nullptr;
      store_result(args);
    });
  }
};

// Groups of tiles with about so many elements at the points, all as large as can be.
struct Groups {
  Groups(int64_t tiles, int64_t elements, int64_t each_tile)
      : tiles(tiles),
        count(ceil_divide(tiles, std::max<int64_t>(elements / each_tile, 12))),
        most(ceil_divide(tiles, count)) {}
  int64_t begin(int64_t group) const { return std::min(tiles, group * most); }
  int64_t size(int64_t group) const { return begin(group + 1) - begin(group); }

  int64_t tiles, count, most;
};

// Weights at the points stay in L2, groups of tiles come one after the other.
void by_tiles(const Job& job) {
  const int64_t blocks = block_count(job.result.channels);
  const int64_t sources = block_count(job.source.channels), points = job.scheme.points;
  const int64_t each = kWeights * point_step(kBlock, kBlock);  // of a pair of blocks
  const Block memory(bytes(blocks * sources * each));
  float* const weights = floats(memory);
  parallel_for(blocks * sources, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      job.load_weight(i / sources, i % sources, weights + i * each);
  });
  const Groups groups(job.tiles(), kGroup, points * (padded(job.source.channels) + kBlock));
  const double work = job.work(groups.most, job.result.channels);
  parallel_for(groups.count, grain_for(work), [&](int64_t begin, int64_t end) {
    const int64_t staged = job.stage(job.source.channels, groups.most, nullptr).elements();
    const int64_t summed = job.stage(kBlock, groups.most, nullptr).elements();
    const Block scratch(bytes(staged + summed + kStrip));
    float* const sums = floats(scratch) + staged;
    float* const strip = sums + summed;
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = groups.begin(group), count = groups.size(group);
      const Stage stage = job.stage(job.source.channels, count, floats(scratch));
      for (int64_t s = 0; s < sources; ++s)
        job.source.load(job.load_source, job.x, first, count, stage, 0, s, strip);
      for (int64_t block = 0; block < blocks; ++block) {
        for (int64_t point = 0; point < points; ++point)
          for (int64_t s = 0; s < sources; ++s)
            job.multiply(stage, s, weights + (block * sources + s) * each, block, point, sums);
        job.store(first, count, block, sums, strip);
      }
    }
  });
}

// Tasks that take tiles to the points.
void load_stage(const Images& images, WinogradTilesFn kernel, const float* data, int64_t first,
                const Stage& stage) {
  const int64_t ranges = ceil_divide(stage.tiles, kLoadTiles);
  const int64_t blocks = block_count(images.channels);
  parallel_for(ranges * blocks, 2, [&](int64_t begin, int64_t end) {
    const Block strip(bytes(kStrip));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i / blocks * kLoadTiles;
      images.load(kernel, data, first + at, std::min(kLoadTiles, stage.tiles - at), stage, at,
                  i % blocks, floats(strip));
    }
  });
}

// Tiles at the points wait, while weights come block by block: theirs would fill memory.
void by_weights(const Job& job) {
  const int64_t blocks = block_count(job.result.channels);
  const int64_t sources = block_count(job.source.channels), points = job.scheme.points;
  const Groups groups(job.tiles(), kLargeGroup, points * padded(job.source.channels));
  const Block staged(bytes(job.stage(job.source.channels, groups.most, nullptr).elements()));
  for (int64_t group = 0; group < groups.count; ++group) {
    const int64_t first = groups.begin(group), count = groups.size(group);
    const Stage stage = job.stage(job.source.channels, count, floats(staged));
    load_stage(job.source, job.load_source, job.x, first, stage);
    parallel_for(blocks, grain_for(job.work(count, kBlock)), [&](int64_t begin, int64_t end) {
      const int64_t weights = kWeights * point_step(kBlock, kBlock);
      const int64_t summed = job.stage(kBlock, count, nullptr).elements();
      const Block scratch(bytes(weights + summed + kStrip));
      float* const sums = floats(scratch) + weights;
      float* const strip = sums + summed;
      for (int64_t block = begin; block < end; ++block) {
        for (int64_t s = 0; s < sources; ++s) {
          job.load_weight(block, s, floats(scratch));
          for (int64_t point = 0; point < points; ++point)
            job.multiply(stage, s, floats(scratch), block, point, sums);
        }
        job.store(first, count, block, sums, strip);
      }
    });
  }
}

void run(const Job& job) {
  if (kWeights * job.source.channels * job.result.channels <= kHeldWeights) {
    by_tiles(job);
  } else {
    by_weights(job);
  }
}

}  // namespace

bool winograd_serves(DType dtype, const ConvolutionShape& s, WinogradTask task) {
  const int64_t stride = s.stride[1];
  if (!winograd_enabled() || dtype != DType::Float32 || s.groups != 1 ||
      s.kernel != Triple{1, 3, 3} || stride > 2 || s.stride != Triple{1, stride, stride} ||
      s.dilation != Triple{1, 1, 1} || s.in[0] != 1 || s.padding[0] != 0 ||
      s.in_channels < kFewChannels || s.out_channels < kFewChannels)
    return false;
  // By the number of multiplications.
  const bool of_x = task == WinogradTask::Transposed;
  const Sides sides(s, of_x);
  const int64_t tiles = sides.y.tiles(), points = sides.scheme.points;
  const Triple& result = of_x ? s.in : s.out;
  const int64_t direct = 9 * result[1] * result[2] / (of_x ? stride * stride : 1);
  if (task == WinogradTask::Weight)  // whose map back costs as much as some tiles
    return 7 * points * (s.batch * tiles + 2) < 5 * s.batch * direct;
  // Of one image, as its bits must not depend on its batch. The maps cost a quarter.
  return 5 * points * tiles < 4 * direct;
}

void winograd_convolve(const ConvolutionShape& s, const float* x, const float* weight,
                       const float* bias, float* y) {
  const Sides sides(s, false);
  const WinogradScheme& scheme = sides.scheme.of;
  run({sides.scheme, s.batch, sides.x, sides.y, scheme.load_source, scheme.store_result, x, weight,
       bias, y, 9 * s.in_channels, 9, false});
}

void winograd_transposed(const ConvolutionShape& s, const float* y, const float* weight,
                         const float* bias, float* x) {
  const Sides sides(s, true);
  const WinogradScheme& scheme = sides.scheme.of;
  run({sides.scheme, s.batch, sides.y, sides.x, scheme.load_back, scheme.store_back, y, weight,
       bias, x, 9, 9 * s.in_channels, true});
}

void winograd_weight(const ConvolutionShape& s, const float* x, const float* y, float* weight) {
  const Sides sides(s, false);
  const Scheme& scheme = sides.scheme;
  const int64_t blocks = block_count(s.out_channels), sources = block_count(s.in_channels);
  const int64_t each = kWeights * point_step(kBlock, kBlock);  // sums of a pair of blocks
  // Either all sums wait at the points until there are no more tiles, and each point is a task, or
  // a pair of blocks is a task that takes its sums back at once.
  const bool all = blocks * sources * each <= kHeldWeights;
  const Groups groups(s.batch * sides.y.tiles(), all ? kGradientGroup : kLargeGradientGroup,
                      scheme.points * (padded(s.in_channels) + padded(s.out_channels)));
  const auto stage = [&](int64_t channels, int64_t count, float* data) {
    return Stage{scheme.points, channels, count, data};
  };
  // Adds the products at all points that belong to one of the weight's.
  const auto add_products = [&](const Stage& of_x, const Stage& of_y, int64_t pair, int64_t target,
                                bool first, float* sums) {
    const int64_t block = pair / sources, from = pair % sources;
    const int64_t rows = channels_of(s.out_channels, block), width = of_x.width(from);
    const int64_t chunks = ceil_divide(of_x.tiles, kChunkTiles);
    for (int64_t point = 0; point < scheme.points; ++point) {
      if (scheme.weight(point) != target) continue;
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        const int64_t begin = of_x.tiles * chunk / chunks, end = of_x.tiles * (chunk + 1) / chunks;
        table().product(
            {.a = of_y.block(block) + point * of_y.step(block) + begin * of_y.width(block),
             .a_row = 1,
             .a_step = of_y.width(block),
             .b = of_x.block(from) + point * of_x.step(from) + begin * width,
             .b_row = width,
             .c = sums + target * point_step(rows, width),
             .c_row = width,
             .rows = rows,
             .columns = width,
             .depth = end - begin,
             .add = !first});
        first = false;
      }
    }
  };
  const auto store = [&](int64_t pair, const float* sums, bool first) {
    const int64_t block = pair / sources, from = pair % sources;
    const int64_t rows = channels_of(s.out_channels, block);
    const int64_t width = width_of(s.in_channels, from);
    scheme.of.store_weight({.in = sums,
                            .out = weight + (block * s.in_channels + from) * kBlock * 9,
                            .lane_step = 9,
                            .depth_step = 9 * s.in_channels,
                            .lanes = channels_of(s.in_channels, from),
                            .depth = rows,
                            .point_step = point_step(rows, width),
                            .row_step = width,
                            .flipped = false,
                            .add = !first});
  };

  // Calls f(group, of_x, of_y) for groups [begin, end), which are taken to the points.
  const auto for_groups = [&](int64_t begin, int64_t end, auto f) {
    const Block staged_x(bytes(stage(s.in_channels, groups.most, nullptr).elements()));
    const Block staged_y(bytes(stage(s.out_channels, groups.most, nullptr).elements()));
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = groups.begin(group), count = groups.size(group);
      const Stage of_x = stage(s.in_channels, count, floats(staged_x));
      const Stage of_y = stage(s.out_channels, count, floats(staged_y));
      load_stage(sides.x, scheme.of.load_source, x, first, of_x);
      load_stage(sides.y, scheme.of.load_gradient, y, first, of_y);
      f(group, of_x, of_y);
    }
  };
  if (!all) {
    for_groups(0, groups.count, [&](int64_t group, const Stage& of_x, const Stage& of_y) {
      parallel_for(blocks * sources, 1, [&](int64_t begin, int64_t end) {
        const Block sums(bytes(each));
        for (int64_t pair = begin; pair < end; ++pair) {
          for (int64_t target = 0; target < kWeights; ++target)
            add_products(of_x, of_y, pair, target, true, floats(sums));
          store(pair, floats(sums), group == 0);
        }
      });
    });
    return;
  }

  // Two halves of the groups have sums of their own, if L2 holds both: two threads needn't wait for
  // each other after every group. More threads share the work on a group.
  const int64_t held = blocks * sources * each;
  const int64_t parts = std::min<int64_t>(groups.count, blocks * sources > 1 ? 1 : 2);
  const Block waiting(bytes(parts * held));
  const double work =
      static_cast<double>(groups.most * s.in_channels) * static_cast<double>(s.out_channels);
  parallel_for(parts, num_threads() > parts ? parts : 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t start = groups.count * part / parts;
      float* const sums = floats(waiting) + part * held;
      for_groups(start, groups.count * (part + 1) / parts,
                 [&](int64_t group, const Stage& of_x, const Stage& of_y) {
                   parallel_for(kWeights, grain_for(work), [&](int64_t low, int64_t high) {
                     for (int64_t target = low; target < high; ++target)
                       for (int64_t pair = 0; pair < blocks * sources; ++pair)
                         add_products(of_x, of_y, pair, target, group == start, sums + pair * each);
                   });
                 });
    }
  });
  parallel_for(blocks * sources, 4, [&](int64_t begin, int64_t end) {
    for (int64_t pair = begin; pair < end; ++pair)
      for (int64_t part = 0; part < parts; ++part)
        store(pair, floats(waiting) + part * held + pair * each, part == 0);
  });
}

}  // namespace zero
