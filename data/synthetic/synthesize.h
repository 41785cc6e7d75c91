#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "data/manifest.h"
#include "data/synthetic/induction.h"
#include "data/synthetic/topic.h"

namespace farfield::data {

/// The characters that symbols stand for, symbol 0 first: the printable ones of ASCII but the
/// blank.
std::string_view symbol_characters();

struct SyntheticOptions {
  std::filesystem::path output;  ///< the corpus folder to make
  TopicOptions topic;
  CopyOptions copies;  ///< probability 0: the topic corpus, else the induction corpus
  int64_t document_tokens = 4096;
  std::array<int64_t, 3> documents = {2048, 128, 512};  ///< of train, valid and test
  bool force = false;                                   ///< replace the corpus that is there
};

/// Default options for "topic" and "induction", without an output. ConfigError for another name.
SyntheticOptions synthetic_options(const std::string& task);

struct SynthesisProgress {
  int64_t documents = 0, documents_total = 0;
};

/// Makes a corpus of text that rewards a long context, whole or not at all; returns its manifest,
/// with the floor. Symbols are characters of the tokenizer `bytes`, and windows stay within
/// documents (Corpus::document_tokens()). Each document is a pure function of the seed, the split
/// and its number there, the same on every machine, whatever the number of threads and of other
/// documents.
///
/// Throws ConfigError (options, an output that exists) or IoError (a full disk); what existed is
/// untouched then.
Manifest synthesize(const SyntheticOptions& options,
                    const std::function<void(const SynthesisProgress&)>& progress = {});

}  // namespace farfield::data
