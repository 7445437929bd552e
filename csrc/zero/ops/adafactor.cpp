// Adafactor's step: squares of a gradient are remembered by row and by column.
//
// The update of an element is u = g min(a b, limit) with factors a of its row and b of its column;
// a vector is one row without a factor. Three passes over tiles of all parameters: the size of p
// with the sums of squares of g, the size of u, the step. Where a tile needs no other's sums, the
// first pass makes the second, too. Tiles depend on shapes alone, so the bits don't depend on
// threads.
#include <algorithm>
#include <cmath>
#include <vector>

#include "zero/ops/iterator.h"
#include "zero/ops/optim.h"

namespace zero {

namespace {

constexpr int64_t kTile = 65536;  // elements of a matrix, at most
constexpr int64_t kTileColumns = 1024;
constexpr int64_t kSmall = 1024;        // rows and columns, in all, of what lies in one tile
constexpr int64_t kBlock = 2048;        // elements of float16 that are float32 at a time
constexpr int64_t kTogether = 1 << 18;  // elements that all passes are made over at once: L2's

// Part of a vector or of a matrix, or several whole matrices.
struct Tile {
  int64_t item,
      shared;  // where scratch memory begins for all tiles of a matrix; -1: it is the only
  int64_t matrix, matrices, row, rows, column, columns;
  double size = 0, update = 0;  // sums of squares of p and of u
};

// Parameters that are updated together.
struct Turn { size_t first, last, elements, scratch; };

// The size of p and sums of g^2; the sums of all tiles of a matrix, and its factors; the size of u.
enum class Pass { Sums, Join, Size, Step };

// Factors of some rows and some columns that follow each other.
struct Factors { char *rows, *columns; };

bool is_vector(const OptimizerItem& x) { return x.data[4] != nullptr; }
int64_t tile_columns(const OptimizerItem& x) { return std::min(x.columns, kTileColumns); }
int64_t tile_rows(const OptimizerItem& x) { return std::min(x.rows, kTile / tile_columns(x)); }
int64_t parts(int64_t n, int64_t each) { return (n + each - 1) / each; }

// Rows of n elements, from one dtype to another; steps in elements.
void cast(DType from, DType to, const void* x, int64_t x_row, void* y, int64_t y_row, int64_t n,
          int64_t rows = 1) {
  char* const data[2] = {static_cast<char*>(y), static_cast<char*>(const_cast<void*>(x))};
  const int64_t in = itemsize(from), out = itemsize(to);
  const int64_t strides[4] = {out, in, out * y_row, in * x_row};
  kernels().cast[static_cast<int>(from)][static_cast<int>(to)](data, strides, n, rows, nullptr);
}

// The first operand is the result; steps in bytes.
void map(ElementwiseOp op, DType type, int64_t n, std::initializer_list<void*> operands,
         std::initializer_list<int64_t> steps) {
  char* data[4] = {};
  int64_t strides[8] = {};
  int k = 0;
  for (void* const operand : operands) data[k++] = static_cast<char*>(operand);
  std::copy(steps.begin(), steps.end(), strides);
  kernels().elementwise[static_cast<int>(op)][static_cast<int>(compute_type(type))](data, strides,
                                                                                    n, 1, nullptr);
}

class Step {
 public:
  Step(const double* options, const std::vector<OptimizerItem>& items)
      : items_(items), options_(options), steps_(items.size()) {
    const size_t together = share_memory(items) ? 1 : kTogether;  // tied ones are updated twice
    for (size_t i = 0; i < items.size(); ++i) {
      if (turns_.empty() || turns_.back().elements >= together)
        turns_.push_back({tiles_.size(), 0, 0, 0});
      Turn& turn = turns_.back();
      if (items[i].numel > 0) add_tiles(static_cast<int64_t>(i), turn);
      turn.last = tiles_.size();
      turn.elements += static_cast<size_t>(items[i].numel);
    }
    size_t most = 0;
    for (const Turn& turn : turns_) most = std::max(most, turn.scratch);
    scratch_.resize(most);
  }

