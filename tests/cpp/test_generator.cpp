#include <array>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "check.h"
#include "zero/core/generator.h"
#include "zero/core/philox.h"

using namespace zero;

namespace {

using Words = std::array<uint32_t, 4>;

constexpr Words block(std::array<uint32_t, 2> key, Words counter) {
  Words out{};
  philox4x32(key[0], key[1], counter[0], counter[1], counter[2], counter[3], out.data());
  return out;
}

// The known answers that the authors publish with their library for philox4x32, 10 rounds.
static_assert(block({0, 0}, {0, 0, 0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(block({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}) ==
              Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(block({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
              Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

void seed_and_counter_have_64_bits() {
  const uint64_t seed = 0x299f31d0a4093822, counter = 0x85a308d3243f6a88;
  Words out;
  philox(seed, counter, out.data());
  CHECK(out == block({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0, 0}));
}

void state_comes_and_goes() {
  Generator generator(42);
  CHECK(generator.initial_seed() == 42);
  CHECK(generator.reserve(10).offset == 0);
  const Generator::State state = generator.get_state();
  const Generator::Draw draw = generator.reserve(5);
  CHECK(draw.seed == 42 && draw.offset == 10);
  CHECK(generator.reserve(1).offset == 15);
  generator.set_state(state);
  CHECK(generator.reserve(1).offset == 10);
  Generator other(1);
  other.set_state(state);
  CHECK(other.initial_seed() == 42 && other.reserve(1).offset == 10);
  generator.manual_seed(7);
  CHECK(generator.initial_seed() == 7 && generator.reserve(1).offset == 0);
  const uint64_t fresh = generator.seed();
  CHECK(fresh == generator.initial_seed() && fresh != Generator(0).seed());
}

void threads_get_disjoint_counters() {
  Generator generator(0);
  std::vector<std::vector<uint64_t>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) mine.push_back(generator.reserve(3).offset);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> all;
  for (const auto& mine : seen) all.insert(mine.begin(), mine.end());
  CHECK(all.size() == 4000 && *all.rbegin() == 3 * 3999);
}

}  // namespace

int main() {
  seed_and_counter_have_64_bits();
  state_comes_and_goes();
  threads_get_disjoint_counters();
  CHECK(&default_generator() == &default_generator());
}
