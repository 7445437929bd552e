// Indexing by tensors: x[i, :, mask] and x[i, :, mask] = values, and how places are found.
#include "zero/ops/index.h"

#include <bit>
#include <cstring>

#include "zero/autograd/record.h"
#include "zero/ops/iterator.h"

namespace zero {

namespace {

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

// One index, or the dimensions that one mask covers.
struct Part {
  Tensor positions;
  int64_t elements;  // of its dimensions
};

bool broadcast(const Dims& a, const Dims& b) {
  for (int64_t i = a.size(), j = b.size(); i-- > 0 && j-- > 0;)
    if (a[i] != b[j] && a[i] != 1 && b[j] != 1) return false;
  return true;
}

// Eight bytes, of which those that are not 0 become 1.
uint64_t eight_bools(const uint8_t* bytes) {
  uint64_t w;
  std::memcpy(&w, bytes, 8);
  constexpr uint64_t low = 0x7f7f7f7f7f7f7f7f;
  return ((((w & low) + low) | w) >> 7) & ~low >> 7;
}

int64_t count_true(const uint8_t* bytes, int64_t n) {
  int64_t count = 0, i = 0;
  for (; i + 8 <= n; i += 8)
    count += static_cast<int64_t>(eight_bools(bytes + i) * 0x0101010101010101 >> 56);
  for (; i < n; ++i) count += bytes[i] != 0;
  return count;
}

// For each set of bits, where they are, the lowest first.
struct BitPositions {
  uint8_t at[256][8] = {};
  uint8_t count[256] = {};
  constexpr BitPositions() {
    for (int bits = 0; bits < 256; ++bits)
      for (int k = 0; k < 8; ++k)
        if (bits >> k & 1) at[bits][count[bits]++] = static_cast<uint8_t>(k);
  }
};
constexpr BitPositions bit_positions;

// Writes the positions from `begin` to `end` of bytes that are not 0 to `out`, where there is room
// for `room`, without branches. Memory of numpy may change between count and list: no more than
// there is room for is written, and the rest is filled.
void list_true(const uint8_t* bytes, int64_t begin, int64_t end, int64_t* out, int64_t room) {
  int64_t i = begin, left = room;
  for (; i + 8 <= end && left >= 8; i += 8) {
    const uint64_t w = eight_bools(bytes + i);
    if (w == 0) continue;
    // The eight lowest bits of the bytes side by side, in their order in memory.
    constexpr uint64_t gather =
        std::endian::native == std::endian::little ? 0x0102040810204080 : 0x8040201008040201;
    const uint8_t bits = static_cast<uint8_t>(w * gather >> 56);
    for (int k = 0; k < 8; ++k) out[k] = i + bit_positions.at[bits][k];
    out += bit_positions.count[bits];
    left -= bit_positions.count[bits];
  }
  for (; i < end && left > 0; ++i) {
    if (!bytes[i]) continue;
    *out++ = i;
    --left;
  }
  std::fill(out, out + left, begin);
}

Places find_places(const char* op, const Tensor& x, const Tensors& indices) {
  Places places;
  SmallVector<Part, 3> parts;
  bool adjacent = true;
  int64_t dim = 0, last = -1;
  // All shapes are checked before values are read.
  for (int64_t pass = 0; pass < 2; ++pass) {
    dim = 0;
    for (const Tensor& index : indices) {
      const int64_t covered = index.defined() && is_mask(index) ? index.dim() : 1;
      ZERO_CHECK(dim + covered <= x.dim(), IndexError, op,
                 ": too many indices; got more than the tensor of shape ", x.sizes(),
                 " has dimensions, expected at most ", x.dim());
      if (index.defined() && pass == 0) {
        check_devices(op, x, index, "the index");
        ZERO_CHECK(!is_floating(index.dtype()), IndexError, op, ": not an index; got ", index,
                   ", expected integers or bools");
        ZERO_CHECK(covered > 0, IndexError, op, ": a mask has no dimensions; got ", index,
                   ", expected at least 1");
        for (int64_t d = 0; is_mask(index) && d < covered; ++d)
          ZERO_CHECK(index.size(d) == x.size(dim + d), IndexError, op,
                     ": the mask does not fit; got ", index, " for dimension ", dim + d,
                     " of size ", x.size(dim + d), ", expected size ", x.size(dim + d),
                     " in the mask's dimension ", d);
      } else if (index.defined()) {
        int64_t elements = 1;
        for (int64_t d = dim; d < dim + covered; ++d) {
          adjacent &= last < 0 || last == d - 1;
          last = d;
          elements *= x.size(d);
          places.dims.push_back(d);
        }
        parts.push_back({is_mask(index)
                             ? nonzero_positions(op, index)
                             : checked_index(op, examined_index(index, x, dim), x, dim, true),
                         elements});
      }
      dim += covered;
    }
  }
  ZERO_CHECK(!parts.empty(), IndexError, op,
             ": no indices; got none, expected at least one tensor");
  places.place = adjacent ? places.dims[0] : 0;
  places.positions = parts[0].positions;
  if (parts.size() == 1) return places;

  Dims shape = parts[0].positions.sizes();
  for (const Part& part : parts) {
    const Dims& own = part.positions.sizes();
    ZERO_CHECK(broadcast(shape, own), IndexError, op, ": indices do not broadcast; got ", shape,
               " and ", own, ", expected equal sizes or 1 in each trailing dimension");
    shape = broadcast_shapes(op, shape, own);
  }
  const GradModeGuard no_record(false);
  for (int64_t i = 1; i < parts.size(); ++i)
    places.positions = add(mul(places.positions, Scalar(parts[i].elements)), parts[i].positions);
  places.positions = contiguous(places.positions);
  return places;
}

// One number for the places of one mask is an elementwise write, as masked_fill_.
void check_put_overlaps(const char* op, const Tensors& indices, const Tensor& values,
                        bool accumulate, const Target& target) {
  if (target.fresh()) return;
  const Tensor* only = nullptr;
  bool fills = values.numel() == 1 && !accumulate;
  for (const Tensor& index : indices) {
    if (!index.defined()) continue;
    fills &= !only && is_mask(index);
    only = &index;
  }
  if (fills && only) return check_overlap(op, target.tensor(), *only, Overlap::Partial);
  for (const Tensor& index : indices) check_overlaps(op, target, {&index});
  check_overlaps(op, target, {&values});
}

}  // namespace

void check_devices(const char* op, const Tensor& self, const Tensor& other, const char* name) {
  ZERO_CHECK(self.is_meta() || !other.is_meta(), Error, op, ": devices differ; got ", name, " on ",
             other.device(), " for a tensor on ", self.device(), ", expected one device");
}

void check_same_dtype(const char* op, const Tensor& self, const Tensor& values) {
  ZERO_CHECK(self.dtype() == values.dtype(), DTypeError, op,
             ": the values' dtype differs from the tensor's; got ", values.dtype(), ", expected ",
             self.dtype());
}

Tensor examined_index(const Tensor& index, const Tensor& x, int64_t d) {
  return x.numel() > 0 || x.size(d) == 0 ? index : zeros(index.sizes(), index.options());
}

Tensor checked_index(const char* op, const Tensor& index, const Tensor& x, int64_t d,
                     bool negative_counts_from_end) {
  Tensor out = empty(index.sizes(), {DType::Int64, index.device()});
  if (out.is_meta()) return out;
  const int64_t n = x.dim() == 0 ? 1 : x.size(d), shift = negative_counts_from_end ? n : 0;
  int64_t* const at = out.data<int64_t>();
  const bool plain = index.dtype() == DType::Int64 && index.is_contiguous();
  if (!plain) run_copy(out, index);
  const int64_t* const from = plain ? index.data<int64_t>() : at;
  // A range that is wrong raises; of several, the first does.
  parallel_for(out.numel(), kGrainSize, [&](int64_t begin, int64_t end) {
    bool fits = true;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t v = from[i] + (from[i] < 0 ? shift : 0);
      at[i] = v;
      fits &= static_cast<uint64_t>(v) < static_cast<uint64_t>(n);
    }
    for (int64_t i = begin; !fits && i < end; ++i)
      ZERO_CHECK(at[i] >= 0 && at[i] < n, IndexError, op, ": out of range; got ",
                 at[i] - (at[i] < 0 ? shift : 0), ", expected ", -shift, " to ", n - 1,
                 " for dimension ", d, " of size ", n);
  });
  return out;
}

