#pragma once

#include <filesystem>

namespace farfield {

/// A file or folder that is being written, before it is renamed: "<path>.tmp-<process id>", with
/// "-2", "-3", ... appended if that name is taken.
///
/// It is locked (flock) until the descriptor is closed, by the end of the process at the latest.
/// So remove_leftovers() can tell files of a living process from leftovers of a killed one: also
/// when process ids repeat, in another container, and on another machine if a shared file system
/// passes such locks on. Without locks, no file counts as a leftover.
struct Temporary {
  std::filesystem::path path;
  int descriptor = -1;
};

/// A new empty file beside `path`, open for writing. IoError with the system's reason.
Temporary make_temporary_file(const std::filesystem::path& path);
/// A new empty folder beside `path`, with the folders above it. IoError with the system's reason.
Temporary make_temporary_folder(const std::filesystem::path& path);

/// Removes leftovers of killed processes beside `path`: its temporaries, and the old version if
/// `path` itself exists. For a link: beside its target. Files that cannot be removed stay. IoError
/// for links that lead in a circle (write_target.h).
void remove_leftovers(const std::filesystem::path& path);

enum class Folder {
  shared,  ///< others may be writing in it
  locked,  ///< no other process writes in it, since this process holds another lock
};
/// The same for everything in a folder.
void remove_leftovers_in(const std::filesystem::path& folder, Folder folder_is = Folder::shared);

}  // namespace farfield
