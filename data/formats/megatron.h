#pragma once

#include <filesystem>

#include "data/corpus.h"

namespace farfield::data {

/// The pair <prefix>.bin, <prefix>.idx of GPT-NeoX and Megatron. A sequence of the index is a
/// document, as it is for them when they train. The documents are cut into splits by
/// CorpusOptions::split, without which as a meta.json beside them records, or at kDefaultSplit.
///
/// All of the index is checked and none of it copied. IoError, naming the file, for a damaged file,
/// an older layout, or ids of floating point; ConfigError for options that do not fit.
/// Source    GPT-NeoX, megatron/data/indexed_dataset.py
CorpusParts open_megatron(const std::filesystem::path& prefix, const CorpusOptions& options);

}  // namespace farfield::data
