// Random state: a seed and how many Philox counters were used. An op reserves a range of counters
// and draws element i from its place in that range, so the numbers do not depend on threads.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace zero {

class Generator {
 public:
  struct Draw {
    uint64_t seed, offset;  // counters offset, offset + 1, … belong to the caller
  };
  using State = std::array<unsigned char, 16>;  // seed, offset; little endian

  explicit Generator(uint64_t seed) : seed_(seed) {}

  void manual_seed(uint64_t seed);  // also starts the counters again
  uint64_t seed();                  // seeds from the system's entropy; returns the new seed
  uint64_t initial_seed() const;

  // Thread safe. Each counter is good for four 32-bit words (core/philox.h).
  Draw reserve(uint64_t counters);

  State get_state() const;
  void set_state(const State& state);

  void lock() const { mutex_.lock(); }  // for fork() only
  void unlock() const { mutex_.unlock(); }

 private:
  mutable std::mutex mutex_;
  uint64_t seed_;
  uint64_t offset_ = 0;
};

// 64 bits from the system's entropy source.
uint64_t random_seed();

// Seeded by random_seed() at its first use; lives as long as the process.
Generator& default_generator();

void generator_before_fork();
void generator_after_fork_parent();
void generator_after_fork_child();

}  // namespace zero
