#pragma once

#include <array>
#include <filesystem>

#include "data/corpus.h"

namespace farfield::data {

/// By split.
inline constexpr std::array<const char*, 3> kNanogptFiles = {"train.bin", "val.bin", "test.bin"};

/// nanoGPT's .bin: ids and nothing else, the end-of-text id behind each document. A folder with
/// train.bin and val.bin, and test.bin where there is one; or a single file, which is cut by
/// CorpusOptions::split or at kDefaultSplit.
///
/// How ids are stored and the tokenizer must be given, unless a meta.json beside says them:
/// ConfigError, naming the option. IoError, naming the file, if its size is no whole number of ids.
/// Source    nanoGPT, data/openwebtext/prepare.py
CorpusParts open_nanogpt(const std::filesystem::path& path, const CorpusOptions& options);

}  // namespace farfield::data
