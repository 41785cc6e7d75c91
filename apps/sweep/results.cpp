#include "apps/sweep/results.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "apps/cli/json_number.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/write_target.h"

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";
constexpr int kFormat = 1;
constexpr size_t kSeriesPoints = 512;

double rounded(double x) {
  std::ostringstream text;
  text.precision(7);
  text << x;
  return std::isfinite(x) ? std::strtod(text.str().c_str(), nullptr) : x;
}

// Points of a curve, evenly over a linear axis.
eval::Series thinned(const eval::Series& s) {
  eval::Series thin = s;
  const size_t n = s.y.size(), m = std::min(n, kSeriesPoints);
  for (auto member :
       {&eval::Series::x, &eval::Series::y, &eval::Series::low, &eval::Series::high}) {
    std::vector<double>& values = thin.*member;
    if (values.size() != n) continue;
    std::vector<double> kept;
    for (size_t i = 0; i < m; ++i)
      kept.push_back(rounded(values[m < 2 ? 0 : i * (n - 1) / (m - 1)]));
    values = std::move(kept);
  }
  return thin;
}

ordered_json json_of(const eval::LengthResult& cell) {
  ordered_json json;
  json["length"] = cell.length;
  if (!cell.failure.empty()) {
    json["failure"] = cell.failure;
    json["message"] = cell.message;
  }
  if (cell.n_scored > 0) {
    json["n_scored"] = cell.n_scored;
    json["mean_nll"] = cli::to_json(cell.mean_nll);
    json["nll_error"] = cli::to_json(cell.nll_error);
    json["bytes_per_token"] = cli::to_json(cell.bytes_per_token);
  }
  if (!cell.tokens.empty()) json["tokens"] = cell.tokens;
  for (const eval::Quantity& q : cell.quantities)
    json["quantities"].push_back({q.name, cli::to_json(q.value), q.of, q.word});
  for (const eval::Series& s : cell.series) {
    if (s.is_drawn_alone) continue;
    const eval::Series thin = thinned(s);
    ordered_json one = {
        {"name", s.name},           {"axis", s.axis},           {"of", s.of},
        {"is_log_x", s.is_log_x},   {"may_log_y", s.may_log_y}, {"x", cli::to_json(thin.x)},
        {"y", cli::to_json(thin.y)}};
    if (!thin.low.empty()) {
      one["low"] = cli::to_json(thin.low);
      one["high"] = cli::to_json(thin.high);
    }
    json["series"].push_back(std::move(one));
  }
  return json;
}

// A fraction is refused like a word in its place: to make an integer of 1e64 is undefined.
int64_t count_of(const ordered_json& json, const char* name) {
  const ordered_json& value = json.at(name);
  return (value.is_number_float() ? ordered_json() : value).get<int64_t>();
}

eval::LengthResult length_of(const ordered_json& json) {
  eval::LengthResult cell;
  cell.length = count_of(json, "length");
  cell.failure = json.value("failure", "");
  cell.message = json.value("message", "");
  cell.tokens = json.value("tokens", "");
  if (json.contains("n_scored")) {
    cell.n_scored = count_of(json, "n_scored");
    cell.mean_nll = cli::to_double(json.at("mean_nll"));
    cell.nll_error = cli::to_double(json.at("nll_error"));
    cell.bytes_per_token = cli::to_double(json.at("bytes_per_token"));
  }
  if (json.contains("quantities"))
    for (const ordered_json& q : json["quantities"])
      cell.quantities.push_back({q.at(0), cli::to_double(q.at(1)), q.at(2), q.at(3)});
  if (json.contains("series"))
    for (const ordered_json& s : json["series"]) {
      eval::Series& one = cell.series.emplace_back();
      s.at("name").get_to(one.name);
      s.at("axis").get_to(one.axis);
      s.at("of").get_to(one.of);
      s.at("is_log_x").get_to(one.is_log_x);
      s.at("may_log_y").get_to(one.may_log_y);
      one.x = cli::to_doubles(s.at("x"));
      one.y = cli::to_doubles(s.at("y"));
      if (s.contains("low")) {
        one.low = cli::to_doubles(s["low"]);
        one.high = cli::to_doubles(s.at("high"));
      }
    }
  return cell;
}

}  // namespace