  void operator()() {
    for (const Turn& turn : turns_) {
      const auto n = static_cast<int64_t>(turn.last - turn.first);
      const bool small = turn.elements <= static_cast<size_t>(kUpdateGrain);
      for (const Pass pass : {Pass::Sums, Pass::Join, Pass::Size, Pass::Step}) {
        if (turn.scratch == 0 && (pass == Pass::Join || pass == Pass::Size)) continue;
        if (pass == Pass::Step) decide(turn);
        parallel_for(n, small ? n : 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) visit(pass, tiles_[turn.first + i]);
        });
      }
    }
  }

 private:
  void add_tiles(int64_t i, Turn& turn) {
    const OptimizerItem& x = items_[i];
    const int64_t elements = x.rows * x.columns, matrices = x.numel / elements;
    const bool small = elements <= kTile && x.rows + x.columns <= kSmall;
    const int64_t each = small ? std::min(kTile / elements, kSmall / (x.rows + x.columns)) : 1;
    const int64_t rows = tile_rows(x), columns = is_vector(x) ? kSmall / 2 : tile_columns(x);
    for (int64_t k = 0; k < matrices; k += each) {
      int64_t shared = -1;
      if (!small && !is_vector(x)) {
        shared = static_cast<int64_t>(turn.scratch);
        turn.scratch += static_cast<size_t>(sums_of(x) + x.rows + x.columns);
      }
      for (int64_t r = 0; r < x.rows; r += rows)
        for (int64_t c = 0; c < x.columns; c += columns)
          tiles_.push_back({i, shared, k, std::min(each, matrices - k), r,
                            std::min(rows, x.rows - r), c, std::min(columns, x.columns - c)});
    }
  }

  // For each column of tiles the sums of its rows, for each row of tiles those of its columns.
  static int64_t sums_of(const OptimizerItem& x) {
    return parts(x.columns, tile_columns(x)) * x.rows + parts(x.rows, tile_rows(x)) * x.columns;
  }

  double least(const OptimizerItem& x) const {
    return options_[2] < 0 ? machine_epsilon(x.dtype) : options_[2];
  }

  // One pass over a tile, in compute types; the sum of squares that Sums and Size find. `sums` are
  // those of the rows and of the columns that the factors belong to.
  double run(Pass pass, const Tile& t, const Factors& factors, double* row_sums,
             double* column_sums) const {
    const OptimizerItem& x = items_[t.item];
    const DType own = x.dtype, type = compute_dtype(own);
    const int index = compute_index(own);
    const OptimizerKernels& table = *kernels().optimizer;
    const SquaresFn squares = kernels().squares[static_cast<int>(compute_type(own))];
    const int64_t item = itemsize(type);
    const int64_t first_row = t.shared < 0 ? 0 : t.row, first_column = t.shared < 0 ? 0 : t.column;
    alignas(64) float p[kBlock], g[kBlock];
    FactoredArgs args{};
    args.p = p;
    args.g = g;
    args.columns = args.stride = t.columns;
    args.limit = 1 / least(x);
    args.keep = x.args.keep;
    args.step = steps_[t.item];
    const bool direct = own == type;
    // Several matrices only if these are whole.
    const int64_t matrices =
        direct ? t.matrices : std::clamp<int64_t>(kBlock / (t.rows * t.columns), 1, t.matrices);
    const int64_t rows = direct ? t.rows : std::min(t.rows, kBlock / t.columns);
    double total = 0;
    for (int64_t k = 0; k < t.matrices; k += matrices) {
      for (int64_t i = 0; i < t.rows; i += rows) {
        args.matrices = std::min(matrices, t.matrices - k);
        args.rows = std::min(rows, t.rows - i);
        const int64_t n = args.matrices * args.rows;
        const int64_t at =
            (((t.matrix + k) * x.rows + t.row + i) * x.columns + t.column) * itemsize(own);
        if (direct) {
          args.p = x.data[0] + at;
          args.g = x.data[1] + at;
          args.stride = x.columns;
        } else {
          cast(own, type, x.data[0] + at, x.columns, p, t.columns, t.columns, n);
          cast(own, type, x.data[1] + at, x.columns, g, t.columns, t.columns, n);
        }
        const int64_t row = k * x.rows + first_row + i, column = k * x.columns + first_column;
        if (pass != Pass::Sums) {
          args.a = factors.rows + row * item;
          args.b = factors.columns + column * item;
        }
        if (pass == Pass::Sums) {
          const bool dense = args.stride == t.columns;
          for (int64_t j = 0; j < (dense ? 1 : n); ++j)
            total += squares(static_cast<const char*>(args.p) + j * args.stride * item,
                             (dense ? n : 1) * t.columns);
          if (!is_vector(x)) table.square_sums[index](args, row_sums + row, column_sums + column);
        } else if (pass == Pass::Size) {
          total += table.factored_size[index](args);
        } else {
          table.factored_step[index](args);
          if (!direct) cast(type, own, p, t.columns, x.data[0] + at, x.columns, t.columns, n);
        }
      }
    }
    return total;
  }

