#include "data/manifest.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "corpus";
constexpr std::string_view kFormat = "farfield corpus";
constexpr int kVersion = 1;

fs::path manifest_path(const fs::path& folder) { return folder / "manifest.json"; }

// A member of a JSON object, of the type that T is; IoError otherwise. Numbers are whole ones: to
// make one of 1e64 is undefined.
template <class T>
T member(const Json& object, const std::string& key, const std::string& file) {
  try {
    const Json& value = object.at(key);
    if (!value.is_number_float()) return value.get<T>();
  } catch (const Json::exception&) {
  }
  fail<IoError>(kWhere, file, ": expected a corpus manifest with a proper '", key,
                "', got one without; make the corpus again with prepare");
}

Json read_json_of(const fs::path& folder) {
  const std::string file = manifest_path(folder).string();
  std::error_code error;
  require<IoError>(fs::exists(manifest_path(folder), error), kWhere, folder.string(),
                   ": expected a corpus, a folder with manifest.json, got none; make one with "
                   "prepare --output ",
                   folder.string());
  const Json manifest = read_json({kWhere, file, read_file(file)});
  require<IoError>(manifest.is_object(), kWhere, file,
                   ": expected a JSON object, got another value");
  const auto format = member<std::string>(manifest, "format", file);
  require<IoError>(format == kFormat, kWhere, file, ": expected the format '", kFormat, "', got '",
                   format, "'");
  const auto version = member<int64_t>(manifest, "version", file);
  require<IoError>(version == kVersion, kWhere, file, ": expected version ", kVersion, ", got ",
                   version);
  return manifest;
}

}  // namespace

fs::path split_path(const fs::path& folder, std::string_view split) {
  return folder / concat(split, ".tokens");
}

std::string manifest_hash(const std::string& tokenizer_hash,
                          const std::array<Manifest::Split, 3>& splits) {
  Hasher hasher;
  hasher.update(tokenizer_hash);
  for (const Manifest::Split& split : splits) hasher.update(split.hash);
  return hasher.hex();
}

std::string Manifest::hash() const { return manifest_hash(tokenizer->hash(), splits); }

void write_manifest(const fs::path& folder, const Manifest& manifest) {
  Json j;
  j["format"] = kFormat;
  j["version"] = kVersion;
  j["hash"] = manifest.hash();
  const Tokenizer& tokenizer = *manifest.tokenizer;
  j["tokenizer"] = {{"name", tokenizer.name()},
                    {"hash", tokenizer.hash()},
                    {"n_vocab", tokenizer.n_vocab()},
                    {"end_of_document", tokenizer.end_of_document()}};
  j["vocab_size"] = padded_vocab_size(tokenizer.n_vocab());
  j["split_rule"] = manifest.split_rule;
  for (size_t i = 0; i < kSplits.size(); ++i) {
    const Manifest::Split& split = manifest.splits[i];
    j["splits"][std::string(kSplits[i])] = {{"documents", split.counts.documents},
                                            {"tokens", split.counts.tokens},
                                            {"bytes", split.counts.bytes},
                                            {"hash", split.hash}};
  }
  j["sources"] = Json::array();
  for (const SourceRecord& source : manifest.sources)
    j["sources"].push_back({{"path", source.path},
                            {"files", source.files},
                            {"size_bytes", source.size_bytes},
                            {"hash", source.hash}});
  for (const auto& [name, value] : manifest.options) j["options"][name] = value;
  for (const auto& [name, count] : named_counts(manifest.skipped))
    j["skipped"][std::string(name)] = count;
  if (!tokenizer.file().empty()) write_file_atomic(folder / kTokenizerFile, tokenizer.file());
  // A path need not be UTF-8.
  write_file_atomic(manifest_path(folder),
                    j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

RecordedManifest read_manifest(const fs::path& folder) {
  const std::string file = manifest_path(folder).string();
  const Json manifest = read_json_of(folder);
  RecordedManifest read;
  const auto tokenizer = member<Json>(manifest, "tokenizer", file);
  read.tokenizer = {member<std::string>(tokenizer, "name", file),
                    member<std::string>(tokenizer, "hash", file),
                    member<int64_t>(tokenizer, "end_of_document", file)};
  read.hash = member<std::string>(manifest, "hash", file);
  if (manifest.contains("split_rule"))
    read.split_rule = member<std::string>(manifest, "split_rule", file);
  const auto splits = member<Json>(manifest, "splits", file);
  for (size_t i = 0; i < kSplits.size(); ++i) {
    const auto split = member<Json>(splits, std::string(kSplits[i]), file);
    read.splits[i] = {
        {member<int64_t>(split, "tokens", file), member<int64_t>(split, "documents", file),
         member<int64_t>(split, "bytes", file)},
        member<std::string>(split, "hash", file)};
  }
  return read;
}

bool is_corpus_folder(const fs::path& folder) {
  try {
    read_json_of(folder);
    return true;
  } catch (const IoError&) {
    return false;
  }
}

}  // namespace farfield::data
