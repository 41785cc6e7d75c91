#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "data/tokenizer.h"

namespace farfield::data {

/// The manifest's record of the tokenizer that is stored with a corpus or a run.
struct TokenizerRecord {
  std::string name, hash;
  int64_t end_of_document = -1;  ///< its id; -1: not recorded
};

TokenizerRecord record_of(const Tokenizer& tokenizer);

/// The tokenizer of a record: the file `kept`, or without that file the built-in tokenizer of the
/// name. IoError, "[where] manifest: ...", if there is neither, and if the hash differs from the
/// record.
TokenizerPtr kept_tokenizer(const TokenizerRecord& record, const std::filesystem::path& kept,
                            std::string_view where, const std::string& manifest);

}  // namespace farfield::data
