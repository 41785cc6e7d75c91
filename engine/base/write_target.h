#pragma once

#include <filesystem>

namespace farfield {

// Outputs go where symbolic links lead: a link stays, and what it leads to is written.

/// The place behind a path that is a link, or a link to a link; where nothing is there yet, the
/// place where it would be. Another path as it is, without a "/" at its end. IoError for links that
/// lead in a circle.
std::filesystem::path write_target(const std::filesystem::path& path);

/// Makes a folder, with those above it, where there is none. IoError with the system's reason.
void make_folder(const std::filesystem::path& folder);

}  // namespace farfield
