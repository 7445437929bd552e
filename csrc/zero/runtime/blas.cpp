#include "zero/runtime/blas.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include "zero/core/error.h"

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace zero {

namespace {

// ---- The dynamic linker -------------------------------------------------------------------------

#if defined(_WIN32)

constexpr const char* kLibraryName = "libscipy_openblas.dll";

std::string own_directory() {
  HMODULE module = nullptr;
  char path[4096] = {};
  if (!GetModuleHandleExA(
          GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
          reinterpret_cast<LPCSTR>(&own_directory), &module) ||
      GetModuleFileNameA(module, path, sizeof(path) - 1) == 0) {
    return "";
  }
  const std::string file = path;
  return file.substr(0, file.find_last_of("\\/"));
}

void* open_library(const std::string& path, std::string& error) {
  void* library = reinterpret_cast<void*>(LoadLibraryA(path.c_str()));
  if (library == nullptr) error = message("error ", GetLastError());
  return library;
}

void* find_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

void set_environment(const char* name, const char* value) {  // null removes
  _putenv_s(name, value == nullptr ? "" : value);
}

#else

#if defined(__APPLE__)
constexpr const char* kLibraryName = "libscipy_openblas.dylib";
#else
constexpr const char* kLibraryName = "libscipy_openblas.so";
#endif

std::string own_directory() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_directory), &info) == 0 || info.dli_fname == nullptr) {
    return "";
  }
  const std::string file = info.dli_fname;
  const size_t slash = file.find_last_of('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

void* open_library(const std::string& path, std::string& error) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* text = dlerror();
    error = text == nullptr ? "unknown error" : text;
  }
  return library;
}

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

void set_environment(const char* name, const char* value) {
  if (value == nullptr) {
    unsetenv(name);
  } else {
    setenv(name, value, 1);
  }
}

