#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/source.h"
#include "data/tokenizers/kept.h"

namespace farfield::data {

/// Properties that a corpus in a foreign format does not record, in a file meta.json that our
/// converter writes beside it (README.md). Other programs ignore the file.
struct CorpusMeta {
  TokenizerRecord tokenizer;
  std::string id_type;  ///< "u16", "u32" or "i32"
  std::string split_rule;
  std::array<TokenCounts, 3> counts;  ///< of each split
  std::array<bool, 3> is_cut = {};    ///< CorpusParts::is_cut
  std::array<std::string, 3> hashes;  ///< Tokens::hash() of each split; empty where not recorded
};

/// Where meta.json and tokenizer.json of a corpus lie.
struct MetaPaths {
  std::filesystem::path meta, tokenizer;
};
/// For a corpus with its own folder.
MetaPaths meta_in(const std::filesystem::path& folder);
/// For files that begin with `prefix`: <prefix>.meta.json and <prefix>.tokenizer.json.
MetaPaths meta_beside(const std::filesystem::path& prefix);

/// Empty if there is no such file, or another program's. IoError, naming the file, if our file is
/// damaged.
std::optional<CorpusMeta> read_meta(const std::filesystem::path& file);

/// Writes both files; tokenizer.json only where the tokenizer has one.
void write_meta(const MetaPaths& paths, const CorpusMeta& meta, const Tokenizer& tokenizer,
                const std::vector<SourceRecord>& sources);

/// The tokenizer of a corpus: the one that its meta.json names; without that the one of the
/// options, the tokenizer.json beside it, or the model's. ConfigError, naming `corpus` and the
/// option, when nothing says it.
TokenizerPtr tokenizer_of(const std::string& corpus, const MetaPaths& paths,
                          const std::optional<CorpusMeta>& meta, const CorpusOptions& options);

/// Compares the number of tokens of each split with what meta.json records, and takes the other
/// counts and the hashes over.
/// IoError, naming `file`, where they differ.
void take_counts(CorpusParts& parts, const CorpusMeta& meta, const std::filesystem::path& file);

}  // namespace farfield::data
