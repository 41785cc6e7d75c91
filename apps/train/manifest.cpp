#include "apps/train/manifest.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>

#include "apps/cli/version.h"
#include "apps/run/corpus.h"
#include "apps/run/machine.h"
#include "apps/run/place.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/parallel.h"

namespace farfield::train {
namespace {

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Json call() {
  Json build;
  for (const auto& [name, value] : cli::build_facts()) build[name] = value;
  utsname system{};
  ::uname(&system);
  Json hardware = {
      {"processor", run::processor_name()},
      {"processors", ::sysconf(_SC_NPROCESSORS_ONLN)},
      {"memory_bytes", int64_t{::sysconf(_SC_PHYS_PAGES)} * int64_t{::sysconf(_SC_PAGE_SIZE)}},
      {"system", concat(system.sysname, ' ', system.release, ' ', system.machine)}};
  for (const auto& [name, value] : cli::processor_facts()) hardware[name] = value;
  return {{"time", now()}, {"build", build}, {"hardware", hardware}, {"threads", thread_count()}};
}

Json describe(const run::DataUse& use, const data::Corpus& corpus, const std::string& run) {
  Json splits;
  for (const auto name : data::kSplits)
    if (corpus.has_split(name)) splits[std::string(name)] = corpus.split(name).size();
  Json json = {{"path", use.path}};
  run::set_place(json, run::place_of(use.path, run));
  json["hash"] = corpus.hash();
  json["tokens"] = splits;
  return json;
}

// One corpus directly; several as a list with their weights, under a common hash.
Json describe(const run::ResolvedConfig& config, const run::TrainingData& data,
              const std::string& run) {
  if (!config.task.empty()) return {{"task", config.task}, {"hash", data.hash()}};
  if (data.corpora().size() == 1) return describe(config.data.front(), data.corpora().front(), run);
  Json json = {{"hash", data.hash()}, {"mixture", Json::array()}};
  for (size_t i = 0; i < data.corpora().size(); ++i) {
    json["mixture"].push_back(describe(config.data[i], data.corpora()[i], run));
    json["mixture"].back()["weight"] = data.weights()[i];
  }
  return json;
}

void set_products(Json& json, const std::string& products) {
  if (!products.empty()) json["products"] = {{"hash", hash_hex(products)}};
}

std::string text_of(const Json& json) { return write_json(json, 2) + "\n"; }

}  // namespace

std::string run_manifest(const run::ResolvedConfig& config, const run::TrainingData& data,
                         const ParameterCounts& parameters, const std::string& products,
                         const std::string& run, const std::vector<run::Ancestor>& lineage) {
  Json json = {{"config_hash", hash_hex(run::to_text(run::identity(config.settings)))},
               {"data", describe(config, data, run)},
               {"tokenizer",
                {{"name", data.tokenizer().name()},
                 {"hash", data.tokenizer().hash()},
                 {"end_of_document", data.tokenizer().end_of_document()}}},
               {"vocab_size", run::vocab_size_of(config, data)},
               {"parameters", parameters.all},
               {"started", call()},
               {"resumed", Json::array()}};
  set_products(json, products);
  if (config.is_masked()) json["mask_token"] = run::masking_of(config, data).mask_token;
  if (config.model.adapters) json["trained_parameters"] = parameters.trained;
  if (!lineage.empty()) json["lineage"] = run::to_json(lineage);
  return text_of(json);
}

std::string manifest_resumed(const std::string& name, const std::string& manifest, int64_t step,
                             const run::ResolvedConfig& config, const std::string& products,
                             const std::string& run) {
  Json json = read_json({"manifest", name, manifest});
  require<IoError>(json.is_object() && json.contains("resumed") && json["resumed"].is_array(),
                   "manifest", name, ": expected a JSON object with a list 'resumed'");
  Json entry = call();
  entry["step"] = step;
  json["resumed"].push_back(entry);
  if (json.contains("data") && json["data"].is_object()) {  // where the run finds it now
    Json& data = json["data"];
    const bool is_mixture = data.contains("mixture") && data["mixture"].is_array();
    for (size_t i = 0; i < (is_mixture ? data["mixture"].size() : 1); ++i) {
      Json& one = is_mixture ? data["mixture"][i] : data;
      if (i < config.data.size() && one.is_object())
        run::set_place(one, run::place_of(config.data[i].path, run));
    }
  }
  set_products(json, products);
  return text_of(json);
}

bool has_products(const std::string& name, const std::string& manifest,
                  const std::string& products) {
  const Json json = read_json({"manifest", name, manifest});
  if (!json.is_object() || !json.contains("products")) return false;
  return whole_member<std::string>(json["products"], "hash") == hash_hex(products);
}

}  // namespace farfield::train
