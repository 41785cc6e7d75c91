#pragma once

#include <filesystem>
#include <string_view>

#include "engine/base/error.h"

namespace farfield {

/// A file that may not be examined, read or written, but exists or may exist.
struct PermissionError : IoError {
  using IoError::IoError;
};

/// Throws IoError "[file] <path>: cannot <what>: <reason in errno>", with a remedy if one is known;
/// PermissionError for missing permission.
[[noreturn]] void fail_errno(const std::filesystem::path& path, std::string_view what);

/// The folder that holds `path`, "." for a name alone.
inline std::filesystem::path parent_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace farfield
