#include "data/tokenizers/kept.h"

#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace farfield::data {

TokenizerRecord record_of(const Tokenizer& tokenizer) {
  return {tokenizer.name(), tokenizer.hash(), tokenizer.end_of_document()};
}

TokenizerPtr kept_tokenizer(const TokenizerRecord& record, const std::filesystem::path& kept,
                            std::string_view where, const std::string& manifest) {
  TokenizerOptions options;
  require<IoError>(record.end_of_document <= INT32_MAX, where, manifest,
                   ": expected the id of a token to end documents with, got ",
                   record.end_of_document);
  if (record.end_of_document >= 0)
    options.end_of_document = static_cast<int32_t>(record.end_of_document);
  const TokenizerPtr tokenizer =
      is_there(kept) ? read_tokenizer(record.name, kept.string(), read_file(kept), options)
                     : built_in_tokenizer(record.name);
  require<IoError>(tokenizer != nullptr, where, manifest,
                   ": expected a tokenizer that this version has, got '", record.name, "' and no ",
                   kept.filename().string(), " beside it");
  require<IoError>(tokenizer->hash() == record.hash, where, manifest, ": expected the tokenizer '",
                   record.name, "' with hash ", tokenizer->hash(), ", got ", record.hash);
  return tokenizer;
}

}  // namespace farfield::data
