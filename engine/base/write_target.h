#pragma once

#include <filesystem>

namespace farfield {

// Outputs follow symbolic links: a link stays, and its target is written.

/// The target of a path that is a link, or a link to a link, even if the target does not exist yet.
/// Another path is returned unchanged, without a "/" at its end. IoError for links that lead in a
/// circle.
std::filesystem::path write_target(const std::filesystem::path& path);

/// Makes a folder, with those above it, where there is none. IoError with the system's reason.
void make_folder(const std::filesystem::path& folder);

}  // namespace farfield
