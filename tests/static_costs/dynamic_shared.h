#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace farfield::static_costs {

/// Bytes of shared memory that launches of a kernel give to a block: without what only some of them
/// need, as far copies and gradients of tables in attention, and with all of it; of rows the
/// shortest and the longest that are kept on the emulated device.
struct LeastAndMost {
  int64_t least = 0, most = 0;
};
/// By short_name(); kernels of which all launches give none are left out. Seen on the emulated
/// device: tests/engine/cuda/test_dynamic_shared.cpp.
using DynamicShared = std::map<std::string, LeastAndMost>;

std::string to_csv(const DynamicShared& bytes);
/// Throws    IoError that names the line which is not one of to_csv()
DynamicShared dynamic_shared_of(const std::string& name, std::string_view csv);

}  // namespace farfield::static_costs
