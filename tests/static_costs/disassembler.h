#pragma once

#include <filesystem>
#include <string>

namespace farfield::static_costs {

/// The output of `program options object`.
/// Throws    IoError when it fails, with what it said
std::string output_of(const std::string& program, const char* options,
                      const std::filesystem::path& object);

}  // namespace farfield::static_costs
