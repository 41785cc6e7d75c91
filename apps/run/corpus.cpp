#include "apps/run/corpus.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <vector>

#include "apps/run/config.h"
#include "apps/run/place.h"
#include "data/tokenizers/kept.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_error.h"
#include "engine/base/json.h"

namespace fs = std::filesystem;

namespace farfield::run {
namespace {

struct Record {
  std::string hash;
  Place place;
};

// The record of a corpus in manifest.json; empty without one.
Record record_of(const Json& data) { return {text_member(data, "hash"), read_place(data)}; }

// The records of a run's corpora in manifest.json, in the order of its --data.
std::vector<Record> read_records(const RunFolder& run) {
  const Json json = read_manifest(run);
  if (!json.is_object() || !json.contains("data")) return {};
  const Json& data = json["data"];
  if (!data.is_object() || !data.contains("mixture") || !data["mixture"].is_array())
    return {record_of(data)};
  std::vector<Record> records;
  for (const Json& one : data["mixture"]) records.push_back(record_of(one));
  return records;
}

// Where to look when it is not where config.conf says.
std::vector<fs::path> other_places(const fs::path& run, const fs::path& data, const Place& place) {
  std::vector<fs::path> places;
  const fs::path folder = real_path(run);
  if (!place.from_run.empty()) {
    places.push_back((folder / place.from_run).lexically_normal());
  } else if (!data.empty() && data.is_relative()) {
    for (fs::path parent = folder; parent.has_relative_path();) {
      parent = parent.parent_path();
      places.push_back((parent / data).lexically_normal());
    }
  }
  if (!place.absolute.empty()) places.emplace_back(place.absolute);
  return places;
}

// Of a RunConfig or a ResolvedConfig.
template <class Config>
data::CorpusOptions options_of(const Config& config, const data::TokenizerPtr& model_tokenizer) {
  data::CorpusOptions options;
  options.tokenizer = config.tokenizer.value_or("");
  options.vocab_size = config.vocab_size;
  options.end_of_text = config.end_of_text.value_or("");
  options.model_tokenizer = model_tokenizer;
  options.id_type = config.data_type.value_or("");
  options.split = config.data_split.value_or("");
  return options;
}

std::string find_one(const RunFolder& run, const std::string& data, const Record& record,
                     const data::CorpusOptions& options) {
  std::exception_ptr forbidden;  // what may not be read is said where nothing else is found
  const auto is_it = [&](const fs::path& path) {
    try {
      const std::string hash = data::corpus_hash(path, options);
      return !hash.empty() && (record.hash.empty() || hash == record.hash);
    } catch (const PermissionError&) {
      if (!forbidden) forbidden = std::current_exception();
      return false;
    }
  };
  if (!data.empty() && is_it(data)) return data;
  const std::vector<fs::path> places = other_places(run.path(), data, record.place);
  const auto found = std::find_if(places.begin(), places.end(), is_it);
  if (found != places.end()) return found->string();
  if (forbidden) std::rethrow_exception(forbidden);
  if (!data.empty() && is_there(data)) return data;
  std::string looked;
  for (const fs::path& place : places)
    if (place == places.front() || place == places.back()) looked += ", nor at " + place.string();
  fail<IoError>("run", run.path().string(), ": expected the corpus that it was trained on",
                record.hash.empty() ? "" : " (hash " + record.hash + ")", ", got none at ",
                data.empty() ? "any place" : data, looked, "; name its folder with --data");
}

}  // namespace

data::TokenizerPtr tokenizer_of(const RunFolder& run) {
  const Json json = read_manifest(run);
  if (!json.is_object() || !json.contains("tokenizer") || !json["tokenizer"].is_object())
    return nullptr;
  const Json& tokenizer = json["tokenizer"];
  data::TokenizerRecord record = {text_member(tokenizer, "name"), text_member(tokenizer, "hash")};
  if (record.name.empty()) return nullptr;
  if (tokenizer.contains("end_of_document") && tokenizer["end_of_document"].is_number_integer())
    record.end_of_document = tokenizer["end_of_document"].get<int64_t>();
  return data::kept_tokenizer(record, run.tokenizer(), "run", run.manifest().string());
}

data::CorpusOptions corpus_options(const ResolvedConfig& config,
                                   const data::TokenizerPtr& model_tokenizer) {
  return options_of(config, model_tokenizer);
}

std::vector<DataUse> find_data(const RunFolder& run) {
  const RunConfig config = to_run_config((run.path() / "config.conf").string(), run.config());
  if (config.task) return {};
  require<ConfigError>(
      !config.imported, "run", run.path().string(),
      ": expected --data CORPUS, since the text that an imported model was trained "
      "on is not known");
  const std::vector<Record> records = read_records(run);
  const data::CorpusOptions options = options_of(config, tokenizer_of(run));
  std::vector<DataUse> found;
  for (size_t i = 0; i < std::max(config.data.size(), size_t{1}); ++i) {
    const DataUse use = config.data.empty() ? DataUse() : parse_data_use(config.data[i]);
    const Record record = i < records.size() ? records[i] : Record();
    found.push_back({find_one(run, use.path, record, options), use.weight});
  }
  return found;
}

std::string find_corpus(const RunFolder& run) { return find_data(run).front().path; }

}  // namespace farfield::run
