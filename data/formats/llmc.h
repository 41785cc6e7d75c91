#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "data/corpus.h"

namespace farfield::data {

/// Whether bytes begin as a token shard of llm.c.
bool is_llmc_shard(std::span<const std::byte> bytes);

/// Token shards of llm.c, in the order of their names; the end-of-text id stands before each
/// document. Names with _train, _val or _test, as llm.c's tools give them, say the splits; without
/// them the whole is cut by CorpusOptions::split or at kDefaultSplit.
///
/// `shards` are not empty and in one folder; `path` is the user's path. IoError, naming the file,
/// if a file is damaged or does not belong to the others; ConfigError for options that do not fit,
/// and for a missing tokenizer.
/// Source    llm.c, dev/data/data_common.py
CorpusParts open_llmc(const std::vector<std::filesystem::path>& shards,
                      const std::filesystem::path& path, const CorpusOptions& options);

}  // namespace farfield::data
