#include "apps/generation/prompt.h"

#include "apps/run/corpus.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/input_file.h"

namespace farfield::generation {
namespace {

constexpr std::string_view kWhere = "generate";

std::string all_of_standard_input() {
  constexpr size_t kPieceBytes = 4096;
  InputFile file = InputFile::standard_input();
  std::string text;
  for (size_t got = kPieceBytes; got > 0;) {
    const size_t before = text.size();
    text.resize(before + kPieceBytes);
    got = file.read(text.data() + before, kPieceBytes);
    text.resize(before + got);
  }
  return text;
}

}  // namespace

std::string read_prompt(const std::string& word) {
  if (word == "-") return all_of_standard_input();
  if (word.starts_with('@')) return read_file(word.substr(1));
  return word;
}

data::TokenizerPtr text_tokenizer_of(const run::LoadedRun& run) {
  const std::string path = run.folder.path().string();
  require<ConfigError>(run.config.task.empty(), kWhere, path,
                       ": expected a run that was trained on text, got one that was trained on ",
                       run.config.task, "; eval --protocol task measures it");
  require<ConfigError>(!run.config.is_masked(), kWhere, path,
                       ": expected a causal model, got an encoder that was trained on masked text");
  data::TokenizerPtr tokenizer = run::tokenizer_of(run.folder);
  require<ConfigError>(tokenizer != nullptr && tokenizer->has_text(), kWhere, path,
                       ": expected a run whose tokenizer knows text, got one that knows numbers "
                       "alone; train --tokenizer names one");
  return tokenizer;
}

std::vector<int32_t> tokens_of_prompt(const data::Tokenizer& tokenizer, const std::string& prompt) {
  // What stands in front of each text in training, for tokenizers that say it.
  std::vector<int32_t> ids(tokenizer.begin_of_text().begin(), tokenizer.begin_of_text().end());
  tokenizer.encode(prompt, ids);
  if (!ids.empty()) return ids;
  require<ConfigError>(tokenizer.end_of_document() != data::Tokenizer::kNone, kWhere,
                       "--prompt: expected a text of at least one token, got '", prompt,
                       "', and the tokenizer has no token that ends documents, to begin behind; "
                       "--prompt TEXT");
  return {tokenizer.end_of_document()};
}

}  // namespace farfield::generation