Tensor nonzero_positions(const char* op, const Tensor& x) {
  ZERO_CHECK(!x.is_meta(), NotImplementedError, op,
             ": how many elements are nonzero depends on values, which a meta tensor has none of; "
             "got ",
             x, " on meta, expected cpu");
  const GradModeGuard no_record(false);
  const Tensor mask = contiguous(x.dtype() == DType::Bool ? x : ne(x, 0));
  const uint8_t* const bytes = mask.data<uint8_t>();
  const int64_t n = mask.numel(), chunks = (n + kGrainSize - 1) / kGrainSize;
  // Count in chunks, then every chunk knows where its numbers go.
  const Tensor starts = empty({chunks + 1}, {DType::Int64, Device::Cpu});
  int64_t* const start = starts.data<int64_t>();
  start[0] = 0;
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c)
      start[c + 1] = count_true(bytes + c * kGrainSize, std::min(kGrainSize, n - c * kGrainSize));
  });
  for (int64_t c = 0; c < chunks; ++c) start[c + 1] += start[c];
  Tensor out = empty({start[chunks]}, {DType::Int64, Device::Cpu});
  int64_t* const positions = out.data<int64_t>();
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c)
      list_true(bytes, c * kGrainSize, std::min(n, (c + 1) * kGrainSize), positions + start[c],
                start[c + 1] - start[c]);
  });
  return out;
}

Tensor index(const Tensor& x, const Tensors& indices) {
  return read_places("IndexBackward0", x, find_places("index", x, indices));
}

Tensor index_put(const Tensor& self, const Tensors& indices, const Tensor& values, bool accumulate,
                 Target target) {
  const char* op = target.fresh() ? "index_put" : "index_put_";
  check_devices(op, self, values, "values");
  check_same_dtype(op, self, values);
  check_put_overlaps(op, indices, values, accumulate, target);
  return write_places(op, "IndexPutBackward0", self, find_places(op, self, indices), values,
                      accumulate, target);
}

void set_index(const Tensor& self, const Tensors& indices, const Tensor& values) {
  check_devices("index", self, values, "values");
  Tensor source = to(values, self.dtype(), values.device());
  const int64_t *from = source.sizes().begin(), *const end = source.sizes().end();
  while (from < end && *from == 1) ++from;
  if (from != source.sizes().begin()) source = reshape(source, Dims(from, end));
  check_put_overlaps("index", indices, source, false, Target::inplace(self));
  const Places places = find_places("index", self, indices);
  write_places("index", "IndexPutBackward0", self, places, source, false, Target::inplace(self));
}

}  // namespace zero
