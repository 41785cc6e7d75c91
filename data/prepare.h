#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/manifest.h"
#include "data/shares.h"
#include "data/source.h"
#include "data/tokenizers/make.h"

namespace farfield::data {

struct PrepareOptions {
  SourceOptions source;
  /// Inputs of train, valid and test, which stay apart, instead of source.inputs and shares: all
  /// three or none. source.max_bytes is then for each split, and a document that two of them have
  /// is a duplicate, of which source.drop_duplicates keeps the first.
  std::array<std::vector<std::filesystem::path>, 3> given;
  std::filesystem::path output;  ///< the corpus folder to make
  /// As make_tokenizer() takes it, with tokenizer_options; or "words": the words are learned in a
  /// first pass over the inputs of train if given, else over all inputs, since the split is not
  /// known before.
  std::string tokenizer = "bytes";
  TokenizerOptions tokenizer_options;
  Shares shares = kUsualShares;
  bool force = false;  ///< replace the corpus that is there
  /// Most text in memory until the documents so far decide how to split; more text goes to disk.
  size_t held_bytes = size_t{64} << 20;
};

/// Progress of prepare(). Bytes count the input files as stored (compressed).
struct PrepareProgress {
  int64_t bytes_read = 0, bytes_total = 0;  ///< total 0: unknown, as of a pipe
  /// Out of bytes_total: the mean of the bytes read and, in proportion, the bytes turned into
  /// tokens.
  int64_t bytes_done = 0;
  int64_t documents = 0, tokens = 0;
};

/// Turns text into a corpus, which appears completely or not at all; returns its manifest.
///
/// Each document goes to train, valid or test by its share (90 : 5 : 5 unless said), by a hash of
/// its text, so it stays where it is when others come or go. If that leaves a split without a
/// document, the documents are ranked by the same hash and cut by the shares of their number. With
/// fewer than 20 documents the text is cut in order instead, by the shares of its bytes. Splits
/// that are given stay as they are.
///
/// Inputs are read once, in a thread of their own, and tokens made on all threads; the corpus does
/// not depend on their number. Memory does not grow with the text: data/README.md.
///
/// Throws ConfigError (options, an output that exists) or IoError (bad text, an empty corpus or
/// split, a full disk); what existed is untouched then.
Manifest prepare(const PrepareOptions& options,
                 const std::function<void(const PrepareProgress&)>& progress = {});

}  // namespace farfield::data
