#pragma once

#include <filesystem>

namespace farfield {

/// What is being written, before it is renamed to its name: "<path>.tmp-<process id>", and with
/// "-2", "-3", ... behind that where somebody else has the name.
///
/// It is locked (flock) until the descriptor is closed, by the end of the process at the latest.
/// So remove_leftovers() tells what a living process writes from what a killed one has left: also
/// where process ids come again, in another container, and on another machine where a shared file
/// system passes such locks on. Where it has no locks, nothing is taken for left behind.
struct Temporary {
  std::filesystem::path path;
  int descriptor = -1;
};

/// A new empty file beside `path`, open for writing. IoError with the system's reason.
Temporary make_temporary_file(const std::filesystem::path& path);
/// A new empty folder beside `path`, with the folders above it. IoError with the system's reason.
Temporary make_temporary_folder(const std::filesystem::path& path);

/// Removes what killed processes left beside `path` while they wrote it: its temporaries, and the
/// old version where `path` itself is there. Of a link: beside what it leads to. What cannot be
/// removed stays. IoError for links that lead in a circle (write_target.h).
void remove_leftovers(const std::filesystem::path& path);

enum class Folder {
  shared,  ///< others may be writing in it
  locked,  ///< nobody else writes in it, by another lock that this process holds
};
/// The same for everything in a folder.
void remove_leftovers_in(const std::filesystem::path& folder, Folder folder_is = Folder::shared);

}  // namespace farfield
