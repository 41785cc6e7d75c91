#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/file_notes.h"

namespace farfield::data {

/// A request for the text files of a folder.
struct FolderRequest {
  /// As SourceOptions::endings.
  std::vector<std::string> endings;
  /// The output made from the text, and its temporaries: never read as text. Empty: none.
  std::filesystem::path output;
};

/// The paths below `folder` of its files, at any depth, in the order of their bytes. Left out:
/// entries with a leading dot, links to folders, the output, and corpora made by prepare, which are
/// added to `notes`. IoError, naming the folder, if a folder cannot be listed.
std::vector<std::string> files_of_folder(const std::filesystem::path& folder,
                                         const FolderRequest& request, FileNotes& notes);

}  // namespace farfield::data
