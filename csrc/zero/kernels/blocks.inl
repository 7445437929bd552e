// The loop around elementwise loops: broadcast, strided and transposed operands in two dimensions.
//
// An op needs only a loop over contiguous memory, as vector code. Operands of another layout are
// gathered into (or scattered from) a block in L1; what repeats (a scalar, a bias row) is gathered
// once.
#pragma once

#include "zero/kernels/square.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// out = operands[0], inputs = operands[1..]; out may be one of the inputs. f is the op's functor.
using MapFn = void (*)(const void* f, char* const* operands, int64_t n);

constexpr int kMaxOperands = 4;

struct Tile {
  int64_t columns, rows;  // along n0 and n1
};

// to[j][i] = from[i][j] for i < columns, j < rows, steps in bytes. Along the lines of `from`, each
// read once: its step may map all of them to one set of the cache.
template <class Bits>
void transpose_tile(char* to, int64_t to_step, const char* from, int64_t from_step, Tile tile) {
  constexpr int64_t kSize = sizeof(Bits), n = Square<Bits>::n;
  auto one_by_one = [&](int64_t i, int64_t j, int64_t end) {
    for (; j < end; ++j)
      *reinterpret_cast<Bits*>(to + j * to_step + i * kSize) =
          *reinterpret_cast<const Bits*>(from + i * from_step + j * kSize);
  };
  int64_t i = 0;
  for (; i + n <= tile.columns; i += n) {
    int64_t j = 0;
    for (; j + n <= tile.rows; j += n)
      Square<Bits>::transpose(to + j * to_step + i * kSize, to_step,
                              from + i * from_step + j * kSize, from_step);
    if (j < tile.rows)
      for (int64_t k = i; k < i + n; ++k) one_by_one(k, j, tile.rows);
  }
  for (; i < tile.columns; ++i) one_by_one(i, 0, tile.rows);
}

template <class Bits>
void gather_tile(Bits* to, const char* from, int64_t s0, int64_t s1, Tile tile) {
  constexpr int64_t kSize = sizeof(Bits);
  if (s1 == kSize && s0 != kSize && s0 != 0 && tile.rows > 1)
    return transpose_tile<Bits>(reinterpret_cast<char*>(to), tile.columns * kSize, from, s0, tile);
  if (s1 < s0 && s1 != 0) {
    for (int64_t i = 0; i < tile.columns; ++i, from += s0) {
      for (int64_t j = 0; j < tile.rows; ++j) {
        to[j * tile.columns + i] = *reinterpret_cast<const Bits*>(from + j * s1);
      }
    }
    return;
  }
  for (int64_t j = 0; j < tile.rows; ++j, to += tile.columns, from += s1) {
    const Bits* row = reinterpret_cast<const Bits*>(from);
    if (s0 == int64_t{sizeof(Bits)}) {
      ZERO_SIMD
      for (int64_t i = 0; i < tile.columns; ++i) to[i] = row[i];
    } else if (s0 == -int64_t{sizeof(Bits)}) {  // of flip
      ZERO_SIMD
      for (int64_t i = 0; i < tile.columns; ++i) to[i] = row[-i];
    } else if (s0 == 0 && tile.columns > 0) {
      const Bits value = *row;
      ZERO_SIMD
      for (int64_t i = 0; i < tile.columns; ++i) to[i] = value;
    } else {
      const char* p = from;
      for (int64_t i = 0; i < tile.columns; ++i, p += s0) to[i] = *reinterpret_cast<const Bits*>(p);
    }
  }
}

template <class Bits>
void scatter_tile(char* to, int64_t s0, int64_t s1, const Bits* from, Tile tile) {
  constexpr int64_t kSize = sizeof(Bits);
  const int64_t row = tile.columns * kSize;
  if (s0 == kSize) {
    const char* line = reinterpret_cast<const char*>(from);
    for (int64_t j = 0; j < tile.rows; ++j, to += s1, line += row) copy_bytes(to, line, row);
    return;
  }
  if (s1 == kSize && tile.rows > 1)
    return transpose_tile<Bits>(to, s0, reinterpret_cast<const char*>(from), row,
                                {tile.rows, tile.columns});
  if (s1 < s0) {
    for (int64_t i = 0; i < tile.columns; ++i, to += s0) {
      for (int64_t j = 0; j < tile.rows; ++j) {
        *reinterpret_cast<Bits*>(to + j * s1) = from[j * tile.columns + i];
      }
    }
    return;
  }
  for (int64_t j = 0; j < tile.rows; ++j, to += s1, from += tile.columns) {
    char* p = to;
    for (int64_t i = 0; i < tile.columns; ++i, p += s0) *reinterpret_cast<Bits*>(p) = from[i];
  }
}

