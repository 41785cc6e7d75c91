#include "data/corpus.h"

#include <algorithm>
#include <utility>

#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "corpus";
constexpr std::string_view kFormat = "farfield corpus";
constexpr int kVersion = 1;

fs::path manifest_path(const fs::path& folder) { return folder / "manifest.json"; }

// A member of a JSON object, of the type that T is; IoError otherwise.
template <class T>
T member(const Json& object, const std::string& key, const std::string& file) {
  try {
    return object.at(key).get<T>();
  } catch (const Json::exception&) {
    fail<IoError>(kWhere, file, ": expected a corpus manifest with a proper '", key,
                  "', got one without; make the corpus again with prepare");
  }
}

Json read_manifest(const fs::path& folder) {
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

std::string Manifest::hash() const {
  Hasher hasher;
  hasher.update(tokenizer_hash);
  for (const Split& split : splits) hasher.update(split.hash);
  return hasher.hex();
}

void write_manifest(const fs::path& folder, const Manifest& manifest) {
  Json j;
  j["format"] = kFormat;
  j["version"] = kVersion;
  j["hash"] = manifest.hash();
  const Tokenizer tokenizer = Tokenizer::make(manifest.tokenizer);
  j["tokenizer"] = {{"name", manifest.tokenizer},
                    {"hash", manifest.tokenizer_hash},
                    {"n_vocab", manifest.n_vocab},
                    {"end_of_document", tokenizer.end_of_document()}};
  j["vocab_size"] = padded_vocab_size(manifest.n_vocab);
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
  // A path need not be UTF-8.
  write_file_atomic(manifest_path(folder),
                    j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool is_corpus(const fs::path& folder) {
  try {
    read_manifest(folder);
    return true;
  } catch (const IoError&) {
    return false;
  }
}

std::string corpus_hash(const fs::path& folder) {
  try {
    return member<std::string>(read_manifest(folder), "hash", manifest_path(folder).string());
  } catch (const IoError&) {
    return "";
  }
}

Corpus Corpus::open(const fs::path& folder) {
  const std::string file = manifest_path(folder).string();
  const Json manifest = read_manifest(folder);
  const auto described = member<Json>(manifest, "tokenizer", file);
  const auto splits = member<Json>(manifest, "splits", file);
  Tokenizer tokenizer = [&] {
    const auto name = member<std::string>(described, "name", file);
    try {
      return Tokenizer::make(name);
    } catch (const ConfigError&) {
      fail<IoError>(kWhere, file, ": expected a tokenizer that this version has, got '", name, "'");
    }
  }();
  const auto tokenizer_hash = member<std::string>(described, "hash", file);
  require<IoError>(tokenizer_hash == tokenizer.hash(), kWhere, file, ": expected the tokenizer '",
                   tokenizer.name(), "' with hash ", tokenizer.hash(), ", got ", tokenizer_hash);

  std::vector<TokenFile> files;
  Manifest found;
  found.tokenizer_hash = tokenizer_hash;
  for (size_t i = 0; i < kSplits.size(); ++i) {
    const fs::path path = split_path(folder, kSplits[i]);
    files.push_back(TokenFile::open(path));
    require<IoError>(files[i].n_vocab() == tokenizer.n_vocab(), kWhere, path.string(),
                     ": expected a vocabulary of ", tokenizer.n_vocab(), ", got ",
                     files[i].n_vocab());
    const auto split = member<Json>(splits, std::string(kSplits[i]), file);
    const auto hash = member<std::string>(split, "hash", file);
    require<IoError>(hash == files[i].hash(), kWhere, path.string(), ": expected the hash ", hash,
                     " of the manifest, got ", files[i].hash(),
                     "; the file belongs to another corpus");
    require<IoError>(files[i].size() > 0, kWhere, path.string(), ": expected tokens, got none");
    // No hash covers these in the token file: here two records of them meet.
    const TokenCounts& counts = files[i].counts();
    for (const auto& [name, count] : {std::pair("documents", counts.documents),
                                      {"tokens", counts.tokens},
                                      {"bytes", counts.bytes}}) {
      const auto wanted = member<Json>(split, name, file);
      require<IoError>(wanted == count, kWhere, path.string(), ": expected ", wanted.dump(), ' ',
                       name, " as in ", file, ", got ", count,
                       "; one of the two is damaged, make the corpus again with prepare");
    }
    found.splits[i].hash = hash;
  }
  const auto hash = member<std::string>(manifest, "hash", file);
  require<IoError>(hash == found.hash(), kWhere, file, ": expected the hash ", found.hash(),
                   " of its tokenizer and splits, got ", hash, "; the file is damaged");
  return Corpus(std::move(tokenizer), std::move(files), found.hash());
}

const TokenFile& Corpus::split(std::string_view name) const {
  const auto found = std::find(kSplits.begin(), kSplits.end(), name);
  static constexpr Synonym kSynonyms[] = {{"training", "train"}, {"validation", "valid"},
                                          {"val", "valid"},      {"dev", "valid"},
                                          {"eval", "valid"},     {"testing", "test"}};
  require<ConfigError>(found != kSplits.end(), kWhere,
                       "expected the split train, valid or test, got '", name, "'",
                       did_you_mean(name, {kSplits.begin(), kSplits.end()}, kSynonyms));
  return splits_[static_cast<size_t>(found - kSplits.begin())];
}

}  // namespace farfield::data
