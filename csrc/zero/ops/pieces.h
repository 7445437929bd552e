// One loop over the elements of many tensors, split over threads as if they were one.
//
// Each tensor is cut into pieces of kPiece elements, by its size alone: what is computed of a piece
// has the same bits on any number of threads.
#pragma once

#include <algorithm>
#include <vector>

#include "zero/runtime/parallel.h"

namespace zero {

inline constexpr int64_t kPiece = 16384;  // elements: with four arrays they fit into L2

// f(i, begin, end, piece) for elements [begin, end) of item i; `piece` counts all pieces, in order.
// size(i) is the number of elements of item i, 0 for one to be left out; `grain` is in elements, as
// for parallel_for. Items must not share memory if f writes.
template <class Size, class F>
void for_pieces(int64_t items, Size&& size, int64_t grain, F&& f) {
  int64_t total = 0;
  for (int64_t i = 0; i < items; ++i) total += size(i);
  if (total <= grain && detail::forced_grain == 0) {  // as parallel_for would; without a list
    int64_t piece = 0;
    for (int64_t i = 0; i < items; ++i)
      for (int64_t n = size(i), begin = 0; begin < n; begin += kPiece)
        f(i, begin, std::min(n, begin + kPiece), piece++);
    return;
  }
  struct Start { int64_t element, piece; };  // of an item, among all
  std::vector<Start> starts(static_cast<size_t>(items) + 1);
  for (int64_t i = 0; i < items; ++i) {
    const Start& at = starts[i];
    starts[i + 1] = {at.element + size(i), at.piece + (size(i) + kPiece - 1) / kPiece};
  }
  // A piece belongs to the range that has its first element.
  parallel_for(total, grain, [&](int64_t first, int64_t last) {
    const auto after = std::upper_bound(starts.begin(), starts.end(), first,
                                        [](int64_t e, const Start& s) { return e < s.element; });
    for (int64_t i = after - starts.begin() - 1; i < items && starts[i].element < last; ++i) {
      const auto [element, piece] = starts[i];
      const int64_t n = starts[i + 1].element - element;
      const int64_t skipped = first <= element ? 0 : (first - element + kPiece - 1) / kPiece;
      for (int64_t k = skipped; k * kPiece < n && element + k * kPiece < last; ++k)
        f(i, k * kPiece, std::min(n, (k + 1) * kPiece), piece + k);
    }
  });
}

template <class Size>
int64_t count_pieces(int64_t items, Size&& size) {
  int64_t pieces = 0;
  for (int64_t i = 0; i < items; ++i) pieces += (size(i) + kPiece - 1) / kPiece;
  return pieces;
}

}  // namespace zero