  // The factors of n rows or columns, whose running means take in the sums, each of `count`
  // squares, if there are any.
  void make_factors(const OptimizerItem& x, char* state, int64_t n, double* sums, int64_t count,
                    char* to) const {
    const DType own = x.dtype, type = compute_dtype(own);
    const int64_t item = itemsize(type);
    double take = x.args.c[0], over = 1 / static_cast<double>(count), block[kSmall];
    for (int64_t at = 0; at < n; at += kSmall) {
      const int64_t m = std::min(kSmall, n - at);
      char* const means = state + at * itemsize(own);
      if (sums) {
        constexpr DType wide = DType::Float64;
        double* const now = sums + at;
        cast(own, wide, means, 0, block, 0, m);
        map(ElementwiseOp::Mul, wide, m, {now, now, &over}, {8, 8, 0});
        map(ElementwiseOp::Lerp, wide, m, {block, block, now, &take}, {8, 8, 8, 0});
        cast(wide, own, block, 0, means, 0, m);
      }
      char* const factors = to + at * item;
      cast(own, type, means, 0, factors, 0, m);
      map(ElementwiseOp::Rsqrt, type, m, {factors, factors}, {item, item});
    }
  }

  // The same of elements of a vector, by its gradient.
  void make_vector_factors(const OptimizerItem& x, int64_t at, int64_t n, bool update,
                           char* to) const {
    const DType own = x.dtype, type = compute_dtype(own);
    const int64_t item = itemsize(type), size = itemsize(own);
    char* const v = x.data[4] + at * size;
    const auto load = [&](char* from, char* room) {
      if (own == type) return from;
      cast(own, type, from, 0, room, 0, n);
      return room;
    };
    if (update) {
      alignas(double) char take[sizeof(double)];
      alignas(64) char room[kSmall * sizeof(float)];
      store_scalar(take, type, Scalar(x.args.c[0]));
      char *const g = load(x.data[1] + at * size, to), *const mean = load(v, room);
      map(ElementwiseOp::Mul, type, n, {to, g, g}, {item, item, item});
      map(ElementwiseOp::Lerp, type, n, {mean, mean, to, take}, {item, item, item, 0});
      if (own != type) cast(type, own, mean, 0, v, 0, n);
    }
    map(ElementwiseOp::Rsqrt, type, n, {to, load(v, to)}, {item, item});
  }

  // Those of a tile or of a large matrix.
  Factors make_factors(const OptimizerItem& x, int64_t matrix, int64_t matrices, int64_t column,
                       int64_t columns, double* row_sums, double* column_sums, void* to) const {
    const int64_t size = itemsize(x.dtype), item = itemsize(compute_dtype(x.dtype));
    const int64_t rows = matrices * x.rows;
    // The columns of a vector lie on a boundary of vectors in memory.
    const Factors factors{static_cast<char*>(to) + matrices * columns * item,
                          static_cast<char*>(to)};
    if (is_vector(x)) {
      make_vector_factors(x, column, columns, column_sums != nullptr, factors.columns);
      store_scalar(factors.rows, compute_dtype(x.dtype), Scalar(1.0));
      return factors;
    }
    make_factors(x, x.data[3] + matrix * x.columns * size, matrices * columns, column_sums, x.rows,
                 factors.columns);
    make_factors(x, x.data[2] + matrix * x.rows * size, rows, row_sums, x.columns, factors.rows);
    if (x.dtype == DType::Float64) {
      scale_rows<double>(x, matrix, matrices, factors.rows);
    } else {
      scale_rows<float>(x, matrix, matrices, factors.rows);
    }
    return factors;
  }