ZERO_NOINLINE void gather(int64_t size, char* to, const char* from, int64_t s0, int64_t s1,
                          Tile tile) {
  switch (size) {
    case 1: return gather_tile(reinterpret_cast<uint8_t*>(to), from, s0, s1, tile);
    case 2: return gather_tile(reinterpret_cast<uint16_t*>(to), from, s0, s1, tile);
    case 4: return gather_tile(reinterpret_cast<uint32_t*>(to), from, s0, s1, tile);
    default: return gather_tile(reinterpret_cast<uint64_t*>(to), from, s0, s1, tile);
  }
}
ZERO_NOINLINE void scatter(int64_t size, char* to, int64_t s0, int64_t s1, const char* from,
                           Tile tile) {
  switch (size) {
    case 1: return scatter_tile(to, s0, s1, reinterpret_cast<const uint8_t*>(from), tile);
    case 2: return scatter_tile(to, s0, s1, reinterpret_cast<const uint16_t*>(from), tile);
    case 4: return scatter_tile(to, s0, s1, reinterpret_cast<const uint32_t*>(from), tile);
    default: return scatter_tile(to, s0, s1, reinterpret_cast<const uint64_t*>(from), tile);
  }
}

// kBlock / n, in 32 bits: a 64-bit division takes longer than a small call.
ZERO_INLINE int64_t divide_block(int64_t n) {
  return static_cast<int64_t>(static_cast<uint32_t>(kBlock) / static_cast<uint32_t>(n));
}

ZERO_NOINLINE void map_blocks(MapFn map, const void* f, const int64_t* sizes, int operands,
                              char* const* data, const int64_t* strides, int64_t n0, int64_t n1) {
  const int64_t* inner = strides;
  const int64_t* outer = strides + operands;
  bool dense = true, stacked = true, transposed = false;
  for (int k = 0; k < operands; ++k) {
    dense = dense && inner[k] == sizes[k];
    stacked = stacked && (outer[k] == n0 * sizes[k] || (outer[k] == 0 && k > 0));
    transposed = transposed || (outer[k] == sizes[k] && inner[k] > outer[k]);
  }
  // If a column is dense, tiles that use up its cache lines: row by row, so that what lies along
  // the rows needs no copy, or all at once where rows are short. Else whole rows if these are dense
  // and long, or as much of a row, or as many short rows, as make a block.
  Tile full = {n0, 1};
  transposed = transposed && n0 > 1 && n1 > 1;
  const bool by_rows = transposed && n0 >= 16;
  if (transposed) {
    full.rows = n1 < 16 ? n1 : 16;
    full.columns = divide_block(full.rows) * (by_rows ? 2 : 1);
    full.columns = full.columns < n0 ? full.columns : n0;
    if (!by_rows) full.rows = divide_block(full.columns);
  } else if (n0 > 0 && (!dense || n0 < 32 || (stacked && n0 < kBlock / 2))) {
    full.columns = n0 < 2 * kBlock ? n0 : 2 * kBlock;
    full.rows = n1 == 1 || n0 >= kBlock ? 1 : divide_block(full.columns);
  }
  const bool whole_rows = full.columns == n0;

  alignas(64) char buffers[kMaxOperands][2 * kBlock * 8];
  bool direct[kMaxOperands];
  for (int k = 0; k < operands; ++k) {
    direct[k] = inner[k] == sizes[k] &&
                (full.rows == 1 || by_rows || (whole_rows && outer[k] == n0 * sizes[k]));
  }
  char* pointers[kMaxOperands];
  for (int64_t j = 0; j < n1; j += full.rows) {
    for (int64_t i = 0; i < n0; i += full.columns) {
      const Tile tile = {n0 - i < full.columns ? n0 - i : full.columns,
                         n1 - j < full.rows ? n1 - j : full.rows};
      for (int k = 0; k < operands; ++k) {
        char* place = data[k] + j * outer[k] + i * inner[k];
        pointers[k] = direct[k] ? place : buffers[k];
        if (direct[k] || k == 0) continue;
        // Nothing to gather where the block before holds the same values, in rows of the same
        // length.
        const bool same_row = i > 0 && inner[k] == 0 && (full.rows == 1 || outer[k] == 0);
        const bool same_rows = j > 0 && outer[k] == 0 && (whole_rows || inner[k] == 0);
        if (!same_row && !same_rows) gather(sizes[k], buffers[k], place, inner[k], outer[k], tile);
      }
      if (!by_rows) {
        map(f, pointers, tile.columns * tile.rows);
      } else {
        for (int64_t row = 0; row < tile.rows; ++row) {
          map(f, pointers, tile.columns);
          for (int k = 0; k < operands; ++k)
            pointers[k] += direct[k] ? outer[k] : tile.columns * sizes[k];
        }
      }
      if (!direct[0]) {
        scatter(sizes[0], data[0] + j * outer[0] + i * inner[0], inner[0], outer[0], buffers[0],
                tile);
      }
    }
  }
}

// The common case, all of it contiguous, goes straight to the loop.
template <int operands>
ZERO_INLINE void map_strided(MapFn map, const void* f, const int64_t (&sizes)[operands],
                             char* const* data, const int64_t* strides, int64_t n0, int64_t n1) {
  bool dense = n1 == 1;
  for (int k = 0; k < operands; ++k) dense = dense && (strides[k] == sizes[k] || n0 == 1);
  if (dense) return map(f, data, n0);
  map_blocks(map, f, sizes, operands, data, strides, n0, n1);
}

}  // namespace
}  // namespace zero::ZERO_ISA_NS