#endif

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Sets a variable for one scope; null leaves it alone.
class EnvironmentScope {
 public:
  EnvironmentScope(const char* name, const char* value) : name_(value == nullptr ? nullptr : name) {
    if (name_ == nullptr) return;
    if (const char* before = std::getenv(name)) before_ = before;
    set_environment(name, value);
  }
  ~EnvironmentScope() {
    if (name_ != nullptr) set_environment(name_, before_ ? before_->c_str() : nullptr);
  }
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// OpenBLAS's name of the kernels that belong to ZERO_ISA. Its own variable, if the user set it,
// wins.
const char* core_type() {
  if (!environment("OPENBLAS_CORETYPE").empty()) return nullptr;
#if defined(__x86_64__) || defined(_M_X64)
  const std::string isa = environment("ZERO_ISA");
  if (isa == "avx512") return "SkylakeX";
  if (isa == "avx2") return "Haswell";
  if (isa == "baseline") return "Nehalem";
#endif
  return nullptr;
}

// ---- Loading ------------------------------------------------------------------------------------

struct Loaded {
  Blas table{};
  bool usable = false;
  std::string description;
};

std::mutex directory_mutex;
std::atomic<bool> asked{false};
std::string& directory() {
  static std::string* const path = new std::string;
  return *path;
}

// The distribution's symbols carry a prefix, so that they meet no other BLAS; a plain build has
// none.
void* find_blas_symbol(void* library, const std::string& name) {
  void* symbol = find_symbol(library, ("scipy_" + name).c_str());
  return symbol != nullptr ? symbol : find_symbol(library, name.c_str());
}

template <class Function>
bool bind(void* library, const char* name, Function*& member) {
  member = reinterpret_cast<Function*>(find_blas_symbol(library, name));
  return member != nullptr;
}

bool bind_lapack(void* library, const char* type, Lapack& table) {
  const auto find = [&](const char* name, auto*& member) {
    return bind(library, message(type, name, '_').c_str(), member);
  };
  return find("gesdd", table.gesdd) && find("syevd", table.syevd) && find("sterf", table.sterf) &&
         find("stedc", table.stedc) && find("laed2", table.laed2) && find("laed4", table.laed4) &&
         find("bdsdc", table.bdsdc) && find("sytrf", table.sytrf) && find("sytrs", table.sytrs) &&
         find("gels", table.gels) && find("gelsy", table.gelsy) && find("gelsd", table.gelsd) &&
         find("gelss", table.gelss);
}

// ---- The end of the process ---------------------------------------------------------------------

std::atomic<int> calls{0};  // that run now
std::atomic<bool> ending{false};
std::atomic<bool> forking{false};
std::atomic<std::thread::id> ending_thread;  // may still call: handlers that run later compute

// Windows ends the other threads first.
void wait_at_exit() {
#if !defined(_WIN32)
  // This handler runs before the library's own, which was loaded earlier.
  std::atexit([] {
    ending_thread.store(std::this_thread::get_id());
    ending.store(true);
    for (int i = 0; i < 5000 && calls.load() > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
#endif
}

Loaded load() {
  Loaded loaded;
  if (environment("ZERO_BLAS") == "none") {
    loaded.description = "none (ZERO_BLAS=none)";
    return loaded;
  }
  std::string path;
  {
    const std::lock_guard<std::mutex> guard(directory_mutex);
    asked.store(true);
    path = (directory().empty() ? own_directory() + "/_libs" : directory()) + "/" + kLibraryName;
  }
  std::string error;
  void* library;
  {
    // The library starts its threads while it is loaded.
    const EnvironmentScope one_thread("OPENBLAS_NUM_THREADS", "1");
    const EnvironmentScope kernels("OPENBLAS_CORETYPE", core_type());
    library = open_library(path, error);
  }
  if (library == nullptr) {
    loaded.description = message("none (", path, ": ", error, ")");
    return loaded;
  }
  Blas& table = loaded.table;
  loaded.usable =
      bind(library, "cblas_sgemm", table.sgemm) && bind(library, "cblas_dgemm", table.dgemm) &&
      bind(library, "cblas_sgemv", table.sgemv) && bind(library, "cblas_dgemv", table.dgemv);
  if (!loaded.usable) {
    loaded.description = message("none (", path, " lacks functions of the C interface)");
    return loaded;
  }
  table.lapack = bind_lapack(library, "s", table.s) && bind_lapack(library, "d", table.d);
  void (*set_num_threads)(int) = nullptr;
  if (bind(library, "openblas_set_num_threads", set_num_threads)) set_num_threads(1);
  char* (*text)() = nullptr;
  loaded.description = bind(library, "openblas_get_config", text) ? text() : kLibraryName;
  if (bind(library, "openblas_get_corename", text)) {
    loaded.description += message(", kernels for ", text());
  }
  loaded.description += message(" (", path, ")");
  wait_at_exit();
  return loaded;
}

const Loaded& loaded() {
  static const Loaded* const result = new Loaded(load());
  return *result;
}

}  // namespace

const Blas* blas() {
  const Loaded& result = loaded();
  return result.usable ? &result.table : nullptr;
}

BlasCall::BlasCall() {
  for (;;) {
    calls.fetch_add(1);
    const bool ends = ending.load() && ending_thread.load() != std::this_thread::get_id();
    if (!ends && !forking.load()) [[likely]]
      return;
    calls.fetch_sub(1);
    if (ends) std::this_thread::sleep_for(std::chrono::hours(1));
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

BlasCall::~BlasCall() { calls.fetch_sub(1); }

void blas_before_fork() {
  forking.store(true);
  while (calls.load() > 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void blas_after_fork() { forking.store(false); }

std::string blas_description() { return loaded().description; }

void set_blas_directory(const std::string& path) {
  const std::lock_guard<std::mutex> guard(directory_mutex);
  ZERO_CHECK(!asked.load(), ValueError,
             "set_blas_directory: the BLAS was already looked for; expected the call before the "
             "first matrix product");
  directory() = path;
}

}  // namespace zero
