#pragma once

#include <cstdint>
#include <string>

namespace farfield::cli {

/// Bytes for people: "0 B", "812 B", "1.4 KiB", "23.0 MiB".
std::string size_text(int64_t bytes);

}  // namespace farfield::cli
