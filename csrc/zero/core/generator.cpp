#include "zero/core/generator.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <random>

namespace zero {

uint64_t random_seed() {
  try {
    std::random_device device;
    const uint64_t high = device();
    return high << 32 | static_cast<uint32_t>(device());
  } catch (const std::exception&) {  // no entropy source: time and an address, stirred (splitmix64)
    const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
    uint64_t x = static_cast<uint64_t>(ticks) ^ reinterpret_cast<uintptr_t>(&ticks);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
}

void Generator::manual_seed(uint64_t seed) {
  const std::lock_guard<std::mutex> guard(mutex_);
  seed_ = seed;
  offset_ = 0;
}

uint64_t Generator::seed() {
  const uint64_t seed = random_seed();
  manual_seed(seed);
  return seed;
}

uint64_t Generator::initial_seed() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return seed_;
}

Generator::Draw Generator::reserve(uint64_t counters) {
  const std::lock_guard<std::mutex> guard(mutex_);
  const Draw draw{seed_, offset_};
  offset_ += counters;
  return draw;
}

Generator::State Generator::get_state() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  State state;
  for (int i = 0; i < 8; ++i) {
    state[i] = static_cast<unsigned char>(seed_ >> (8 * i));
    state[8 + i] = static_cast<unsigned char>(offset_ >> (8 * i));
  }
  return state;
}

void Generator::set_state(const State& state) {
  uint64_t seed = 0, offset = 0;
  for (int i = 0; i < 8; ++i) {
    seed |= static_cast<uint64_t>(state[i]) << (8 * i);
    offset |= static_cast<uint64_t>(state[8 + i]) << (8 * i);
  }
  const std::lock_guard<std::mutex> guard(mutex_);
  seed_ = seed;
  offset_ = offset;
}

namespace {

std::atomic<Generator*> existing_default{nullptr};
std::mutex making_default;

}  // namespace

Generator& default_generator() {
  if (Generator* made = existing_default.load(std::memory_order_acquire)) return *made;
  const std::lock_guard<std::mutex> guard(making_default);
  Generator* generator = existing_default.load(std::memory_order_relaxed);
  if (generator == nullptr) {
    generator = new Generator(random_seed());  // leaked: used until exit
    existing_default.store(generator, std::memory_order_release);
  }
  return *generator;
}

// A generator that was never used is not made here: each child shall seed its own.
void generator_before_fork() {
  making_default.lock();
  if (Generator* made = existing_default.load()) made->lock();
}

void generator_after_fork_parent() {
  if (Generator* made = existing_default.load()) made->unlock();
  making_default.unlock();
}

void generator_after_fork_child() { generator_after_fork_parent(); }

}  // namespace zero
