#pragma once

#include <filesystem>
#include <string>

#include "apps/run/folder.h"

namespace farfield::run {

/// Where a corpus lies, as the manifest of a run records it beside what the user wrote, so that the
/// run finds it again from another folder, and when both have moved. Empty where there is none.
struct CorpusPlace {
  std::string absolute;
  std::string from_run;  ///< the path from the run's folder to it
};
CorpusPlace corpus_place(const std::filesystem::path& data, const std::filesystem::path& run);

/// The folder of the corpus that a run was trained on, told by its hash. Looked for, in this order:
/// where config.conf says, from the current folder; beside the run, as the manifest records it, or
/// for runs that are older than this record below each of the run's parent folders; at the absolute
/// path where it was.
///
/// What lies where config.conf says is returned where no place has the right one, for the caller to
/// compare. IoError, naming --data, when nothing is there.
std::string find_corpus(const RunFolder& run);

}  // namespace farfield::run
