#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "data/tokenizer.h"

namespace farfield::data {

/// What the manifest of a corpus or a run records of the tokenizer that lies beside it.
struct TokenizerRecord {
  std::string name, hash;
  int64_t end_of_document = -1;  ///< its id; -1: not recorded
};

TokenizerRecord record_of(const Tokenizer& tokenizer);

/// The tokenizer of a record: what `kept` holds, or where there is no such file the one that is
/// built in under the name. IoError, "[where] manifest: ...", when there is neither, and when its
/// hash is not the recorded one.
TokenizerPtr kept_tokenizer(const TokenizerRecord& record, const std::filesystem::path& kept,
                            std::string_view where, const std::string& manifest);

}  // namespace farfield::data
