#include "apps/compare/report.h"

#include <cmath>

#include "apps/analysis/timing.h"
#include "apps/cli/csv.h"
#include "apps/cli/json_number.h"
#include "apps/cli/options.h"
#include "apps/compare/plot.h"
#include "apps/eval/results.h"
#include "apps/plot/gnuplot.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/write_target.h"

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace farfield::compare {
namespace {

constexpr int kFormat = 2;

// The name in files for the count of values that are not finite.
std::string count_name(const Comparison& of) {
  return of.is_perplexity() ? "diverged" : "nonfinite";
}

// Calls add(row, length, statistic, seed or empty, tokens, value) for each value.
template <class F>
void for_each_value(const Comparison& of, const F& add) {
  for (const ComparedRow& row : of.rows) {
    for (size_t at = 0; at < of.lengths.size(); ++at) {
      const ComparedCell& cell = row.cells[at];
      if (cell.seeds.empty()) continue;
      const auto one = [&](const std::string& name, double value) {
        add(row, of.lengths[at], name, std::string(), std::string(), cli::number(value));
      };
      for (const SeedValue& seed : cell.seeds)
        add(row, of.lengths[at], std::string("value"), std::to_string(seed.seed), seed.tokens,
            cli::number(seed.value));
      if (cell.bits.n > 0) {
        for (const SeedValue& seed : cell.seeds)
          add(row, of.lengths[at], std::string("bits_per_byte"), std::to_string(seed.seed),
              seed.tokens, cli::number(seed.bits_per_byte));
        one("bits_per_byte_mean", cell.bits.mean);
        one("bits_per_byte_deviation", cell.bits.deviation);
      }
      one("mean", cell.spread.mean);
      one("deviation", cell.spread.deviation);
      one("seeds", static_cast<double>(cell.spread.n));
      one(count_name(of), static_cast<double>(cell.spread.n_nonfinite));
      if (!std::isnan(cell.ratio)) one("ratio", cell.ratio);
      if (!std::isnan(cell.ratio) && of.is_time())
        one("percent_faster", analysis::percent_faster(cell.ratio, 1));
      if (!cell.has_test) continue;
      for (const bool is_log : {false, true}) {
        const analysis::TTest& test = is_log ? cell.log_test : cell.test;
        if (test.n == 0) continue;
        const std::string prefix = is_log ? "nll_" : "";
        one(prefix + "difference", test.mean);
        one(prefix + "difference_deviation", test.deviation);
        one(prefix + "difference_low", test.mean - test.half_width());
        one(prefix + "difference_high", test.mean + test.half_width());
        one(prefix + "pairs", static_cast<double>(test.n));
        one(prefix + "t", test.t);
        one(prefix + "p", test.p);
      }
      add(row, of.lengths[at], std::string("mark"), std::string(), std::string(),
          word_of(cell.mark, of.is_perplexity()));
    }
  }
}

ordered_json json_of(const analysis::TTest& test) {
  return {{"n", test.n},
          {"mean", cli::to_json(test.mean)},
          {"deviation", cli::to_json(test.deviation)},
          {"low", cli::to_json(test.mean - test.half_width())},
          {"high", cli::to_json(test.mean + test.half_width())},
          {"t", cli::to_json(test.t)},
          {"p", cli::to_json(test.p)}};
}

ordered_json json_of(const Comparison& of, const ComparedCell& cell, int64_t length) {
  ordered_json json;
  json["length"] = length;
  json["seeds"] = ordered_json::array();
  for (const SeedValue& seed : cell.seeds) {
    json["seeds"].push_back({{"seed", seed.seed},
                             {"run", seed.run},
                             {"tokens", seed.tokens},
                             {"value", cli::to_json(seed.value)}});
    if (!seed.word.empty()) json["seeds"].back()["word"] = seed.word;
    if (cell.bits.n > 0) json["seeds"].back()["bits_per_byte"] = cli::to_json(seed.bits_per_byte);
  }
  json["mean"] = cli::to_json(cell.spread.mean);
  json["deviation"] = cli::to_json(cell.spread.deviation);
  json["ddof"] = cell.spread.ddof;
  json["n_" + count_name(of)] = cell.spread.n_nonfinite;
  if (cell.bits.n > 0)
    json["bits_per_byte"] = {{"mean", cli::to_json(cell.bits.mean)},
                             {"deviation", cli::to_json(cell.bits.deviation)}};
  if (!std::isnan(cell.ratio)) json["ratio"] = cli::to_json(cell.ratio);
  if (!std::isnan(cell.ratio) && of.is_time())
    json["percent_faster"] = cli::to_json(analysis::percent_faster(cell.ratio, 1));
  if (!cell.has_test) return json;
  if (cell.test.n > 0) json["test"] = json_of(cell.test);
  if (cell.log_test.n > 0) json["nll_test"] = json_of(cell.log_test);
  json["mark"] = word_of(cell.mark, of.is_perplexity());
  return json;
}

ordered_json json_of(const Comparison& of) {
  ordered_json json;
  json["format"] = kFormat;
  json["protocol"] = of.protocol;
  json["parameters"] = of.parameters;
  json["protocol_hash"] = of.protocol_hash;
  json["quantity"] = of.quantity;
  json["pairs"] = to_word(of.pairs);
  json["alpha"] = analysis::kAlpha;
  json["decided_on"] = of.decided_on();
  json["reference"] = of.reference;
  json["n_tests"] = of.n_tests;
  json["rows"] = ordered_json::array();
  for (const ComparedRow& row : of.rows) {
    ordered_json& one = json["rows"].emplace_back();
    one["label"] = row.full_label;
    one["encoding"] = row.name;
    if (!row.of.empty()) one["of"] = row.of;
    for (const auto& [key, value] : row.setting) one["setting"][key] = value;
    one["cells"] = ordered_json::array();
    for (size_t at = 0; at < of.lengths.size(); ++at)
      if (!row.cells[at].seeds.empty())
        one["cells"].push_back(json_of(of, row.cells[at], of.lengths[at]));
  }
  json["notes"] = of.notes;
  return json;
}

}  // namespace

std::string comparison_csv(const Comparison& of) {
  std::string text =
      cli::csv_row({"protocol", "parameters", "protocol_hash", "quantity", "pairs", "reference",
                    "encoding", "length", "statistic", "seed", "tokens", "value"});
  for_each_value(of,
                 [&](const ComparedRow& row, int64_t length, const std::string& statistic,
                     const std::string& seed, const std::string& tokens, const std::string& value) {
                   text += cli::csv_row({of.protocol, of.parameters, of.protocol_hash,
                                         eval::Quantity{of.quantity, 0, row.of}.full_name(),
                                         to_word(of.pairs), of.reference, row.full_label,
                                         std::to_string(length), statistic, seed, tokens, value});
                 });
  return text;
}

std::string comparison_json(const Comparison& of) { return write_json(json_of(of), 1) + "\n"; }

std::string comparisons_json(const std::vector<Comparison>& all) {
  ordered_json json = {{"format", kFormat}, {"comparisons", ordered_json::array()}};
  for (const Comparison& one : all) json["comparisons"].push_back(json_of(one));
  return write_json(json, 1) + "\n";
}

std::vector<fs::path> write_comparisons(const fs::path& folder, const std::vector<Comparison>& all,
                                        bool with_hash, std::string* no_plot) {
  make_folder(folder);
  std::vector<fs::path> written;
  std::string why;
  for (const Comparison& one : all) {
    std::string stem = one.protocol;
    if (!one.is_perplexity()) stem += '-' + run::file_word(one.quantity);
    if (with_hash) stem += '-' + one.protocol_hash.substr(0, 8);
    written.push_back(folder / (stem + ".csv"));
    write_file_atomic(written.back(), comparison_csv(one));
    write_file_atomic(folder / (stem + ".json"), comparison_json(one));
    if (!plot::has_points(comparison_plot(one))) continue;
    const std::string svg = plot::draw_or_say([&] { return comparison_svg(one); }, why);
    if (!svg.empty()) write_file_atomic(folder / (stem + ".svg"), svg);
  }
  if (no_plot != nullptr && !why.empty()) *no_plot = why;
  return written;
}

}  // namespace farfield::compare
