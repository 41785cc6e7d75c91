#include "data/formats/meta.h"

#include <algorithm>

#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "corpus";
constexpr std::string_view kFormat = "farfield meta";
constexpr std::string_view kAgain = "; the file is damaged, write it again with prepare convert";

// IoError where there is no such member.
template <class T>
T meta_member(const Json& object, const std::string& key, const std::string& file) {
  if (std::optional<T> value = whole_member<T>(object, key)) return *std::move(value);
  fail<IoError>(kWhere, file, ": expected a proper '", key, "', got none", kAgain);
}

// A whole number, or null if unknown.
int64_t count(const Json& object, const std::string& key, const std::string& file) {
  const auto value = meta_member<Json>(object, key, file);
  if (value.is_null()) return kUnknown;
  require<IoError>(value.is_number_integer() && value >= 0 && value <= INT64_MAX, kWhere, file,
                   ": expected '", key, "' to be a whole number of at least 0, got another value",
                   kAgain);
  return value.get<int64_t>();
}

Json or_null(int64_t value) { return value == kUnknown ? Json(nullptr) : Json(value); }

}  // namespace

MetaPaths meta_in(const fs::path& folder) {
  return {folder / "meta.json", folder / kTokenizerFile};
}

MetaPaths meta_beside(const fs::path& prefix) {
  return {prefix.string() + ".meta.json", concat(prefix.string(), '.', kTokenizerFile)};
}

std::optional<CorpusMeta> read_meta(const fs::path& path) {
  if (!is_there(path)) return std::nullopt;
  const std::string file = path.string();
  const Json json = read_json({kWhere, file, read_file(path)});
  if (!json.is_object() || json.value("format", Json()) != kFormat) return std::nullopt;
  const auto version = meta_member<int64_t>(json, "version", file);
  require<IoError>(version == 1, kWhere, file, ": expected version 1, got ", version);
  CorpusMeta meta;
  const auto tokenizer = meta_member<Json>(json, "tokenizer", file);
  meta.tokenizer = {meta_member<std::string>(tokenizer, "name", file),
                    meta_member<std::string>(tokenizer, "hash", file),
                    meta_member<int64_t>(json, "end_of_text", file)};
  meta.id_type = meta_member<std::string>(json, "dtype", file);
  meta.split_rule = meta_member<std::string>(json, "split_rule", file);
  const auto splits = meta_member<Json>(json, "splits", file);
  for (size_t i = 0; i < kSplits.size(); ++i) {
    const auto split = meta_member<Json>(splits, std::string(kSplits[i]), file);
    meta.counts[i] = {count(split, "tokens", file), count(split, "documents", file),
                      count(split, "bytes", file)};
    meta.is_cut[i] = meta_member<bool>(split, "last_is_cut", file);
    if (split.contains("hash")) meta.hashes[i] = meta_member<std::string>(split, "hash", file);
  }
  return meta;
}

void write_meta(const MetaPaths& paths, const CorpusMeta& meta, const Tokenizer& tokenizer,
                const std::vector<SourceRecord>& sources) {
  Json json;
  json["format"] = kFormat;
  json["version"] = 1;
  json["tokenizer"] = {
      {"name", tokenizer.name()}, {"hash", tokenizer.hash()}, {"n_vocab", tokenizer.n_vocab()}};
  json["dtype"] = meta.id_type;
  json["end_of_text"] = tokenizer.end_of_document();
  json["split_rule"] = meta.split_rule;
  TokenCounts sum;
  for (size_t i = 0; i < kSplits.size(); ++i) {
    const TokenCounts& counts = meta.counts[i];
    json["splits"][std::string(kSplits[i])] = {{"documents", or_null(counts.documents)},
                                               {"tokens", counts.tokens},
                                               {"bytes", or_null(counts.bytes)},
                                               {"last_is_cut", meta.is_cut[i]}};
    if (!meta.hashes[i].empty()) json["splits"][std::string(kSplits[i])]["hash"] = meta.hashes[i];
    const auto add = [](int64_t& to, int64_t n) {
      to = to == kUnknown || n == kUnknown ? kUnknown : to + n;
    };
    add(sum.documents, counts.documents);
    add(sum.tokens, counts.tokens);
    add(sum.bytes, counts.bytes);
  }
  json["documents"] = or_null(sum.documents);
  json["tokens"] = sum.tokens;
  json["bytes"] = or_null(sum.bytes);
  json["sources"] = Json::array();
  for (const SourceRecord& source : sources)
    json["sources"].push_back({{"path", source.path},
                               {"files", source.files},
                               {"size_bytes", source.size_bytes},
                               {"hash", source.hash}});
  if (tokenizer.file().empty()) {
    std::error_code ignored;  // of a corpus that is replaced
    fs::remove(paths.tokenizer, ignored);
  } else {
    write_file_atomic(paths.tokenizer, tokenizer.file());
  }
  write_file_atomic(paths.meta, write_json(json, 2) + "\n");
}

TokenizerPtr tokenizer_of(const std::string& corpus, const MetaPaths& paths,
                          const std::optional<CorpusMeta>& meta, const CorpusOptions& options) {
  const bool has_file = is_there(paths.tokenizer);
  if (meta.has_value())
    return kept_tokenizer(meta->tokenizer, paths.tokenizer, kWhere, paths.meta.string());
  if (TokenizerPtr named = named_tokenizer(options)) return named;
  const TokenizerOptions reading = {.end_of_text = options.end_of_text};
  if (has_file) return make_tokenizer(paths.tokenizer.string(), reading);
  const fs::path shared = paths.tokenizer.parent_path() / kTokenizerFile;
  if (is_there(shared)) return make_tokenizer(shared.string(), reading);
  require<ConfigError>(options.model_tokenizer != nullptr, kWhere, corpus,
                       ": expected the tokenizer that made its tokens, which the format does not "
                       "say, got none; name it with --tokenizer, or where you do not "
                       "have it give the number of its ids with --vocab-size");
  return options.model_tokenizer;
}

void take_counts(CorpusParts& parts, const CorpusMeta& meta, const fs::path& file) {
  for (size_t i = 0; i < kSplits.size(); ++i) {
    const TokenCounts& recorded = meta.counts[i];
    TokenCounts& counts = parts.splits[i].counts;
    require<IoError>(recorded.tokens == counts.tokens, kWhere, file.string(), ": expected ",
                     counts.tokens, " tokens in ", kSplits[i], " as in the files, got ",
                     recorded.tokens, "; one of them is damaged, or of another corpus");
    require<IoError>(recorded.documents <= std::max<int64_t>(counts.tokens, counts.documents),
                     kWhere, file.string(), ": expected at most ", counts.tokens, " documents in ",
                     kSplits[i], ", got ", recorded.documents, kAgain);
    require<IoError>(!meta.is_cut[i] || counts.tokens > 0, kWhere, file.string(),
                     ": expected documents in ", kSplits[i], ", whose last is cut, got none",
                     kAgain);
    counts.documents = recorded.documents;
    counts.bytes = recorded.bytes;
    parts.is_cut[i] = meta.is_cut[i];
    parts.splits[i].hash = meta.hashes[i];
  }
  parts.split_rule = meta.split_rule;
}

}  // namespace farfield::data
