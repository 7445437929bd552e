// Anomaly mode: each node remembers where it was recorded, and a backward pass that fails, or makes
// a NaN, says so.
#pragma once

#include <atomic>
#include <string>

#include "zero/autograd/node.h"

namespace zero {

inline std::atomic<bool> anomaly_enabled{false};
inline std::atomic<bool> anomaly_checks_nan{true};

// Where an operation was called. Texts only: frames would keep the user's variables alive.
struct CallSite final : RefCounted {
  std::string op;
  std::string trace;     // all calls, outermost first
  std::string line;      // the last of them in the user's code
  std::string module;    // path of the module it belongs to, may be empty
  Ref<CallSite> parent;  // of the node whose backward recorded this one
};

// How the core asks an interpreter, and tells it.
struct AnomalyHook {
  void (*describe)(CallSite& site) = nullptr;  // fills in what the interpreter knows
  void (*warn)(const std::string& text) = nullptr;
};
void set_anomaly_hook(AnomalyHook hook);

// At a new node, when the mode is on.
void note_call_site(Node& node);
// Node::apply under watch. `run` is the node with its hooks.
Grads apply_watched(Node& node, Grads&& grads, Grads (*run)(Node&, Grads&&));

}  // namespace zero
