#include "apps/eval/results_json.h"

#include "apps/cli/json_number.h"
#include "apps/eval/protocol.h"
#include "engine/base/json.h"

using nlohmann::ordered_json;

namespace farfield::eval {
namespace {

constexpr int kFormat = 1;

ordered_json length_of(const LengthResult& cell) {
  ordered_json json;
  json["length"] = cell.length;
  json["tokens"] = cell.tokens;
  if (!cell.failure.empty()) {
    json["failure"] = cell.failure;
    json["message"] = cell.message;
  }
  json["quantities"] = ordered_json::object();
  for (const Quantity& quantity : numbers_of(cell))
    json["quantities"][quantity.full_name()] = cli::to_json(quantity.value);
  return json;
}

}  // namespace

std::string results_json(const std::vector<RunResult>& results) {
  ordered_json json;
  json["format"] = kFormat;
  json["results"] = ordered_json::array();
  for (const RunResult& r : results) {
    ordered_json& one = json["results"].emplace_back();
    one["run"] = r.run;
    one["name"] = r.name;
    one["posenc"] = r.posenc;
    one["trained_posenc"] = r.trained_posenc;
    one["baseline"] = r.baseline;
    one["seed"] = r.seed;
    one["train_len"] = r.train_len;
    one["step"] = r.step;
    one["data_hash"] = r.data_hash;
    one["split"] = r.split;
    one["document_order"] = r.document_order;
    one["precision"] = r.precision;
    one["device"] = r.device;
    one["model_hash"] = r.model_hash;
    one["protocol"] = r.result.protocol;
    one["parameters"] = r.result.parameters;
    one["protocol_hash"] = r.result.hash();
    one["conventions"] = conventions_of(r.result);
    one["lengths"] = ordered_json::array();
    for (const LengthResult& cell : r.result.lengths) one["lengths"].push_back(length_of(cell));
  }
  return write_json(json, 1) + "\n";
}

}  // namespace farfield::eval
