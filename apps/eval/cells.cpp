#include "apps/eval/cells.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "apps/cli/json_number.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/write_target.h"

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace farfield::eval {
namespace {

constexpr std::string_view kWhere = "eval";
constexpr int kFormat = 2;

fs::path path_of(const fs::path& folder, const run::Settings& key) {
  return folder / (run::value_of(key, "protocol") + '-' + run::value_of(key, "length") + '-' +
                   hash_hex(run::to_text(key)).substr(0, 16) + ".json");
}

std::string text_of(const run::Settings& key, const ProtocolResult& of, const LengthResult& cell) {
  ordered_json json;
  json["format"] = kFormat;
  for (const auto& [name, value] : key) json["key"][name] = value;
  json["protocol_hash"] = of.hash();
  json["tokens"] = cell.tokens;
  json["starts"] = of.starts;
  if (!cell.failure.empty()) {
    json["failure"] = cell.failure;
    json["message"] = cell.message;
  }
  json["n_scored"] = cell.n_scored;
  json["bytes_per_token"] = cli::to_json(cell.bytes_per_token);
  json["mean_nll"] = cli::to_json(cell.mean_nll);
  json["nll_error"] = cli::to_json(cell.nll_error);
  json["items"] = cli::to_json(cell.items);
  if (!cell.places.empty()) json["places"] = cell.places;
  json["quantities"] = ordered_json::array();
  for (const Quantity& quantity : cell.quantities)
    json["quantities"].push_back({{"name", quantity.name},
                                  {"value", cli::to_json(quantity.value)},
                                  {"of", quantity.of},
                                  {"word", quantity.word}});
  json["series"] = ordered_json::array();
  for (const Series& series : cell.series) {
    json["series"].push_back({{"name", series.name},
                              {"axis", series.axis},
                              {"of", series.of},
                              {"is_log_x", series.is_log_x},
                              {"may_log_y", series.may_log_y},
                              {"x", cli::to_json(series.x)},
                              {"y", cli::to_json(series.y)},
                              {"low", cli::to_json(series.low)},
                              {"high", cli::to_json(series.high)}});
    if (series.is_drawn_alone) json["series"].back()["is_drawn_alone"] = true;
  }
  json["notes"] = cell.notes;
  return write_hashed_json(std::move(json), 1);
}

// Empty for a damaged file.
std::optional<KeptCell> cell_of(const fs::path& file) {
  const std::string text = read_file(file);
  try {
    ordered_json json = read_json({kWhere, file.string(), text});
    if (!take_hash(json).fits() || json.at("format") != kFormat) return {};
    KeptCell kept;
    for (const auto& [name, value] : json.at("key").items()) kept.key.emplace_back(name, value);
    kept.result.protocol = run::value_of(kept.key, "protocol");
    kept.result.parameters = run::value_of(kept.key, "parameters");
    json.at("starts").get_to(kept.result.starts);
    LengthResult& cell = kept.result.lengths.emplace_back();
    cell.length = std::stoll(run::value_of(kept.key, "length"));
    json.at("tokens").get_to(cell.tokens);
    cell.failure = json.value("failure", "");
    cell.message = json.value("message", "");
    json.at("n_scored").get_to(cell.n_scored);
    cell.bytes_per_token = cli::to_double(json.at("bytes_per_token"));
    cell.mean_nll = cli::to_double(json.at("mean_nll"));
    cell.nll_error = cli::to_double(json.at("nll_error"));
    cell.items = cli::to_doubles(json.at("items"));
    if (json.contains("places")) json["places"].get_to(cell.places);
    for (const ordered_json& quantity : json.at("quantities"))
      cell.quantities.push_back({quantity.at("name"), cli::to_double(quantity.at("value")),
                                 quantity.at("of"), quantity.at("word")});
    for (const ordered_json& s : json.at("series"))
      cell.series.push_back({s.at("name"), s.at("axis"), cli::to_doubles(s.at("x")),
                             cli::to_doubles(s.at("y")), cli::to_doubles(s.at("low")),
                             cli::to_doubles(s.at("high")), s.at("is_log_x"), s.at("may_log_y"),
                             s.at("of"), s.value("is_drawn_alone", false)});
    if (json.contains("notes")) json["notes"].get_to(cell.notes);
    return kept;
  } catch (const std::exception&) {  // a whole file of another shape
    return {};
  }
}

}  // namespace

run::Settings model_key(const run::LoadedRun& run) {
  return {{"model", run.model_hash},
          {"step", std::to_string(run.state.step)},
          {"posenc", run::with_map(run.model.encoding().canonical(), run.unmatched)},
          {"precision", std::string(name(run.model.compute_dtype()))},
          {"device", concat(run.config.device)}};
}

run::Settings CellFiles::key_of(uint64_t draw, const ProtocolResult& of, int64_t length) const {
  run::Settings key = subject_;
  key.emplace_back("draw", std::to_string(draw));
  key.emplace_back("protocol", of.protocol);
  key.emplace_back("parameters", of.parameters);
  key.emplace_back("length", std::to_string(length));
  return key;
}

std::optional<LengthResult> CellFiles::find(uint64_t draw, const ProtocolResult& of,
                                            int64_t length) const {
  if (!use_.find) return {};
  const run::Settings key = key_of(draw, of, length);
  const fs::path file = path_of(folder_, key);
  std::error_code status;
  if (!fs::exists(file, status)) return {};
  std::optional<KeptCell> kept = cell_of(file);
  if (!kept || kept->key != key) return {};
  LengthResult& cell = kept->result.lengths.front();
  // A kept nonfinite_kernel may come from a version that took a mask for a failure. Kernels are
  // quick to measure, so the cell is measured again.
  if (cell.failure == "nonfinite_kernel") return {};
  return std::move(cell);
}

void CellFiles::keep(uint64_t draw, const ProtocolResult& of, const LengthResult& cell) const {
  // Scores that are not finite are a property of the model, and a diverged seed must not go
  // missing.
  const bool is_final = cell.failure.empty() || cell.failure.find("nonfinite_") == 0;
  if (!use_.keep || !is_final) return;
  const run::Settings key = key_of(draw, of, cell.length);
  make_folder(folder_);
  write_file_atomic(path_of(folder_, key), text_of(key, of, cell));
}

std::vector<KeptCell> read_cells(const fs::path& folder, const std::string& protocol,
                                 std::vector<fs::path>* damaged) {
  const std::string begin = protocol.empty() ? "" : protocol + '-';  // as path_of() names them
  std::vector<fs::path> files;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(folder, status))
    if (entry.path().extension() == ".json" &&
        entry.path().filename().string().rfind(begin, 0) == 0)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<KeptCell> cells;
  for (const fs::path& file : files) {
    std::optional<KeptCell> cell = cell_of(file);
    if (!cell && damaged != nullptr) {
      damaged->push_back(file);
      continue;
    }
    require<IoError>(cell.has_value(), kWhere, file.string(),
                     ": expected a finished cell, got something else; the file is damaged: remove "
                     "it and measure again");
    cell->time = fs::last_write_time(file, status);
    cells.push_back(std::move(*cell));
  }
  return cells;
}

}  // namespace farfield::eval
