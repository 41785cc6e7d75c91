#include "data/manifest.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_error.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "corpus";
constexpr std::string_view kFormat = "farfield corpus";
constexpr int kVersion = 1;
constexpr std::string_view kWithin = "within documents";

fs::path manifest_path(const fs::path& folder) { return folder / "manifest.json"; }

// IoError where there is no such member.
template <class T>
T manifest_member(const Json& object, const std::string& key, const std::string& file) {
  if (std::optional<T> value = whole_member<T>(object, key)) return *std::move(value);
  fail<IoError>(kWhere, file, ": expected a corpus manifest with a proper '", key,
                "', got one without; make the corpus again with prepare");
}

// The corpus recorded in the manifest of a run of `train`.
std::string corpus_of_run(const Json& manifest) {
  const auto data = whole_member<Json>(manifest, "data");
  const auto mixture = data ? whole_member<Json>(*data, "mixture") : std::nullopt;
  const auto path =
      data
          ? whole_member<std::string>(
                mixture && mixture->is_array() && !mixture->empty() ? (*mixture)[0] : *data, "path")
          : std::nullopt;
  return path ? "; its corpus is " + *path : "";
}

Json read_json_of(const fs::path& folder) {
  const std::string file = manifest_path(folder).string();
  const bool is_run = is_file(folder / "config.conf");
  const bool has_manifest = is_there(manifest_path(folder));
  require<IoError>(is_run || has_manifest, kWhere, folder.string(),
                   ": expected a corpus, a folder with manifest.json, got none; make one with "
                   "prepare --output ",
                   folder.string());
  const Json manifest = has_manifest ? read_json({kWhere, file, read_file(file)}) : Json::object();
  require<IoError>(manifest.is_object(), kWhere, file,
                   ": expected a JSON object, got another value");
  require<IoError>(!is_run || manifest.contains("format"), kWhere, folder.string(),
                   ": expected a corpus, got a run of `train`", corpus_of_run(manifest));
  const auto format = manifest_member<std::string>(manifest, "format", file);
  require<IoError>(format == kFormat, kWhere, file, ": expected the format '", kFormat, "', got '",
                   format, "'");
  const auto version = manifest_member<int64_t>(manifest, "version", file);
  require<IoError>(version == kVersion, kWhere, file, ": expected version ", kVersion, ", got ",
                   version);
  return manifest;
}

// Notes about the input files, for the manifest.
Json files_json(const FileNotes& notes) {
  Json files = Json::array();
  for (const FileNote& note : notes.all())
    files.push_back({{"path", note.file}, {"what", note.what}});
  return files;
}

// Members that a corpus of text has not.
void read_windows(const Json& manifest, const std::string& file, RecordedManifest& to) {
  if (manifest.contains("windows")) {
    const auto windows = manifest_member<std::string>(manifest, "windows", file);
    require<IoError>(windows == kWithin, kWhere, file, ": expected windows '", kWithin, "', got '",
                     windows, "'; this version does not know how to read the corpus");
    to.document_tokens = manifest_member<int64_t>(manifest, "document_tokens", file);
    require<IoError>(to.document_tokens > 0 && to.document_tokens < INT64_MAX, kWhere, file,
                     ": expected document_tokens above 0, got ", to.document_tokens);
  }
  if (manifest.contains("floor")) {
    const Json& floor = manifest["floor"];
    require<IoError>(floor.is_number() && floor.get<double>() >= 0, kWhere, file,
                     ": expected a floor of at least 0 nats, got something else");
    to.floor = floor.get<double>();
  }
}

}  // namespace

fs::path split_path(const fs::path& folder, std::string_view split) {
  return folder / concat(split, ".tokens");
}

std::string manifest_hash(const std::string& tokenizer_hash,
                          const std::array<Manifest::Split, 3>& splits, int64_t document_tokens) {
  Hasher hasher;
  hasher.update(tokenizer_hash);
  for (const Manifest::Split& split : splits) hasher.update(split.hash);
  if (document_tokens > 0) hasher.update(concat(kWithin, ' ', document_tokens));
  return hasher.hex();
}

std::string Manifest::hash() const {
  return manifest_hash(tokenizer->hash(), splits, document_tokens);
}

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
  if (manifest.document_tokens > 0) {
    j["windows"] = kWithin;
    j["document_tokens"] = manifest.document_tokens;
  }
  if (manifest.floor) j["floor"] = *manifest.floor;
  j["sources"] = Json::array();
  for (const SourceRecord& source : manifest.sources) {
    j["sources"].push_back({{"path", source.path},
                            {"files", source.files},
                            {"size_bytes", source.size_bytes},
                            {"hash", source.hash}});
    if (source.unread_files > 0) j["sources"].back()["unread_files"] = source.unread_files;
  }
  for (const auto& [name, value] : manifest.options) j["options"][name] = value;
  for (const auto& [name, count] : named_counts(manifest.skipped))
    j["skipped"][std::string(name)] = count;
  const FileNotes& files = manifest.skipped.files;
  if (!files.all().empty()) j["files"] = files_json(files);
  if (files.n_more() > 0) j["more_files"] = files.n_more();
  if (!tokenizer.file().empty()) write_file_atomic(folder / kTokenizerFile, tokenizer.file());
  write_file_atomic(manifest_path(folder), write_json(j, 2) + "\n");
}

RecordedManifest read_manifest(const fs::path& folder) {
  const std::string file = manifest_path(folder).string();
  const Json manifest = read_json_of(folder);
  RecordedManifest read;
  const auto tokenizer = manifest_member<Json>(manifest, "tokenizer", file);
  read.tokenizer = {manifest_member<std::string>(tokenizer, "name", file),
                    manifest_member<std::string>(tokenizer, "hash", file),
                    manifest_member<int64_t>(tokenizer, "end_of_document", file)};
  read.hash = manifest_member<std::string>(manifest, "hash", file);
  if (manifest.contains("split_rule"))
    read.split_rule = manifest_member<std::string>(manifest, "split_rule", file);
  const auto splits = manifest_member<Json>(manifest, "splits", file);
  for (size_t i = 0; i < kSplits.size(); ++i) {
    const auto split = manifest_member<Json>(splits, std::string(kSplits[i]), file);
    read.splits[i] = {{manifest_member<int64_t>(split, "tokens", file),
                       manifest_member<int64_t>(split, "documents", file),
                       manifest_member<int64_t>(split, "bytes", file)},
                      manifest_member<std::string>(split, "hash", file)};
  }
  read_windows(manifest, file, read);
  return read;
}

bool is_corpus_folder(const fs::path& folder) {
  try {
    if (!is_there(manifest_path(folder))) return false;
    read_json_of(folder);
    return true;
  } catch (const PermissionError&) {
    throw;
  } catch (const IoError&) {
    return false;
  }
}

void require_corpus_output(const fs::path& output, bool force) {
  require<ConfigError>(!output.empty(), "prepare",
                       "expected a folder for the corpus; name it with --output");
  if (!is_there(output) || is_empty_folder(output)) return;
  require<ConfigError>(is_corpus_folder(output), "prepare", output.string(),
                       ": expected a new folder for the corpus, got one with other things in it; "
                       "choose another --output");
  require<ConfigError>(force, "prepare", output.string(),
                       ": expected a new folder for the corpus, got one that holds a corpus; "
                       "--force replaces it");
}

}  // namespace farfield::data
