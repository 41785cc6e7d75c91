#include "data/corpus.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "data/formats/open.h"
#include "data/manifest.h"
#include "data/tokenizers/make.h"
#include "data/tokenizers/unknown.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/file_error.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "corpus";

// Where each document begins whose end stands before it.
std::vector<int64_t> begins_at_marks(const Tokens& tokens, int32_t mark) {
  std::vector<int64_t> begins = document_begins(tokens, mark);  // one behind each mark
  begins.erase(begins.begin());
  for (int64_t& begin : begins) --begin;
  if (begins.empty() || begins.front() > 0) begins.insert(begins.begin(), 0);
  begins.push_back(tokens.size());
  return begins;
}

// Whether that is the name of the token that ends documents.
bool ends_documents(const Tokenizer& tokenizer, const std::string& name) {
  const int32_t end = tokenizer.end_of_document();
  if (!tokenizer.has_text()) return name == std::to_string(end);
  const std::string& file = tokenizer.file();
  return !file.empty() &&  // built in, its end has no name
         read_tokenizer(tokenizer.name(), tokenizer.name(), file, {.end_of_text = name})
                 ->end_of_document() == end;
}

}  // namespace

TokenizerPtr named_tokenizer(const CorpusOptions& options) {
  const std::string& end = options.end_of_text;
  if (!options.vocab_size)
    return options.tokenizer.empty() ? nullptr
                                     : make_tokenizer(options.tokenizer, {.end_of_text = end});
  require<ConfigError>(options.tokenizer.empty(), kWhere,
                       "expected --tokenizer or --vocab-size, got both");
  int64_t id = Tokenizer::kNone;
  const auto [last, error] = std::from_chars(end.data(), end.data() + end.size(), id);
  require<ConfigError>(end.empty() || (error == std::errc() && last == end.data() + end.size()),
                       kWhere, "--end-of-text: expected the id of a token with --vocab-size, got '",
                       end, "'");
  return std::make_shared<UnknownTokenizer>(*options.vocab_size, id);
}

Corpus Corpus::open(const fs::path& path, const CorpusOptions& options) {
  CorpusParts parts = open_parts(path, options);
  const Tokenizer& found = *parts.tokenizer;
  if (const TokenizerPtr named = named_tokenizer(options)) {
    const std::string& name = options.tokenizer.empty() ? named->name() : options.tokenizer;
    require<ConfigError>(found.hash() == named->hash(), kWhere, path.string(),
                         ": expected --tokenizer '", found.name(), "' (hash ", found.hash(),
                         "), which made its tokens, got '", name, "' (hash ", named->hash(),
                         "); leave the option out");
  }
  const std::string& end = options.end_of_text;
  require<ConfigError>(end.empty() || ends_documents(found, end), kWhere, path.string(),
                       ": expected no --end-of-text, or the token that ends its documents (id ",
                       found.end_of_document(), "), got '", end, "'; leave --end-of-text out");
  if (options.model_tokenizer != nullptr) {
    const Tokenizer& wanted = *options.model_tokenizer;
    require<ConfigError>(found.hash() == wanted.hash(), kWhere, path.string(),
                         ": expected tokens of the tokenizer '", wanted.name(), "' (hash ",
                         wanted.hash(), "), which the model was trained with, got those of '",
                         found.name(), "' (hash ", found.hash(),
                         "); prepare the text again with the model's tokenizer");
  }
  if (!found.has_text())
    parts.notes.push_back(concat(
        path.string(), ": only the number of ids is known (", found.n_vocab(),
        "), not what text they stand for: losses are per token, and bytes per token are unknown"));
  if (found.end_of_document() == Tokenizer::kNone)
    parts.notes.push_back(concat(path.string(), ": no token ends documents",
                                 parts.document_begins ? "" : ", so each split is one document"));
  return Corpus(std::move(parts));
}

Corpus Corpus::without_text(TokenizerPtr tokenizer, const std::string& hash) {
  CorpusParts parts;
  parts.format = "task";
  parts.tokenizer = std::move(tokenizer);
  parts.split_rule = "none, its samples are drawn";
  parts.hash = hash;
  return Corpus(std::move(parts));
}

size_t Corpus::index_of(std::string_view name) const {
  const auto found = std::find(kSplits.begin(), kSplits.end(), name);
  static constexpr Synonym kSynonyms[] = {{"training", "train"}, {"validation", "valid"},
                                          {"val", "valid"},      {"dev", "valid"},
                                          {"eval", "valid"},     {"testing", "test"}};
  require<ConfigError>(found != kSplits.end(), kWhere,
                       "expected the split train, valid or test, got '", name, "'",
                       did_you_mean(name, {kSplits.begin(), kSplits.end()}, kSynonyms));
  require<ConfigError>(has_split(name), kWhere, "expected a split that the corpus has, got '", name,
                       "'; its splits: ", parts_.split_rule);
  return static_cast<size_t>(found - kSplits.begin());
}

bool Corpus::has_split(std::string_view name) const {
  const auto found = std::find(kSplits.begin(), kSplits.end(), name);
  return found != kSplits.end() &&
         parts_.splits[static_cast<size_t>(found - kSplits.begin())].tokens.size() > 0;
}

const Tokens& Corpus::split(std::string_view name) const {
  return parts_.splits[index_of(name)].tokens;
}

const TokenCounts& Corpus::counts(std::string_view name) const {
  return parts_.splits[index_of(name)].counts;
}

const std::string& Corpus::recorded_hash(std::string_view name) const {
  return parts_.splits[index_of(name)].hash;
}

std::vector<int64_t> Corpus::document_begins(std::string_view name) const {
  const size_t i = index_of(name);
  if (parts_.document_begins) return parts_.document_begins(i);
  const Tokens& tokens = parts_.splits[i].tokens;
  const int32_t mark = tokenizer().end_of_document();
  if (parts_.mark == DocumentMark::end_behind) return data::document_begins(tokens, mark);
  std::vector<int64_t> begins = begins_at_marks(tokens, mark);
  if (parts_.is_cut[i]) begins.pop_back();
  return begins;
}

std::string Corpus::verify(std::string_view name, const Tokens::Watch& watch) const {
  const Tokens& tokens = parts_.splits[index_of(name)].tokens;
  std::string hash = data::verify(parts_.splits[index_of(name)], watch);
  const int64_t period = parts_.document_tokens + 1;
  if (period == 1) return hash;
  const std::vector<int64_t> begins = document_begins(name);
  for (size_t i = 0; i < begins.size(); ++i)
    require<IoError>(begins[i] == static_cast<int64_t>(i) * period, kWhere, tokens.place(0).file,
                     ": expected documents of ", parts_.document_tokens,
                     " tokens, as the manifest says, got document ", i, " at token ", begins[i],
                     "; make the corpus again with prepare");
  return hash;
}

std::array<std::string, 3> Corpus::verify(const Tokens::Watch& watch) const {
  std::array<std::string, 3> hashes;
  for (size_t i = 0; i < kSplits.size(); ++i)
    if (parts_.splits[i].tokens.size() > 0) hashes[i] = verify(kSplits[i], watch);
  return hashes;
}

std::string corpus_hash(const fs::path& path, const CorpusOptions& options) {
  try {
    if (is_corpus_folder(path)) return read_manifest(path).hash;
    return open_parts(path, options).hash;
  } catch (const PermissionError&) {
    throw;
  } catch (const IoError&) {
    return "";
  } catch (const ConfigError&) {
    return "";
  }
}

}  // namespace farfield::data
