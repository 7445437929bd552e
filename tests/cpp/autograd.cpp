// Autograd without Python: graphs, views, writes in place, long chains.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "zero/autograd/engine.h"
#include "zero/autograd/record.h"
#include "zero/ops/ops.h"

using namespace zero;

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

static Tensor vector(std::initializer_list<float> values, bool needs_grad = false) {
  Tensor t = empty({static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.data<float>());
  set_requires_grad(t, needs_grad);
  return t;
}
static bool holds(const Tensor& t, std::initializer_list<float> expected) {
  const Tensor c = contiguous(detach(t));
  if (c.numel() != static_cast<int64_t>(expected.size())) return false;
  const float* p = c.data<float>();
  for (float e : expected)
    if (std::fabs(*p++ - e) > 1e-6f * std::fmax(1.0f, std::fabs(e))) return false;
  return true;
}
template <class F>
static bool raises(F f, const char* part) {
  try {
    f();
  } catch (const std::exception& error) {
    if (std::string(error.what()).find(part) != std::string::npos) return true;
    std::fprintf(stderr, "another text: %s\n", error.what());
  }
  return false;
}
static void backward_of(const Tensor& t, bool retain = false, bool create = false) {
  backward({t}, {}, retain, create);
}

static void graphs() {
  Tensor x = vector({1, 2, 3}, true);
  Tensor a = mul(x, x), b = add(a, x);
  backward_of(sum(mul(a, b)));  // x^4 + x^3: 4x^3 + 3x^2
  CHECK(holds(grad(x), {7, 44, 135}));

  Tensor y = vector({2}, true);
  Tensor cube = mul(mul(y, y), y);
  Tensor first = grad({cube}, {}, {y}, true, true, false)[0];
  Tensor second = grad({first}, {}, {y}, true, true, false)[0];
  Tensor third = grad({second}, {}, {y}, false, false, false)[0];
  CHECK(holds(first, {12}) && holds(second, {12}) && holds(third, {6}));
  CHECK(!grad(y).defined());

  Tensor z = vector({1, 2}, true);
  Tensor loss = sum(exp(z));
  backward_of(loss);
  CHECK(raises([&] { backward_of(loss); }, "second time"));
  CHECK(raises([&] { backward_of(exp(z)); }, "scalar outputs"));
  CHECK(raises([&] { backward_of(detach(z)); }, "does not require grad"));
}

static void writes() {
  Tensor x = vector({1, 2, 3}, true);
  CHECK(raises([&] { mul(x, 2, Target::inplace(x)); }, "leaf"));
  CHECK(raises([&] { fill_(select(x, 0, 0), 1); }, "view of a leaf"));

  Tensor y = mul(x, 1), e = exp(y);
  add(e, 1, 1, Target::inplace(e));
  CHECK(raises([&] { backward_of(sum(e)); }, "modified by an inplace operation"));

  Tensor base = mul(x, 1);
  Tensor part = slice(base, 0, 1, 3);
  mul(part, 10, Target::inplace(part));
  CHECK(holds(base, {1, 20, 30}) && requires_grad(part));
  Tensor w = vector({5, 6}, true);
  copy_(slice(base, 0, 0, 2), w);
  CHECK(holds(part, {6, 30}));
  backward_of(sum(mul(base, base)));
  CHECK(holds(grad(x), {0, 0, 600}) && holds(grad(w), {10, 12}));

  Tensor v = vector({2, 3}, true);
  Tensor square = mul(v, 1);
  mul(square, square, Target::inplace(square));  // reads itself: the saved copy is from before
  CHECK(holds(square, {4, 9}));
  CHECK(raises(
      [&] { add(expand(vector({1}), {3}), 1, 1, Target::inplace(expand(vector({1}), {3}))); },
      "share one place"));
  CHECK(raises([&] { fill_(unbind(mul(v, 1))[0], 1); }, "several views"));
}

static void long_chain() {
  Tensor x = vector({1}, true);
  {
    Tensor y = x;
    for (int i = 0; i < 1000000; ++i) y = add(y, 0);
    backward_of(sum(y));
    CHECK(holds(grad(x), {1}));
  }
  Tensor y = x;
  for (int i = 0; i < 1000000; ++i) y = mul(y, 1);  // freed without a backward pass
}

static void threads() {
  Tensor shared = vector({1, 2}, true);  // one leaf in the graphs of several threads
  std::vector<std::thread> workers;
  for (int t = 0; t < 4; ++t)
    workers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        Tensor g = grad({sum(mul(shared, shared))}, {}, {shared}, false, false, false)[0];
        CHECK(holds(g, {2, 4}));
      }
    });
  for (std::thread& w : workers) w.join();
}

int main() {
  graphs();
  writes();
  long_chain();
  threads();
  std::puts("autograd: passed");
}
