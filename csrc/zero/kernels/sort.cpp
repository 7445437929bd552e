// Order: elements to entries and back, the passes of a radix sort, selection (table.h).
//
// Keys make one order of all dtypes: of an integer the sign bit is turned, of a negative float all
// bits, of a positive one the sign. The sign of a zero and the bits of a NaN are not in its key;
// where an element is made of such a key it is read from where it came from.
#include "zero/kernels/common.inl"

namespace zero::ZERO_ISA_NS {
namespace {

// ---- keys ---------------------------------------------------------------------------------------

template <class B, bool is_signed>
struct IntegerOrder {
  using Bits = B;
  static constexpr B kTop = is_signed ? static_cast<B>(B(1) << (8 * sizeof(B) - 1)) : B(0);
  static ZERO_INLINE B encode(B x) { return x ^ kTop; }
  static ZERO_INLINE B decode(B key) { return key ^ kTop; }
  static ZERO_INLINE bool is_vague(B) { return false; }
};
struct BoolOrder {
  using Bits = uint8_t;
  static ZERO_INLINE uint8_t encode(uint8_t x) { return x != 0; }
  static ZERO_INLINE uint8_t decode(uint8_t key) { return key; }
  static ZERO_INLINE bool is_vague(uint8_t) { return false; }
};
template <class B, B infinity>
struct FloatOrder {
  using Bits = B;
  static constexpr B kTop = static_cast<B>(B(1) << (8 * sizeof(B) - 1)),
                     kNan = static_cast<B>(~B(0));
  static ZERO_INLINE B encode(B x) {
    const B magnitude = x & static_cast<B>(~kTop);
    const B ordered = x & kTop ? static_cast<B>(~x) : static_cast<B>(x | kTop);
    const B number = magnitude == 0 ? kTop : ordered;
    return magnitude > infinity ? kNan : number;
  }
  static ZERO_INLINE B decode(B key) {
    return key & kTop ? static_cast<B>(key ^ kTop) : static_cast<B>(~key);
  }
  static ZERO_INLINE bool is_vague(B key) { return key == kTop || key == kNan; }
};

struct Narrow {
  using Key = uint32_t;
  uint64_t word;
  static ZERO_INLINE Narrow make(Key key, int64_t index) {
    return {uint64_t{key} << 32 | static_cast<uint64_t>(index)};
  }
  ZERO_INLINE Key key() const { return static_cast<Key>(word >> 32); }
  ZERO_INLINE int64_t index() const { return static_cast<int64_t>(word & 0xffffffffu); }
};
struct Wide {
  using Key = uint64_t;
  uint64_t k;
  int64_t i;
  static ZERO_INLINE Wide make(Key key, int64_t index) { return {key, index}; }
  ZERO_INLINE Key key() const { return k; }
  ZERO_INLINE int64_t index() const { return i; }
};

template <int size> struct EntryOf { using type = Narrow; };
template <> struct EntryOf<8> { using type = Wide; };

// ---- elements and entries -----------------------------------------------------------------------

template <class Order>
void load(const EntryArgs& args) {
  using Bits = typename Order::Bits;
  using Entry = typename EntryOf<sizeof(Bits)>::type;
  const Bits* x = static_cast<const Bits*>(args.x);
  Entry* to = static_cast<Entry*>(args.entries);
  const Bits flip = args.descending ? static_cast<Bits>(~Bits(0)) : Bits(0);
  const int64_t n = args.n, stride = args.stride;
  const auto entry = [&](Bits bits, int64_t i) {
    return Entry::make(static_cast<Bits>(Order::encode(bits) ^ flip), args.first + i);
  };
  if (args.lanes == 1 && stride == 1) {
    ZERO_SIMD
    for (int64_t i = 0; i < n; ++i) to[i] = entry(x[i], i);
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t l = 0; l < args.lanes; ++l) to[l * args.step + i] = entry(x[i * stride + l], i);
}

template <class Order>
void store(const ElementArgs& args) {
  using Bits = typename Order::Bits;
  using Entry = typename EntryOf<sizeof(Bits)>::type;
  const Bits* x = static_cast<const Bits*>(args.x);
  const Entry* from = static_cast<const Entry*>(args.entries);
  Bits* values = static_cast<Bits*>(args.values);
  const Bits flip = args.descending ? static_cast<Bits>(~Bits(0)) : Bits(0);
  const int64_t n = args.n, stride = args.stride, lanes = args.lanes;
  const auto each = [&](auto write) {
    if (lanes == 1 && stride == 1) {
      for (int64_t i = 0; i < n; ++i) write(from[i], i, int64_t{0});
    } else {
      for (int64_t i = 0; i < n; ++i)
        for (int64_t l = 0; l < lanes; ++l) write(from[l * args.step + i], i * stride + l, l);
    }
  };
  if (args.indices) each([&](Entry e, int64_t at, int64_t) { args.indices[at] = e.index(); });
  if (values)
    each([&](Entry e, int64_t at, int64_t lane) {
      const Bits key = static_cast<Bits>(static_cast<Bits>(e.key()) ^ flip);
      values[at] = Order::is_vague(key) ? x[e.index() * args.x_stride + lane] : Order::decode(key);
    });
}

// ---- passes of a radix sort ---------------------------------------------------------------------

template <class Entry>
void range(const void* entries, int64_t n, uint64_t* low, uint64_t* high) {
  const Entry* e = static_cast<const Entry*>(entries);
  typename Entry::Key least = e[0].key(), most = least;
  for (int64_t i = 1; i < n; ++i) {
    const typename Entry::Key key = e[i].key();
    least = key < least ? key : least;
    most = key > most ? key : most;
  }
  *low = least;
  *high = most;
}

template <class Entry>
ZERO_INLINE unsigned digit(Entry e, typename Entry::Key low, int shift) {
  return static_cast<unsigned>((e.key() - low) >> shift) & 255u;
}

// Neighbours count in different tables: a processor waits where an increment follows one of the
// same place.
template <class Entry>
void count(const void* entries, int64_t n, uint64_t low, int shift, int64_t* counts) {
  const Entry* e = static_cast<const Entry*>(entries);
  const auto base = static_cast<typename Entry::Key>(low);
  int64_t other[256] = {};
  for (int64_t d = 0; d < 256; ++d) counts[d] = 0;
  int64_t i = 0;
  for (; i + 2 <= n; i += 2) {
    ++counts[digit(e[i], base, shift)];
    ++other[digit(e[i + 1], base, shift)];
  }
  if (i < n) ++counts[digit(e[i], base, shift)];
  for (int64_t d = 0; d < 256; ++d) counts[d] += other[d];
}

template <class Entry>
void scatter(const void* entries, int64_t n, uint64_t low, int shift, int64_t* offsets, void* to) {
  const Entry* e = static_cast<const Entry*>(entries);
  Entry* out = static_cast<Entry*>(to);
  const auto base = static_cast<typename Entry::Key>(low);
  for (int64_t i = 0; i < n; ++i) out[offsets[digit(e[i], base, shift)]++] = e[i];
}

// n keys that differ by up to `range` are sorted by 8 to 16 more of their leading bits than log2 n,
// or one less where memory is near.
RadixPlan plan(int64_t n, uint64_t range) {
  int bits = 0, digits = 0;
  while (bits < 64 && range >> bits != 0) ++bits;
  while (n >> digits != 0) ++digits;
  const int wanted = (digits + (digits > 16 ? 8 : 7) + 7) / 8 * 8;
  return {bits > wanted ? bits - wanted : 0, bits};
}

constexpr int64_t kFew = 64;
ZERO_INLINE uint64_t sort_word(Narrow e) { return e.word; }
ZERO_INLINE uint64_t sort_word(Wide e) { return e.k; }

template <class Entry>
void finish(void* entries, void* scratch, int64_t n, uint64_t low, int shift);

// The place of each entry is the number of those before it, which vectors count. Words of narrow
// entries all differ; of wide ones with equal keys the first ones come first.
template <class Entry>
ZERO_NOINLINE void sort_few(Entry* e, int64_t n) {
  constexpr int64_t kLanes = 8;
  constexpr uint64_t kTop = uint64_t{1} << 63;  // vectors compare signed numbers
  Entry copy[kFew];
  int64_t keys[kFew], places[kFew], sum = 0;
  const int64_t padded = (n + kLanes - 1) / kLanes * kLanes;
  for (int64_t i = 0; i < n; ++i) {
    copy[i] = e[i];
    keys[i] = static_cast<int64_t>(sort_word(e[i]) ^ kTop);
  }
  for (int64_t i = n; i < padded; ++i) keys[i] = INT64_MAX;
  for (int64_t i = 0; i < n; ++i) {
    int64_t lanes[kLanes] = {}, place = 0;
    for (int64_t j = 0; j < padded; j += kLanes) {
      ZERO_SIMD
      for (int64_t l = 0; l < kLanes; ++l) lanes[l] += keys[j + l] < keys[i];
    }
    for (int64_t l = 0; l < kLanes; ++l) place += lanes[l];
    places[i] = place;
    sum += place;
  }
  if (sum != n * (n - 1) / 2) {  // some are equal
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j) places[i] += keys[j] == keys[i];
  }
  for (int64_t i = 0; i < n; ++i) e[places[i]] = copy[i];
}

template <class Entry>
ZERO_INLINE void insertion_sort(Entry* e, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const Entry x = e[i];
    int64_t j = i;
    for (; j > 0 && e[j - 1].key() > x.key(); --j) e[j] = e[j - 1];
    e[j] = x;
  }
}

