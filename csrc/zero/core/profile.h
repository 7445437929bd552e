// What the profiler notes while it is on: spans of time in the order of their beginnings, with the
// memory taken and the copies made in each. Those of one thread lie inside of each other. Threads
// take turns here, as they do everywhere under an interpreter's lock.
#pragma once

#include <cstdint>
#include <string>

#include "zero/core/shape.h"
#include "zero/core/thread_local.h"

namespace zero {

enum class SpanKind : uint8_t { Operator, Node, Module, User };

struct Event {
  const void* what;    // a name (const char*) of a node; else an object of the interpreter's
  int64_t parent;      // the event it lies in, -1 at the top
  int64_t start, end;  // nanoseconds of the steady clock; end is 0 while it runs
  int64_t bytes;       // taken from the allocator and not given back, by this thread
  int64_t copies;      // how often contiguous() copied
  int64_t copied_bytes;
  uint64_t first, last;  // numbers of nodes: the last one before it began, and before it ended
  int64_t sizes;         // where its inputs' sizes are, -1 without
  uint32_t thread;
  SpanKind kind;
};

// Read before every node of a backward pass and every call of a module. Operators are recorded by
// who calls them, at no cost while it is off.
inline bool profiling = false;
inline bool profiling_sizes = false;

// The caller owns what the events point to. They stay until they are forgotten.
void start_profile(bool sizes);
void stop_profile();
void forget_profile();
int64_t event_count();
const Event& event_at(int64_t i);
// At Event::sizes: the number of inputs; for each its number of dimensions (-1: no tensor), sizes.
const int64_t* event_sizes(const Event& event);

// The number of an event, to be ended; -1 where the profiler is off.
int64_t begin_span(SpanKind kind, const void* what, uint64_t number) noexcept;
void end_span(int64_t span, uint64_t number) noexcept;
// Notes the sizes of the inputs of an event that just began: their number, then each.
void begin_sizes(int64_t span, int64_t inputs);
void add_sizes(const Dims* sizes);  // null for what is no tensor
// A copy of a name that stays.
const char* lasting_name(const char* name);

struct CopyCounts { int64_t copies, bytes; };
inline ZERO_THREAD_LOCAL CopyCounts contiguous_copies = {0, 0};

// What this thread took from the allocator less what it gave back (allocator.cpp).
int64_t thread_live_bytes();

}  // namespace zero
