#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/file_notes.h"

namespace farfield::data {

/// What is wanted of a folder of text.
struct FolderRequest {
  /// As SourceOptions::endings.
  std::vector<std::string> endings;
  /// What is being made of the text, and its temporaries: never text itself. Empty: nothing.
  std::filesystem::path output;
};

/// The paths below `folder` of its files, at any depth, in the order of their bytes. Left out:
/// entries with a leading dot, links to folders, the output, and corpora made by prepare, which are
/// added to `notes`. IoError, naming the folder, for one that cannot be listed.
std::vector<std::string> files_of_folder(const std::filesystem::path& folder,
                                         const FolderRequest& request, FileNotes& notes);

}  // namespace farfield::data