// Least significant digit first, of the leading bits alone: as many as tell most of n keys from
// each other. What then has neighbours with the same bits is sorted by the others.
template <class Entry>
void* sort(void* entries, void* scratch, int64_t n) {
  Entry *from = static_cast<Entry*>(entries), *to = static_cast<Entry*>(scratch);
  if (n <= kFew) {
    sort_few(from, n);
    return from;
  }
  uint64_t low, high;
  range<Entry>(from, n, &low, &high);
  const auto [first, bits] = plan(n, high - low);
  for (int shift = first; shift < bits; shift += 8) {
    int64_t offsets[256];
    count<Entry>(from, n, low, shift, offsets);
    if (offsets[digit(from[0], static_cast<typename Entry::Key>(low), shift)] == n) continue;
    int64_t total = 0;
    for (int64_t& offset : offsets) {
      const int64_t number = offset;
      offset = total;
      total += number;
    }
    scatter<Entry>(from, n, low, shift, offsets, to);
    Entry* const other = from;
    from = to;
    to = other;
  }
  if (first > 0) finish<Entry>(from, to, n, low, first);
  return from;
}

// Runs of entries that agree in the sorted bits.
template <class Entry>
void finish(void* entries, void* scratch, int64_t n, uint64_t low, int shift) {
  Entry *const e = static_cast<Entry*>(entries), *const spare = static_cast<Entry*>(scratch);
  const auto base = static_cast<typename Entry::Key>(low);
  for (int64_t i = 0; i < n;) {
    const typename Entry::Key leading = (e[i].key() - base) >> shift;
    int64_t end = i + 1;
    while (end < n && (e[end].key() - base) >> shift == leading) ++end;
    if (end - i <= 16) {
      insertion_sort(e + i, end - i);
    } else {
      const Entry* sorted = static_cast<Entry*>(sort<Entry>(e + i, spare + i, end - i));
      if (sorted != e + i)
        for (int64_t j = i; j < end; ++j) e[j] = spare[j];
    }
    i = end;
  }
}

