#include "apps/eval/finished_results.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "apps/eval/cells.h"
#include "apps/eval/draws.h"
#include "apps/eval/protocol.h"

namespace fs = std::filesystem;

namespace farfield::eval {
namespace {

int64_t number_of(const run::Settings& key, const char* name) {
  return std::strtoll(run::value_of(key, name).c_str(), nullptr, 10);
}

// One result of one length.
RunResult result_of(const run::LoadedRun& run, const run::Settings& key, ProtocolResult result) {
  const std::string text = run::value_of(key, "text");  // "<hash>/<split> order=7"
  const size_t slash = text.find('/'), space = text.find(' ');
  const size_t end_of_hash = std::min(slash, text.size());
  RunResult r;
  r.run = run.folder.path().string();
  r.name = run.config.name;
  r.posenc = run::posenc_of(key);
  r.trained_posenc = run.config.posenc();
  r.baseline = run::value_of(key, "baseline");
  r.seed = run.config.seed;
  r.train_len = run.config.train_len();
  r.step = number_of(key, "step");
  r.data_hash = text.substr(0, end_of_hash);
  if (slash != std::string::npos) r.split = text.substr(slash + 1, space - slash - 1);
  r.document_order = document_order_of(result.protocol, text);
  r.precision = run::value_of(key, "precision");
  r.device = run::value_of(key, "device");
  r.model_hash = run::value_of(key, "model");
  r.setting = run::setting_of(run.folder.config(), key, r.seed);
  r.result = std::move(result);
  return r;
}

// The run's own expression before changed expressions, early steps before late steps; the rest only
// needs a fixed order.
auto place_of(const RunResult& r) {
  return std::make_tuple(is_changed(r), r.posenc, r.baseline, r.step, r.data_hash, r.split,
                         r.document_order, r.precision, r.device, r.model_hash,
                         r.result.parameters);
}

// The facts that identify the subject of a result: two results with equal facts measure the same
// subject, whatever their lengths.
run::Settings measured_on(const RunResult& r) {
  return {{"run", r.run},
          {"posenc", r.posenc},
          {"baseline", r.baseline},
          {"step", std::to_string(r.step)},
          {"data_hash", r.data_hash},
          {"split", r.split},
          {"document_order", r.document_order},
          {"precision", r.precision},
          {"device", r.device},
          {"model_hash", r.model_hash},
          {"parameters", r.result.parameters}};
}

void sort_lengths(RunResult& r) {
  std::stable_sort(
      r.result.lengths.begin(), r.result.lengths.end(),
      [](const LengthResult& a, const LengthResult& b) { return a.length < b.length; });
}

}  // namespace

std::string document_order_of(const std::string& protocol, const std::string& text_id) {
  if (!protocol_named(protocol).has_text) return "";
  return text_id.find(" order=") == std::string::npos ? "file" : "seed";
}

std::vector<RunResult> finished_results(const run::LoadedRun& run, const std::string& protocol,
                                        std::vector<fs::path>& damaged) {
  struct Draws {
    run::Settings key;
    std::vector<ProtocolResult> results;
  };
  std::vector<Draws> cells;
  std::vector<KeptCell> files = read_cells(run.folder.eval() / "cells", protocol, &damaged);
  std::stable_sort(files.begin(), files.end(), [](const KeptCell& a, const KeptCell& b) {
    return number_of(a.key, "draw") < number_of(b.key, "draw");  // in the order of measuring
  });
  for (KeptCell& kept : files) {
    if (kept.result.protocol != protocol) continue;  // a renamed file
    const run::Settings key = run::without(kept.key, {"draw"});
    const auto same = std::find_if(cells.begin(), cells.end(),
                                   [&](const Draws& other) { return other.key == key; });
    if (same == cells.end())
      cells.push_back({key, {std::move(kept.result)}});
    else
      same->results.push_back(std::move(kept.result));
  }
  std::vector<RunResult> all;
  for (const Draws& draws : cells) {
    RunResult one = result_of(run, draws.key, mean_over_draws(draws.results));
    const run::Settings subject = measured_on(one);
    const auto same = std::find_if(all.begin(), all.end(), [&](const RunResult& other) {
      return measured_on(other) == subject;
    });
    if (same == all.end())
      all.push_back(std::move(one));
    else
      same->result.lengths.push_back(std::move(one.result.lengths.front()));
  }
  for (RunResult& r : all) sort_lengths(r);
  std::sort(all.begin(), all.end(),
            [](const RunResult& a, const RunResult& b) { return place_of(a) < place_of(b); });
  return all;
}

RunResult* find_like(std::vector<RunResult>& results, const RunResult& one) {
  const run::Settings subject = measured_on(one);
  const auto same = std::find_if(results.begin(), results.end(), [&](const RunResult& other) {
    return measured_on(other) == subject;
  });
  return same == results.end() ? nullptr : &*same;
}

void add_failed(std::vector<RunResult>& finished, const RunResult& measured) {
  for (const LengthResult& cell : measured.result.lengths) {
    if (cell.failure.empty()) continue;
    RunResult* like = find_like(finished, measured);
    if (like == nullptr) {
      like = &finished.emplace_back(measured);
      like->result.lengths.clear();
    }
    std::vector<LengthResult>& lengths = like->result.lengths;
    const bool is_there = std::any_of(lengths.begin(), lengths.end(), [&](const LengthResult& x) {
      return x.length == cell.length;
    });
    if (!is_there) lengths.push_back(cell);
    sort_lengths(*like);
  }
}

}  // namespace farfield::eval
