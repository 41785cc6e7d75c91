#include "apps/run/corpus.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include "data/corpus.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"

namespace fs = std::filesystem;

namespace farfield::run {
namespace {

// The absolute path without links, or with those that cannot be followed.
fs::path real_path(const fs::path& path) {
  std::error_code status;
  const fs::path absolute = fs::absolute(path, status);
  const fs::path found = fs::weakly_canonical(absolute, status);
  return status ? absolute.lexically_normal() : found;
}

struct Record {
  std::string hash;
  CorpusPlace place;
};

// What manifest.json says; empty where it says nothing.
Record read_record(const fs::path& file) {
  std::error_code status;
  if (!fs::exists(file, status)) return {};
  const Json json = read_json({"manifest", file.string(), read_file(file)});
  if (!json.is_object() || !json.contains("data") || !json["data"].is_object()) return {};
  const auto text = [&data = json["data"]](const char* key) {
    return data.contains(key) && data[key].is_string() ? data[key].get<std::string>() : "";
  };
  return {text("hash"), {text("absolute"), text("from_run")}};
}

// Where to look when it is not where config.conf says.
std::vector<fs::path> other_places(const fs::path& run, const fs::path& data,
                                   const CorpusPlace& place) {
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

}  // namespace

CorpusPlace corpus_place(const fs::path& data, const fs::path& run) {
  if (data.empty()) return {};
  const fs::path corpus = real_path(data);
  return {corpus.string(), corpus.lexically_relative(real_path(run)).string()};
}

std::string find_corpus(const RunFolder& run) {
  const std::string data = value_of(run.config(), "data");
  const Record record = read_record(run.manifest());
  const auto is_it = [&](const fs::path& folder) {
    const std::string hash = data::corpus_hash(folder);
    return !hash.empty() && (record.hash.empty() || hash == record.hash);
  };
  if (!data.empty() && is_it(data)) return data;
  const std::vector<fs::path> places = other_places(run.path(), data, record.place);
  const auto found = std::find_if(places.begin(), places.end(), is_it);
  if (found != places.end()) return found->string();
  std::error_code status;
  if (!data.empty() && fs::exists(data, status)) return data;
  std::string looked;
  for (const fs::path& place : places)
    if (place == places.front() || place == places.back()) looked += ", nor at " + place.string();
  fail<IoError>("run", run.path().string(), ": expected the corpus that it was trained on",
                record.hash.empty() ? "" : " (hash " + record.hash + ")", ", got none at ",
                data.empty() ? "any place" : data, looked, "; name its folder with --data");
}

}  // namespace farfield::run