// ---- selection ----------------------------------------------------------------------------------

// The bits that differ most are counted; entries below the value at which k is reached are in, the
// search goes on among those that have it. Both keep their order, so that of equal keys the first
// indices are in. `keep` moves what is in to the front of `entries`; else the last of it alone.
template <class Entry, bool keep>
void select(void* entries, void* scratch, int64_t n, int64_t k) {
  Entry* const out = static_cast<Entry*>(entries);
  Entry* const rest = static_cast<Entry*>(scratch);
  const Entry* in = out;
  int64_t done = 0;
  if (keep && (k == 0 || k == n)) return;
  if (n <= kFew) {
    sort_few(out, n);
    if (!keep) out[0] = out[k];
    return;
  }
  if (!keep) ++k;  // entry k is the last of k + 1
  for (;;) {
    if (n <= kFew) {  // in is `rest`
      sort_few(rest, n);
      if (keep) {
        for (int64_t i = 0; i < k; ++i) out[done + i] = rest[i];
      } else {
        out[0] = rest[k - 1];
      }
      return;
    }
    uint64_t low, high;
    range<Entry>(in, n, &low, &high);
    if (low == high) {
      if (keep) {
        for (int64_t i = 0; i < k; ++i) out[done + i] = in[i];
      } else {
        out[0] = in[k - 1];
      }
      return;
    }
    int shift = 0;
    while ((high - low) >> shift > 255) ++shift;
    int64_t counts[256];
    count<Entry>(in, n, low, shift, counts);
    unsigned border = 0;
    for (; counts[border] < k; ++border) k -= counts[border];
    const auto base = static_cast<typename Entry::Key>(low);
    int64_t equal = 0;
    for (int64_t i = 0; i < n; ++i) {
      const Entry e = in[i];
      const unsigned d = digit(e, base, shift);
      if (keep) {
        out[done] = e;
        done += d < border;
      }
      rest[equal] = e;
      equal += d == border;
    }
    in = rest;
    n = equal;
    if (keep && k == n) {
      for (int64_t i = 0; i < n; ++i) out[done + i] = rest[i];
      return;
    }
  }
}

