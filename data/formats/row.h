#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "data/corpus.h"
#include "data/formats/meta.h"

namespace farfield::data {

/// Files of a format without an index, whose documents are told apart by marks.
struct Row {
  CorpusParts parts;  ///< with format, tokenizer and mark
  IdType type = IdType::u16;
  std::array<std::vector<Tokens::Piece>, 3> pieces;  ///< of each split; all in the first: to be cut
  bool is_split = true;                              ///< the files say the splits
  std::string split_rule;                            ///< then, in words
  std::optional<CorpusMeta> meta;                    ///< of the whole, where it is whole
  MetaPaths paths;
};

/// The splits and the hash of such files: as they are, or cut by CorpusOptions::split at ends of
/// documents. Each file counts whole in the hash where it is small. ConfigError for --data-split
/// where the files say the splits.
CorpusParts open_row(Row row, const std::filesystem::path& path, const CorpusOptions& options);

}  // namespace farfield::data
