#include "apps/catalog/facts_json.h"

#include "apps/cli/json_number.h"
#include "apps/run/lineage.h"
#include "engine/base/json.h"

namespace farfield::catalog {
namespace {

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json json_of_run(const RunFacts& run) {
  Json json = {{"run", run.run}, {"state", name(run.state)}};
  if (run.state == RunState::damaged) {
    json["error"] = run.error;
    return json;
  }
  json["name"] = run.name.empty() ? Json() : Json(run.name);
  json["step"] = run.step;
  json["steps"] = run.steps;
  json["parameters"] = value_or_null(run.parameters);
  json["weights_bytes"] = run.weights_bytes;
  json["posenc"] = run.posenc;
  json["train_len"] = run.train_len;
  json["loss"] = run.loss ? cli::to_json(*run.loss) : Json();
  json["perplexity"] = Json::array();
  for (const BestPerplexity& one : run.perplexities)
    json["perplexity"].push_back({{"length", one.length},
                                  {"perplexity", cli::to_json(one.perplexity)},
                                  {"protocol", one.protocol}});
  return json;
}

Json json_of_checkpoint(const CheckpointFacts& one) {
  Json json = {{"step", one.step}, {"bytes", one.bytes}};
  if (!one.error.empty()) json["error"] = one.error;
  return json;
}

Json json_of_measurement(const Measurement& one) {
  Json json = {{"protocol", one.protocol}, {"parameters", one.parameters},
               {"encoding", one.encoding}, {"step", one.step},
               {"text", one.text},         {"length", one.result.length}};
  json["perplexity"] = one.result.has_perplexity() ? cli::to_json(one.result.perplexity()) : Json();
  if (!one.result.failure.empty()) json["failure"] = one.result.failure;
  return json;
}

// A member of the manifest as it stands there; null where it has none.
Json part_of(const Json& manifest, const char* key) {
  return manifest.is_object() && manifest.contains(key) ? manifest[key] : Json();
}

}  // namespace

std::string list_json(const std::vector<RunFacts>& runs) {
  Json json = Json::array();
  for (const RunFacts& run : runs) json.push_back(json_of_run(run));
  return write_json(json, 2) + "\n";
}

std::string details_json(const RunDetails& details) {
  const Json manifest = run::read_manifest(details.run);
  Json json = json_of_run(details.facts);
  json["trained_parameters"] = part_of(manifest, "trained_parameters");
  json["vocab_size"] = part_of(manifest, "vocab_size");
  json["configuration"] = Json::object();
  for (const auto& [key, value] : details.run.config()) json["configuration"][key] = value;
  json["lineage"] = run::to_json(details.lineage);
  json["imported"] = part_of(manifest, "imported");
  json["data"] = part_of(manifest, "data");
  json["tokenizer"] = part_of(manifest, "tokenizer");
  json["checkpoints"] = Json::array();
  for (const CheckpointFacts& one : details.checkpoints)
    json["checkpoints"].push_back(json_of_checkpoint(one));
  json["measurements"] = Json::array();
  for (const Measurement& one : details.measurements)
    json["measurements"].push_back(json_of_measurement(one));
  json["damaged_measurements"] = details.damaged_measurements;
  json["started"] = part_of(manifest, "started");
  json["resumed"] = part_of(manifest, "resumed");
  return write_json(json, 2) + "\n";
}

}  // namespace farfield::catalog