  // To the root of max(mean of r, least), over that of r.
  template <class T>
  void scale_rows(const OptimizerItem& x, int64_t matrix, int64_t matrices, char* factors) const {
    T* a = reinterpret_cast<T*>(factors);
    double block[kSmall], sum = 0;
    const int64_t first = matrix * x.rows, n = matrices * x.rows;
    int64_t left = x.rows;  // of this matrix
    for (int64_t at = 0; at < n; at += kSmall) {
      const int64_t m = std::min(kSmall, n - at);
      cast(x.dtype, DType::Float64, x.data[2] + (first + at) * itemsize(x.dtype), 0, block, 0, m);
      for (int64_t i = 0; i < m; ++i) {
        sum += block[i];
        if (--left > 0) continue;
        const double mean = sum / static_cast<double>(x.rows);
        const T root = static_cast<T>(std::sqrt(mean < least(x) ? least(x) : mean));
        for (int64_t j = 0; j < x.rows; ++j) *a++ *= root;
        sum = 0;
        left = x.rows;
      }
    }
  }

  void visit(Pass pass, Tile& t) {
    const OptimizerItem& x = items_[t.item];
    const bool only = t.shared < 0;
    if (only ? pass == Pass::Join || pass == Pass::Size
             : pass == Pass::Join && t.row + t.column > 0)
      return;
    double own[kSmall], *rows = own, *columns = own + t.matrices * t.rows;
    alignas(64) double room[kSmall];
    Factors factors{};
    const int64_t across = parts(x.columns, tile_columns(x)), down = parts(x.rows, tile_rows(x));
    if (!only) {
      double* const sums = scratch_.data() + t.shared;
      factors.columns = reinterpret_cast<char*>(sums + sums_of(x));
      factors.rows = factors.columns + x.columns * itemsize(compute_dtype(x.dtype));
      rows = sums + t.column / tile_columns(x) * x.rows;
      columns = sums + across * x.rows + t.row / tile_rows(x) * x.columns;
    }
    if (pass == Pass::Join) {
      const auto join = [](double* sums, int64_t parts, int64_t n) {
        for (int64_t k = 1; k < parts; ++k)
          for (int64_t i = 0; i < n; ++i) sums[i] += sums[k * n + i];
      };
      join(rows, across, x.rows);
      join(columns, down, x.columns);
      make_factors(x, t.matrix, 1, 0, x.columns, rows, columns, factors.columns);
      return;
    }
    const bool sums = pass == Pass::Sums;
    if (sums) {
      std::fill_n(rows + (only ? 0 : t.row), t.matrices * t.rows, 0.0);
      std::fill_n(columns + (only ? 0 : t.column), t.matrices * t.columns, 0.0);
    }
    for (;;) {
      if (only && pass != Pass::Sums)
        factors = make_factors(x, t.matrix, t.matrices, t.column, t.columns, sums ? rows : nullptr,
                               sums ? columns : nullptr, room);
      const double squares = run(pass, t, factors, rows, columns);
      (pass == Pass::Sums ? t.size : t.update) = squares;
      if (pass != Pass::Sums || !only) return;
      pass = Pass::Size;
    }
  }

  void decide(const Turn& turn) {
    const double least_size = options_[3], d = options_[4];
    for (size_t i = turn.first; i < turn.last;) {
      const int64_t item = tiles_[i].item;
      const OptimizerItem& x = items_[item];
      double size = 0, update = 0;
      for (; i < turn.last && tiles_[i].item == item; ++i) {
        size += tiles_[i].size;
        update += tiles_[i].update;
      }
      const double root = std::sqrt(static_cast<double>(x.numel));
      steps_[item] = -x.args.sign * x.args.c[1] * std::max(least_size, std::sqrt(size) / root) /
                     std::max(1.0, std::sqrt(update) / (root * d));
    }
  }

  const std::vector<OptimizerItem>& items_;
  const double* options_;
  std::vector<Tile> tiles_;
  std::vector<Turn> turns_;
  std::vector<double> steps_, scratch_;
};

}  // namespace

void adafactor(const double* options, const std::vector<OptimizerItem>& items) {
  Step step(options, items);
  step();
}

}  // namespace zero
