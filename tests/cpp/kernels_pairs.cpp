// Products of bfloat16 by pairs (kernels/half_pairs.inl), on any processor: the one instruction
// that adds two products is written out there. Every size of tile, all strides, odd depths.
#include <cmath>
#include <cstdio>
#include <vector>

#include "check.h"
#include "zero/kernels/half_pairs.inl"

using namespace zero;
using namespace zero::ZERO_ISA_NS;

namespace {

uint64_t state = 12345;
BFloat16 random_number() {  // one of -8, -7, …, 7 by 4: sums are exact
  state = state * 6364136223846793005u + 1442695040888963407u;
  return to_bfloat16(static_cast<float>(static_cast<int>(state >> 60) - 8) * 0.25f);
}

void test(int64_t m, int64_t n, int64_t k, int layout, bool add, bool biased) {
  const int64_t gap = layout >= 2 ? 3 : 1;
  std::vector<BFloat16> a(static_cast<size_t>(m * k * gap)), b(static_cast<size_t>(k * n * gap));
  for (BFloat16& x : a) x = random_number();
  for (BFloat16& x : b) x = random_number();
  const bool turned = layout % 2 == 1;
  const matrix::Matrix<BFloat16> left{a.data(), turned ? gap : k * gap, turned ? m * gap : gap};
  const matrix::Matrix<BFloat16> right{b.data(), turned ? gap : n * gap, turned ? k * gap : gap};
  std::vector<float> c(static_cast<size_t>(m * (n + 1)), 2.0f), bias(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) bias[static_cast<size_t>(j)] = static_cast<float>(j % 5);
  const int64_t count = (k + 1) / 2;
  std::vector<uint32_t> packed_b(static_cast<size_t>((n + 63) / 64 * 64 * count)),
      packed_a(static_cast<size_t>((matrix::kRowBlock + kRows) * count));
  pairs::add_chunk(m, n, k, left, right, {c.data(), n + 1, biased ? bias.data() : nullptr, add},
                   packed_b.data(), packed_a.data());
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = add ? 2.0f : 0.0f;
      for (int64_t p = 0; p < k; ++p) sum += to_float(*left.at(i, p)) * to_float(*right.at(p, j));
      if (biased) sum += bias[static_cast<size_t>(j)];
      CHECK(c[static_cast<size_t>(i * (n + 1) + j)] == sum);
    }
    CHECK(c[static_cast<size_t>(i * (n + 1) + n)] == 2.0f);  // nothing else is written
  }
}

}  // namespace

int main() {
  for (int layout = 0; layout < 4; ++layout)
    for (int64_t m : {1, 2, 5, 6, 7, 97, 200})
      for (int64_t n : {1, 15, 16, 63, 64, 65, 130})
        for (int64_t k : {1, 2, 7, 64}) test(m, n, k, layout, (m + n) % 2 == 0, (n + k) % 3 == 0);
  std::puts("passed");
}
