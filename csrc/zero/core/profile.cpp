#include "zero/core/profile.h"

#include <chrono>
#include <memory>
#include <new>
#include <unordered_set>
#include <vector>

namespace zero {

namespace {

constexpr int64_t kChunk = 1 << 14;  // events; a chunk never moves

std::vector<std::unique_ptr<Event[]>>& chunks() {
  static auto* const all = new std::vector<std::unique_ptr<Event[]>>;
  return *all;
}
std::vector<int64_t>& sizes() {
  static auto* const all = new std::vector<int64_t>;
  return *all;
}

int64_t count = 0;
int64_t first_span = 0;                       // spans of earlier profiles have smaller numbers
ZERO_THREAD_LOCAL int64_t current_span = -1;  // the one that runs in this thread

Event& at(int64_t i) { return chunks()[i / kChunk][i % kChunk]; }

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// False when memory is short: then nothing is noted.
bool grow() noexcept {
  try {
    // Without value initialization: a page is touched when it is written to.
    chunks().emplace_back(std::make_unique_for_overwrite<Event[]>(kChunk));
    return true;
  } catch (const std::bad_alloc&) { return false; }
}

uint32_t thread_number() {
  static uint32_t last = 0;
  static ZERO_THREAD_LOCAL uint32_t number = 0;
  if (number == 0) number = ++last;
  return number;
}

}  // namespace

void start_profile(bool with_sizes) {
  forget_profile();
  profiling = true;
  profiling_sizes = with_sizes;
}

void stop_profile() {
  for (int64_t i = 0; i < count; ++i) {
    Event& e = at(i);
    if (e.end != 0) continue;
    e.end = now();  // it runs on, of another thread perhaps
    e.bytes = e.copies = e.copied_bytes = 0;
  }
  profiling = profiling_sizes = false;
}

void forget_profile() {
  first_span += count;
  count = 0;
  if (chunks().size() > 1) chunks().resize(1);
  sizes().clear();
}

int64_t event_count() { return count; }
const Event& event_at(int64_t i) { return at(i); }
const int64_t* event_sizes(const Event& event) { return sizes().data() + event.sizes; }

int64_t begin_span(SpanKind kind, const void* what, uint64_t number) noexcept {
  if (!profiling) return -1;
  if (count == static_cast<int64_t>(chunks().size()) * kChunk && !grow()) return -1;
  const int64_t i = count++;
  Event& e = at(i);
  e.what = what;
  // Spans of the user's may end in any order, and in another thread.
  e.parent = current_span < first_span ? -1 : current_span - first_span;
  while (e.parent >= 0 && at(e.parent).end != 0) e.parent = at(e.parent).parent;
  current_span = first_span + i;
  e.kind = kind;
  e.thread = thread_number();
  e.first = number;
  e.last = number;
  e.sizes = -1;
  e.bytes = -thread_live_bytes();
  e.copies = -contiguous_copies.copies;
  e.copied_bytes = -contiguous_copies.bytes;
  e.end = 0;
  e.start = now();
  return first_span + i;
}

void end_span(int64_t span, uint64_t number) noexcept {
  const int64_t end = now();
  if (span < first_span || !profiling) return;  // it began before, or ends after
  Event& e = at(span - first_span);
  if (current_span == span) current_span = e.parent < 0 ? -1 : first_span + e.parent;
  e.end = end;
  e.last = number;
  e.bytes += thread_live_bytes();
  e.copies += contiguous_copies.copies;
  e.copied_bytes += contiguous_copies.bytes;
}

void begin_sizes(int64_t span, int64_t inputs) {
  at(span - first_span).sizes = static_cast<int64_t>(sizes().size());
  sizes().push_back(inputs);
}

void add_sizes(const Dims* dims) {
  sizes().push_back(dims ? dims->size() : -1);
  if (dims) sizes().insert(sizes().end(), dims->begin(), dims->end());
}

const char* lasting_name(const char* name) {
  static auto* const names = new std::unordered_set<std::string>;
  return names->insert(name).first->c_str();
}

}  // namespace zero
