#pragma once

#include <filesystem>
#include <string>

namespace farfield::static_costs {

/// What `program options object` prints.
/// Throws    IoError when it fails, with what it said
std::string output_of(const std::string& program, const char* options,
                      const std::filesystem::path& object);

}  // namespace farfield::static_costs
