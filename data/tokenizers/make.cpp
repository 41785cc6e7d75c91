#include "data/tokenizers/make.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "data/tasks/task_tokenizer.h"
#include "data/tokenizers/bpe.h"
#include "data/tokenizers/bytes.h"
#include "data/tokenizers/other_kinds.h"
#include "data/tokenizers/tiktoken.h"
#include "data/tokenizers/tokenizer_json.h"
#include "data/tokenizers/unknown.h"
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

// The kind of a file, recognised from its text.
enum class FileKind { tokenizer_json, vocabulary, merges, tiktoken };

// Looks at the first entry of a JSON object: a key with a number is an entry of a vocabulary, and
// the first key of a tokenizer.json has no number.
bool is_vocabulary(std::string_view text) {
  const size_t colon = text.find("\":");
  if (colon == std::string_view::npos) return false;
  const size_t value = text.find_first_not_of(" \t\r\n", colon + 2);
  return value != std::string_view::npos && text[value] >= '0' && text[value] <= '9';
}

// A protobuf message that begins with a piece: its size, the piece, and "<unk>", "<pad>" or a
// similar token.
bool looks_like_sentencepiece(std::string_view text) {
  return text.size() > 5 && text[0] == '\n' && text[2] == '\n' &&
         static_cast<size_t>(text[1]) > static_cast<size_t>(text[3]) && text[4] == '<';
}

FileKind kind_of(const std::string& file, std::string_view text) {
  require<IoError>(!looks_like_sentencepiece(text), kWhere, file, ": expected byte-level BPE, got ",
                   kSentencePiece);
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
    if (is_there(folder / name)) return folder / name;
  return {};
}

// Without the mark that some editors of Windows put in front of UTF-8.
std::string read_text_file(const fs::path& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string text = read_file(path);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

BpeDefinition read_pair(const fs::path& vocabulary, const fs::path& merges) {
  const auto read = [](const fs::path& path) {
    return NamedText{path.string(), read_text_file(path)};
  };
  const auto sibling = [&](const char* name) {
    const fs::path path = vocabulary.parent_path() / name;
    return is_there(path) ? read(path) : NamedText();
  };
  return read_vocab_merges(read(vocabulary), read(merges),
                           {sibling("added_tokens.json"), sibling("special_tokens_map.json"),
                            sibling("tokenizer_config.json")});
}

// The error for a folder without supported files names its contents.
void refuse_other_kinds(const fs::path& folder) {
  const auto refuse = [&](const char* name, std::string_view kind) {
    require<IoError>(!is_there(folder / name), kWhere, (folder / name).string(),
                     ": expected byte-level BPE, got ", kind);
  };
  for (const char* name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
    refuse(name, kSentencePiece);
  refuse("vocab.txt", kWordPiece);
}

TokenizerPtr read_files(const std::string& name, const fs::path& path,
                        const TokenizerOptions& options) {
  const auto bpe = [&](BpeDefinition definition) {
    return std::make_shared<BpeTokenizer>(name, std::move(definition), options);
  };
  const std::string file = path.string();
  if (is_folder(path)) {
    if (is_there(path / kTokenizerFile)) return read_files(name, path / kTokenizerFile, options);
    const fs::path vocabulary = partner(path, kVocabularies), merges = partner(path, kMerges);
    if (vocabulary.empty() && merges.empty()) refuse_other_kinds(path);
    require<ConfigError>(!vocabulary.empty() && !merges.empty(), kWhere, file, ": expected ",
                         kTokenizerFile, ", or ", listed(kVocabularies, " or "), " with ",
                         listed(kMerges, " or "), " in the folder, got none");
    return bpe(read_pair(vocabulary, merges));
  }
  const std::string text = read_text_file(path);
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
  const std::string name = (is_folder(path) ? last.filename() : last.stem()).string();
  return name.empty() ? "bpe" : name;
}

// The remedy for a name that is neither built in nor an existing path.
std::string way_out(const std::string& name) {
  const std::string meant = did_you_mean(name, tokenizer_names());
  if (name.empty() || !meant.empty()) return meant;
  constexpr std::string_view kIsNone = ", which is no file or folder; ";
  for (const char* ending : {".json", ".tiktoken"})
    if (is_there(name + ending)) return concat(kIsNone, "did you mean ", name, ending, '?');
  return concat(kIsNone,
                "of a published tokenizer download tokenizer.json, or vocab.json and "
                "merges.txt, into a folder and name that");
}

}  // namespace

std::vector<std::string> tokenizer_names() { return {"bytes"}; }

TokenizerPtr built_in_tokenizer(std::string_view name) {
  if (name == "bytes") return std::make_shared<ByteTokenizer>();
  if (TokenizerPtr of_task = TaskTokenizer::of_name(name)) return of_task;
  return UnknownTokenizer::of_name(name);
}

TokenizerPtr make_tokenizer(const std::string& name_or_path, const TokenizerOptions& options) {
  if (TokenizerPtr built_in = built_in_tokenizer(name_or_path)) {
    require<ConfigError>(options.end_of_text.empty(), kWhere,
                         "expected no --end-of-text for the tokenizer ", name_or_path,
                         ", which knows the end of documents, got '", options.end_of_text,
                         "'; leave --end-of-text out");
    return built_in;
  }
  const fs::path path = name_or_path;
  if (name_or_path.empty() || !is_there(path))
    fail<ConfigError>(kWhere, "expected the name of a tokenizer (", joined(tokenizer_names()),
                      ") or the path of one, got '", name_or_path, "'", way_out(name_or_path));
  return read_files(name_of(path), path, options);
}

TokenizerPtr read_tokenizer(const std::string& name, const std::string& file,
                            const std::string& text, const TokenizerOptions& options) {
  if (is_words_json(file, text))
    return std::make_shared<WordsTokenizer>(name, read_words_json(file, text), options);
  return std::make_shared<BpeTokenizer>(name, read_tokenizer_json(file, text), options);
}

}  // namespace farfield::data