// A block has nothing for the buffer if no key is before the last of k, which one look at all of it
// says.
template <class Order>
int64_t best(const BestArgs& args) {
  using Bits = typename Order::Bits;
  using Entry = typename EntryOf<sizeof(Bits)>::type;
  const Bits* x = static_cast<const Bits*>(args.x);
  Entry* const entries = static_cast<Entry*>(args.entries);
  const Bits flip = args.descending ? static_cast<Bits>(~Bits(0)) : Bits(0);
  Bits keys[kBestBlock], limit = 0;
  bool full = false;
  int64_t m = 0;
  for (int64_t i = 0; i < args.n; i += kBestBlock) {
    const int64_t len = args.n - i < kBestBlock ? args.n - i : kBestBlock;
    int any = 0;
    ZERO_SIMD
    for (int64_t j = 0; j < len; ++j) keys[j] = static_cast<Bits>(Order::encode(x[i + j]) ^ flip);
    for (int64_t j = 0; j < len; ++j) any |= keys[j] < limit;
    if (full && !any) continue;
    if (full) {
      for (int64_t j = 0; j < len; ++j) {
        entries[m] = Entry::make(keys[j], args.first + i + j);
        m += keys[j] < limit;
      }
    } else {
      for (int64_t j = 0; j < len; ++j) entries[m++] = Entry::make(keys[j], args.first + i + j);
    }
    if (m + kBestBlock <= args.capacity) continue;
    select<Entry, true>(entries, args.scratch, m, args.k);
    m = args.k;
    full = true;
    limit = 0;
    for (int64_t j = 0; j < m; ++j) {
      const Bits key = static_cast<Bits>(entries[j].key());
      limit = key > limit ? key : limit;
    }
  }
  return m;
}

// ---- search -------------------------------------------------------------------------------------

// In the order of sort: NaN is the largest.
template <class T>
ZERO_INLINE bool is_less(T a, T b) {
  return (a < b) | ((b != b) & (a == a));
}

// Several searches side by side, all of the same number of steps: the processor waits for memory
// once for all of them.
template <class T, bool right>
ZERO_INLINE void search_all(const SearchArgs& args) {
  constexpr int64_t kSearches = 16;
  const T *sorted = static_cast<const T*>(args.sorted),
          *values = static_cast<const T*>(args.values);
  for (int64_t i = 0; i < args.count; i += kSearches) {
    const int64_t lanes = args.count - i < kSearches ? args.count - i : kSearches;
    T v[kSearches];
    int64_t place[kSearches];
    for (int64_t l = 0; l < kSearches; ++l) {
      v[l] = values[i + (l < lanes ? l : 0)];
      place[l] = 0;
    }
    for (int64_t length = args.n; length > 0;) {
      const int64_t half = (length + 1) / 2;
      for (int64_t l = 0; l < kSearches; ++l) {
        const int64_t at = place[l] + half - 1;
        const T x = sorted[args.order ? args.order[at] : at];
        const bool below = right ? !is_less(v[l], x) : is_less(x, v[l]);
        place[l] += half & -static_cast<int64_t>(below);  // no branch: half of them go each way
      }
      length -= half;
    }
    for (int64_t l = 0; l < lanes; ++l) {
      if (args.narrow) {
        static_cast<int32_t*>(args.out)[i + l] = static_cast<int32_t>(place[l]);
      } else {
        static_cast<int64_t*>(args.out)[i + l] = place[l];
      }
    }
  }
}
template <class T>
void search(const SearchArgs& args) {
  if (args.right) {
    search_all<T, true>(args);
  } else {
    search_all<T, false>(args);
  }
}

template <class Entry>
constexpr EntryKernel kEntry = {sizeof(Entry), sort<Entry>,         range<Entry>,
                                plan,          count<Entry>,        scatter<Entry>,
                                finish<Entry>, select<Entry, true>, select<Entry, false>};

template <class Order>
void add_order(KernelTable& table, DType dtype) {
  using Entry = typename EntryOf<sizeof(typename Order::Bits)>::type;
  table.order[static_cast<int>(dtype)] = {&kEntry<Entry>, load<Order>, store<Order>, best<Order>};
}

}  // namespace

void fill_sort(KernelTable& table) {
  table.search[static_cast<int>(ComputeType::F32)] = search<float>;
  table.search[static_cast<int>(ComputeType::F64)] = search<double>;
  table.search[static_cast<int>(ComputeType::I64)] = search<int64_t>;
  table.search[static_cast<int>(ComputeType::I32)] = search<int32_t>;
  add_order<BoolOrder>(table, DType::Bool);
  add_order<IntegerOrder<uint8_t, false>>(table, DType::UInt8);
  add_order<IntegerOrder<uint8_t, true>>(table, DType::Int8);
  add_order<IntegerOrder<uint16_t, true>>(table, DType::Int16);
  add_order<IntegerOrder<uint32_t, true>>(table, DType::Int32);
  add_order<IntegerOrder<uint64_t, true>>(table, DType::Int64);
  add_order<FloatOrder<uint16_t, 0x7c00>>(table, DType::Float16);
  add_order<FloatOrder<uint16_t, 0x7f80>>(table, DType::BFloat16);
  add_order<FloatOrder<uint32_t, 0x7f800000>>(table, DType::Float32);
  add_order<FloatOrder<uint64_t, 0x7ff0000000000000>>(table, DType::Float64);
}

}  // namespace zero::ZERO_ISA_NS