bool CellResult::covers(const Cell& cell) const {
  return std::all_of(cell.measurements.begin(), cell.measurements.end(),
                     [&](const Measurement& m) { return measured.count(m.id()) != 0; });
}

fs::path result_path(const fs::path& folder, const std::string& hash) {
  return folder / (hash + ".json");
}

void write_result(const fs::path& folder, const CellResult& result) {
  make_folder(folder);
  ordered_json json;
  json["format"] = kFormat;
  json["corpus"] = result.corpus;
  for (const auto& [name, value] : result.key) json["key"][name] = value;
  json["words"] = json["facts"] = ordered_json::object();
  for (const auto& [name, value] : result.words) json["words"][name] = value;
  for (const auto& [name, value] : result.facts) json["facts"][name] = cli::to_json(value);
  json["measured"] = ordered_json::object();
  for (const auto& [id, one] : result.measured) {
    ordered_json& of = json["measured"][id];
    of["protocol"] = one.protocol;
    of["parameters"] = one.parameters;
    if (const auto family = result.families.find(id); family != result.families.end())
      of["family"] = family->second;
    for (const eval::LengthResult& cell : one.lengths) of["lengths"].push_back(json_of(cell));
  }
  write_file_atomic(result_path(folder, result.hash), write_hashed_json(std::move(json)));
}

CellResult read_result(const fs::path& file) {
  const char* const expected =
      ": expected the results of a cell, got something else; the file is damaged: run the "
      "sweep again";
  try {
    const std::string text = read_file(file);
    ordered_json json = read_json({kWhere, file.string(), text});
    require<IoError>(take_hash(json).fits() && json.at("format") == kFormat, kWhere, file.string(),
                     expected);
    CellResult result;
    result.corpus = json.at("corpus");
    for (const auto& [name, value] : json.at("key").items()) result.key.emplace_back(name, value);
    result.hash = hash_hex(run::to_text(result.key)).substr(0, 16);
    require<IoError>(result.hash == file.stem().string(), kWhere, file.string(),
                     ": expected the results of this cell, got the results of ", result.hash,
                     "; the file was renamed");
    for (const auto& [name, value] : json.at("words").items()) result.words[name] = value;
    for (const auto& [name, value] : json.at("facts").items())
      result.facts[name] = cli::to_double(value);
    for (const auto& [id, of] : json.at("measured").items()) {
      eval::ProtocolResult& one = result.measured[id];
      one.protocol = of.at("protocol");
      one.parameters = of.at("parameters");
      if (of.contains("family")) result.families[id] = of["family"];
      if (of.contains("lengths"))
        for (const ordered_json& cell : of["lengths"]) one.lengths.push_back(length_of(cell));
    }
    return result;
  } catch (const ordered_json::exception&) {
    fail<IoError>(kWhere, file.string(), expected);
  }
}

Results Results::read(const std::vector<fs::path>& folders, std::vector<fs::path>* damaged) {
  Results results;
  for (const fs::path& folder : folders) {
    std::error_code status;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder, status))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) try {
        results.add(read_result(file));
      } catch (const IoError&) {
        if (damaged == nullptr) throw;
        damaged->push_back(file);
      }
  }
  return results;
}

void Results::add(CellResult result) {
  const std::string hash = result.hash;
  const auto [place, is_new] = all_.try_emplace(hash, std::move(result));
  if (is_new) return;
  for (auto& [id, one] : result.measured) place->second.measured.try_emplace(id, std::move(one));
  place->second.families.merge(result.families);
}

const CellResult* Results::find(const std::string& hash) const {
  const auto found = all_.find(hash);
  return found == all_.end() ? nullptr : &found->second;
}

}  // namespace farfield::sweep
