// Usage: test_blas <directory of the library>; prints the description.
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "check.h"
#include "zero/core/error.h"
#include "zero/core/system.h"
#include "zero/runtime/blas.h"
#include "zero/runtime/parallel.h"

using namespace zero;

namespace {

template <class T, class Gemm>
void product_agrees(Gemm gemm, double tolerance) {
  const int m = 5, n = 7, k = 11;
  std::vector<T> a(m * k), b(k * n), c(m * n, T(1));
  for (size_t i = 0; i < a.size(); ++i) a[i] = T(std::sin(double(i)));
  for (size_t i = 0; i < b.size(); ++i) b[i] = T(std::cos(double(i)));
  gemm(kRowMajor, kNoTrans, kNoTrans, m, n, k, T(2), a.data(), k, b.data(), n, T(3), c.data(), n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) sum += double(a[i * k + p]) * double(b[p * n + j]);
      CHECK(std::fabs(double(c[i * n + j]) - (2 * sum + 3)) <= tolerance);
    }
  }
}

template <class T, class Gemv>
void vector_product_agrees(Gemv gemv, double tolerance) {
  const T a[] = {1, 2, 3, 4, 5, 6}, x[] = {1, -1};
  T y[] = {7, 7, 7};
  gemv(kRowMajor, kTrans, 2, 3, T(1), a, 3, x, 1, T(0), y, 1);
  for (const T value : y) CHECK(std::fabs(double(value) + 3) <= tolerance);
}

int os_threads() {
  const std::string status = read_text_file("/proc/self/status");
  const size_t at = status.find("Threads:");
  return at == std::string::npos ? 0 : std::atoi(status.c_str() + at + 8);
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "unset" : value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) set_blas_directory(argv[1]);
  const std::string threads = environment("OPENBLAS_NUM_THREADS");
  const std::string core = environment("OPENBLAS_CORETYPE");
  const int before = os_threads();
  const Blas* table = blas();
  CHECK(table == blas());
  CHECK(!blas_description().empty());
  CHECK(os_threads() == before);
  CHECK(environment("OPENBLAS_NUM_THREADS") == threads);
  CHECK(environment("OPENBLAS_CORETYPE") == core);
  std::printf("%s\n", blas_description().c_str());
  if (table != nullptr) {
    CHECK_THROWS(ValueError, set_blas_directory("/nowhere"));
    product_agrees<float>(table->sgemm, 1e-5);
    product_agrees<double>(table->dgemm, 1e-13);
    vector_product_agrees<float>(table->sgemv, 1e-6);
    vector_product_agrees<double>(table->dgemv, 1e-14);
    // Enough work for a library that would start threads after all.
    const int n = 700;
    std::vector<float> a(n * n, 1.0f), c(n * n);
    table->sgemm(kRowMajor, kTrans, kNoTrans, n, n, n, 1, a.data(), n, a.data(), n, 0, c.data(), n);
    CHECK(c[0] == float(n) && c.back() == float(n));
    CHECK(os_threads() == before);
  }
  return 0;
}
