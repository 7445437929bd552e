#include "zero/autograd/anomaly.h"

#include "zero/autograd/arithmetic.h"
#include "zero/autograd/hooks.h"
#include "zero/core/thread_local.h"

namespace zero {

namespace {

AnomalyHook hook;
ZERO_THREAD_LOCAL CallSite* running = nullptr;  // of the node that runs now

class Running {
 public:
  explicit Running(CallSite* site) : before_(std::exchange(running, site)) {}
  ~Running() { running = before_; }
  Running(const Running&) = delete;

 private:
  CallSite* before_;
};

std::string place(const CallSite& site) {
  return (site.line.empty() ? "" : ", called at " + site.line) +
         (site.module.empty() ? "" : ", in module " + site.module);
}

void report(const Node& node, const CallSite* site) {
  if (!hook.warn) return;
  std::string text = message("anomaly mode: error detected in ", node.name());
  if (!site)
    text += ", which was recorded with anomaly mode off; turn it on around the forward pass";
  for (; site; site = site->parent.get()) {
    text += place(*site) + ". Traceback of the forward call:\n" + site->trace;
    if (site->parent) text += "\nRecorded by the backward pass of " + site->parent->op;
  }
  hook.warn(text);
}

}  // namespace

void set_anomaly_hook(AnomalyHook h) { hook = h; }

void note_call_site(Node& node) {
  auto site = make_ref<CallSite>();
  site->op = node.name();
  if (hook.describe) hook.describe(*site);
  site->parent = Ref<CallSite>::share(running);
  node.make_extras().call_site = std::move(site);
}

Grads apply_watched(Node& node, Grads&& grads, Grads (*run)(Node&, Grads&&)) {
  const Ref<CallSite> site = node.extras() ? node.extras()->call_site : nullptr;
  const Running scope(site.get());
  Grads out;
  try {
    out = run(node, std::move(grads));
  } catch (...) {
    report(node, site.get());
    throw;
  }
  if (!anomaly_checks_nan) return out;
  for (int64_t i = 0; i < out.size(); ++i) {
    if (!out[i].defined() || !gradient::has_nan(out[i])) continue;
    report(node, site.get());
    fail<Error>("backward: ", node.name(), " returned nan values for its input ", i,
                site ? place(*site) : "", "; got nan, expected numbers");
  }
  return out;
}

}  // namespace zero
