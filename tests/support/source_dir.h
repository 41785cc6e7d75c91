#pragma once

#include <filesystem>

namespace farfield {

/// The folder of the source tree that this test was built from.
std::filesystem::path source_dir();

}  // namespace farfield
