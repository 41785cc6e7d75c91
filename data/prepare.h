#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "data/manifest.h"
#include "data/source.h"

namespace farfield::data {

struct PrepareOptions {
  SourceOptions source;
  std::filesystem::path output;     ///< the corpus folder to make
  std::string tokenizer = "bytes";  ///< as make_tokenizer() takes it
  bool force = false;               ///< replace the corpus that is there
  /// So much text is held until the number of documents says how to split it; where it is more,
  /// the inputs are read again.
  size_t held_bytes = size_t{64} << 20;
};

/// How far prepare() has come. Bytes are those of the input files as stored.
struct PrepareProgress {
  int64_t bytes_read = 0, bytes_total = 0;
  int64_t documents = 0, tokens = 0;
};

/// Turns text into a corpus, which is there whole or not at all; returns its manifest.
///
/// Each document goes to train, valid or test, 90 : 5 : 5, by a hash of its text, so it stays where
/// it is when others come or go. If that leaves a split without a document, the documents are
/// ranked by the same hash and cut at 90 % and 95 % of their number. With fewer than 20 documents
/// the text is cut in order instead, at 90 % and 95 % of its bytes.
///
/// Throws ConfigError (options, an output that exists) or IoError (bad text, an empty corpus or
/// split, a full disk); what existed is untouched then.
Manifest prepare(const PrepareOptions& options,
                 const std::function<void(const PrepareProgress&)>& progress = {});

}  // namespace farfield::data
