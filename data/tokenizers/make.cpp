#include "data/tokenizers/make.h"

#include "data/tokenizers/bytes.h"
#include "engine/base/error.h"

namespace farfield::data {

std::vector<std::string> tokenizer_names() { return {"bytes"}; }

TokenizerPtr built_in_tokenizer(std::string_view name) {
  if (name == "bytes") return std::make_shared<ByteTokenizer>();
  return nullptr;
}

TokenizerPtr make_tokenizer(const std::string& name_or_path, const TokenizerOptions&) {
  if (TokenizerPtr built_in = built_in_tokenizer(name_or_path)) return built_in;
  fail<ConfigError>("tokenizer", "expected the name of a tokenizer (bytes), got '", name_or_path,
                    "'", did_you_mean(name_or_path, tokenizer_names()));
}

TokenizerPtr read_tokenizer(const std::string& name, const std::string& file, const std::string&,
                            const TokenizerOptions&) {
  fail<IoError>("tokenizer", file, ": expected a tokenizer that this version has, got '", name,
                "'");
}

}  // namespace farfield::data
