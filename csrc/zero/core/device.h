// Where a tensor's elements live: in memory, or nowhere (meta tensors have only a shape).
#pragma once

#include <cstdint>
#include <ostream>

namespace zero {

enum class Device : uint8_t { Cpu, Meta };

constexpr const char* name(Device d) { return d == Device::Cpu ? "cpu" : "meta"; }
inline std::ostream& operator<<(std::ostream& out, Device d) { return out << name(d); }

}  // namespace zero
