// Chooses the kernel table of this process, once. The one file of kernels/ that looks beyond PODs:
// it asks runtime/cpu.h what the processor can do.
#include <cstdlib>
#include <string>

#include "zero/core/error.h"
#include "zero/kernels/families.h"
#include "zero/runtime/cpu.h"

namespace zero {
namespace {

struct Isa {
  const char* name;
  bool available;
  void (*fill)(KernelTable&);
  bool asked_only = false;
};

KernelTable choose_table() {
  // Best last.
#if defined(__x86_64__) || defined(_M_X64)
  const CpuFeatures& cpu = cpu_features();
  const Isa isas[] = {{"baseline", true, baseline::fill_table},
                      {"avx2", cpu.avx2, avx2::fill_table},
                      {"avx512", cpu.avx512, avx512::fill_table},
                      // Where it was measured (Intel) it takes 1.9 times as long as avx512.
                      {"avx512bf16", cpu.avx512_bf16, avx512bf16::fill_table, true}};
#elif defined(__aarch64__) || defined(_M_ARM64)
  const Isa isas[] = {{"neon", true, neon::fill_table}};
#else
  const Isa isas[] = {{"baseline", true, baseline::fill_table}};
#endif
  const char* asked = std::getenv("ZERO_ISA");
  const Isa* chosen = nullptr;
  std::string names;
  for (const Isa& isa : isas) {
    if (!isa.available) continue;
    names += (names.empty() ? "" : ", ") + std::string(isa.name);
    const bool any = asked == nullptr || *asked == '\0';
    if (any ? !isa.asked_only : std::string(asked) == isa.name) chosen = &isa;
  }
  ZERO_CHECK(chosen != nullptr, ValueError,
             "ZERO_ISA: not an instruction set of this processor; got '", asked,
             "', expected one of: ", names);
  KernelTable table{};
  chosen->fill(table);
  return table;
}

}  // namespace

const KernelTable& detail::choose_kernels() {
  static const KernelTable table = choose_table();
  kernels_in_use.store(&table, std::memory_order_release);
  return table;
}

}  // namespace zero
