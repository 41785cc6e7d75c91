#include "data/tokenizers/make.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "data/tokenizers/bpe.h"
#include "data/tokenizers/bytes.h"
#include "data/tokenizers/tiktoken.h"
#include "data/tokenizers/tokenizer_json.h"
#include "data/tokenizers/vocab_merges.h"
#include "data/tokenizers/words.h"
#include "data/tokenizers/words_json.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "tokenizer";
constexpr std::array<const char*, 2> kVocabularies = {"vocab.json", "encoder.json"};
constexpr std::array<const char*, 2> kMerges = {"merges.txt", "vocab.bpe"};

// What a file is, told from its text.
enum class FileKind { tokenizer_json, vocabulary, merges, tiktoken };

// Of an object in JSON, the first key that a tokenizer.json has at its top, or a vocabulary has
// nowhere: a string with a number is an entry of a vocabulary.
bool is_vocabulary(std::string_view text) {
  const size_t colon = text.find("\":");
  if (colon == std::string_view::npos) return false;
  const size_t value = text.find_first_not_of(" \t\r\n", colon + 2);
  return value != std::string_view::npos && text[value] >= '0' && text[value] <= '9';
}

FileKind kind_of(const std::string& file, std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    return is_vocabulary(text) ? FileKind::vocabulary : FileKind::tokenizer_json;
  if (looks_like_tiktoken(text)) return FileKind::tiktoken;
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
  if (line.starts_with("#version") || (line.size() < 256 && line.find(' ') != line.npos))
    return FileKind::merges;
  fail<IoError>(kWhere, file,
                ": expected a tokenizer.json, vocab.json, merges.txt or a tiktoken "
                "file, got something else");
}

// The first of the names that the folder has.
fs::path partner(const fs::path& folder, const std::array<const char*, 2>& names) {
  for (const char* name : names)
    if (fs::exists(folder / name)) return folder / name;
  return {};
}

BpeDefinition read_pair(const fs::path& vocabulary, const fs::path& merges) {
  const std::string vocabulary_text = read_file(vocabulary), merges_text = read_file(merges);
  const std::string vocabulary_name = vocabulary.string(), merges_name = merges.string();
  return read_vocab_merges({vocabulary_name, vocabulary_text}, {merges_name, merges_text});
}

TokenizerPtr read_files(const std::string& name, const fs::path& path,
                        const TokenizerOptions& options) {
  const auto bpe = [&](BpeDefinition definition) {
    return std::make_shared<BpeTokenizer>(name, std::move(definition), options);
  };
  const std::string file = path.string();
  if (fs::is_directory(path)) {
    if (fs::exists(path / kTokenizerFile)) return read_files(name, path / kTokenizerFile, options);
    const fs::path vocabulary = partner(path, kVocabularies), merges = partner(path, kMerges);
    require<ConfigError>(!vocabulary.empty() && !merges.empty(), kWhere, file, ": expected ",
                         kTokenizerFile, ", or ", listed(kVocabularies, " or "), " with ",
                         listed(kMerges, " or "), " in the folder, got none");
    return bpe(read_pair(vocabulary, merges));
  }
  const std::string text = read_file(path);
  switch (kind_of(file, text)) {
    case FileKind::tokenizer_json:
      return read_tokenizer(name, file, text, options);
    case FileKind::tiktoken:
      return bpe(read_tiktoken(file, text, options.pattern));
    case FileKind::vocabulary: {
      const fs::path merges = partner(path.parent_path(), kMerges);
      require<ConfigError>(!merges.empty(), kWhere, file, ": expected ", listed(kMerges, " or "),
                           " beside this vocabulary, got none");
      return bpe(read_pair(path, merges));
    }
    case FileKind::merges:
      break;
  }
  const fs::path vocabulary = partner(path.parent_path(), kVocabularies);
  require<ConfigError>(!vocabulary.empty(), kWhere, file, ": expected ",
                       listed(kVocabularies, " or "), " beside these merges, got none");
  return bpe(read_pair(vocabulary, path));
}

std::string name_of(const fs::path& path) {
  const fs::path clean = fs::absolute(path).lexically_normal();
  const fs::path last = clean.filename().empty() ? clean.parent_path() : clean;
  const std::string name = (fs::is_directory(path) ? last.filename() : last.stem()).string();
  return name.empty() ? "bpe" : name;
}

}  // namespace

std::vector<std::string> tokenizer_names() { return {"bytes"}; }

TokenizerPtr built_in_tokenizer(std::string_view name) {
  if (name == "bytes") return std::make_shared<ByteTokenizer>();
  return nullptr;
}

TokenizerPtr make_tokenizer(const std::string& name_or_path, const TokenizerOptions& options) {
  if (TokenizerPtr built_in = built_in_tokenizer(name_or_path)) return built_in;
  const fs::path path = name_or_path;
  require<ConfigError>(!name_or_path.empty() && fs::exists(path), kWhere,
                       "expected the name of a tokenizer (", joined(tokenizer_names()),
                       ") or the path of one, got '", name_or_path, "'",
                       did_you_mean(name_or_path, tokenizer_names()));
  return read_files(name_of(path), path, options);
}

TokenizerPtr read_tokenizer(const std::string& name, const std::string& file,
                            const std::string& text, const TokenizerOptions& options) {
  if (is_words_json(file, text))
    return std::make_shared<WordsTokenizer>(name, read_words_json(file, text), options);
  return std::make_shared<BpeTokenizer>(name, read_tokenizer_json(file, text), options);
}

}  // namespace farfield::data
