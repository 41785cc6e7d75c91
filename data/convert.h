#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/corpus.h"

namespace farfield::data {

struct ConvertOptions {
  std::filesystem::path input;   ///< as Corpus::open() takes it
  CorpusOptions corpus;          ///< properties that the input does not record
  std::string format;            ///< to make, one of writer_names()
  std::filesystem::path output;  ///< as make_writer() takes it
  bool force = false;            ///< replace a corpus that is there
};

/// Progress of convert(), in tokens of the input.
struct ConvertProgress {
  int64_t tokens = 0, tokens_total = 0, documents = 0;
};

/// The result of convert().
struct Conversion {
  std::string from;  ///< CorpusParts::format of the input
  std::string split_rule;
  std::array<TokenCounts, 3> counts;  ///< as a reader of the output will find them
  /// Records that the input lacks, and records that the output cannot hold, a sentence each.
  std::vector<std::string> notes;
};

/// Puts a corpus into another format, with the tokenizer and the counts beside it (formats/meta.h).
///
/// Where the input has hashes of its tokens they are compared first. Documents stay in their split
/// and in order; the id that marks their end is set as the format
/// wants it, and not where a document has none. Bytes of text that the input does not record are
/// counted by decoding. Memory does not grow with the corpus, except for a Megatron index: 4 bytes
/// a document to write it, 8 to read it.
///
/// ConfigError for options that do not fit, an output that exists, and ids that the format does not
/// hold; IoError for damage and full disks. What existed is untouched then.
Conversion convert(const ConvertOptions& options,
                   const std::function<void(const ConvertProgress&)>& progress = {});

}  // namespace farfield::data
