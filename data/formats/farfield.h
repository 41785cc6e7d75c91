#pragma once

#include <filesystem>

#include "data/corpus.h"

namespace farfield::data {

/// Our own corpus folder (corpus.md). Its tokenizer is checked against the manifest and, where it
/// has a file, the tokenizer.json in the folder. IoError, naming the file.
CorpusParts open_corpus_folder(const std::filesystem::path& folder);

}  // namespace farfield::data
