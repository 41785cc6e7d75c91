#include "apps/comparison_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/cli.h"
#include "apps/csv.h"
#include "apps/gnuplot.h"
#include "apps/json_number.h"
#include "apps/results.h"
#include "apps/text_table.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace farfield::apps {
namespace {

constexpr int kFormat = 1;

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

std::string sign_of(Mark mark) {
  return mark == Mark::dagger ? "†" : mark == Mark::star ? "*" : " ";
}

std::string name_of(Mark mark) {
  return mark == Mark::dagger ? "dagger" : mark == Mark::star ? "star" : "";
}

std::string heading_of(int64_t length) {
  return length > 0 ? std::to_string(length) : std::string("value");
}

// "eff", or for a quantity of heads "eff of each head".
std::string name_of(const Comparison& of) {
  return of.has_parts() ? of.quantity + " of each head" : of.quantity;
}

// What a row says something of: "model" beside rows of heads.
std::string part_of(const ComparedRow& row) { return row.of.empty() ? "model" : row.of; }

// The label of a row where the head has no column of its own.
std::string full_label(const ComparedRow& row) {
  return row.of.empty() ? row.label : row.label + ", " + row.of;
}

int64_t most_seeds(const ComparedRow& row) {
  int64_t most = 0;
  for (const ComparedCell& cell : row.cells) most = std::max(most, cell.spread.n);
  return most;
}

// "2 of 5 inf, 1 of 5 none": the numbers of a cell that are none, in the words that their protocol
// has for them; "inf" where all are the same.
std::string nonfinite_text(const ComparedCell& cell) {
  std::vector<std::pair<std::string, int64_t>> words;
  for (const SeedValue& seed : cell.seeds) {
    if (std::isfinite(seed.value)) continue;
    const std::string word = seed.word.empty() ? number(seed.value) : seed.word;
    const auto known = std::find_if(words.begin(), words.end(),
                                    [&](const auto& other) { return other.first == word; });
    if (known == words.end())
      words.emplace_back(word, 1);
    else
      ++known->second;
  }
  if (words.front().second == cell.spread.n) return words.front().first;
  std::string text;
  for (const auto& [word, n] : words)
    text += concat(text.empty() ? "" : ", ", n, " of ", cell.spread.n, ' ', word);
  return text;
}

// "mean ± deviation". Where a number that is no perplexity is not finite, a mean would say nothing.
std::string spread_text(const ComparedCell& cell, bool is_perplexity) {
  const Spread& spread = cell.spread;
  if (spread.n_nonfinite > 0 && !is_perplexity) return nonfinite_text(cell);
  std::string text = short_number(spread.mean);
  if (std::isfinite(spread.deviation)) text += " ± " + two_digits(spread.deviation);
  if (spread.n_nonfinite > 0) text += concat(" (", spread.n_nonfinite, " diverged)");
  return text;
}

// "8.31 ± 0.21 †"; of fewer seeds than the row has elsewhere, it says so.
std::string text_of(const Comparison& of, const ComparedCell& cell, int64_t n_seeds,
                    bool with_marks) {
  if (cell.seeds.empty()) return "";
  const Spread& spread = cell.spread;
  std::string text = spread_text(cell, of.quantity == "perplexity");
  if (spread.n < n_seeds) text += concat(" (", spread.n, spread.n == 1 ? " seed)" : " seeds)");
  return with_marks ? text + ' ' + sign_of(cell.mark) : text;
}

std::string legend(const Comparison& of) {
  std::string text;
  if (of.quantity == "perplexity") {
    text = concat("† ", of.reference, " is significantly better");
    if (of.marks == "S") text += ", * significantly worse";
  } else {
    text = concat("† significantly higher than ", of.reference);
    if (of.marks == "S") text += ", * significantly lower";
  }
  text += of.pairs == "segments" ? ": paired t-test over the items of one seed, on nll"
                                 : concat(": paired t-test over seeds, on ", of.quantity);
  if (of.has_parts()) text += ", each head against the same head";
  return concat(text, ", two-sided, alpha ", kAlpha, '\n');
}

std::string differences_table(const Comparison& of) {
  const bool is_by_items = of.pairs == "segments", has_logs = of.quantity == "perplexity";
  const bool has_parts = of.has_parts();
  std::vector<std::vector<std::string>> rows(1, {"minus " + of.reference});
  if (has_parts) rows.front().push_back("head");
  rows.front().insert(rows.front().end(), {"length", "pairs"});
  if (!is_by_items) rows.front().insert(rows.front().end(), {"difference", "t", "p"});
  if (has_logs) rows.front().insert(rows.front().end(), {"of nll", "t", "p"});
  const auto add = [](std::vector<std::string>& row, const TTest& test) {
    if (!test.is_defined()) {
      row.insert(row.end(), {"undefined", "", ""});
      return;
    }
    row.insert(row.end(), {short_number(test.mean) + " ± " + two_digits(test.deviation),
                           short_number(test.t), two_digits(test.p)});
  };
  for (const ComparedRow& row : of.rows) {
    for (size_t at = 0; at < of.lengths.size(); ++at) {
      const ComparedCell& cell = row.cells[at];
      if (!cell.has_test) continue;
      rows.push_back({row.label});
      if (has_parts) rows.back().push_back(part_of(row));
      rows.back().push_back(of.lengths[at] > 0 ? std::to_string(of.lengths[at]) : "");
      rows.back().push_back(std::to_string(is_by_items ? cell.log_test.n : cell.test.n));
      if (!is_by_items) add(rows.back(), cell.test);
      if (has_logs) add(rows.back(), cell.log_test);
    }
  }
  return rows.size() > 1 ? '\n' + text_table(rows) : "";
}

// What files call the count of numbers that are none.
std::string count_name(const Comparison& of) {
  return of.quantity == "perplexity" ? "diverged" : "nonfinite";
}

// Calls number(row, length, statistic, seed or empty, tokens, value) for each number.
template <class F>
void for_each_number(const Comparison& of, const F& number) {
  for (const ComparedRow& row : of.rows) {
    for (size_t at = 0; at < of.lengths.size(); ++at) {
      const ComparedCell& cell = row.cells[at];
      if (cell.seeds.empty()) continue;
      const auto one = [&](const std::string& name, double value) {
        number(row, of.lengths[at], name, std::string(), std::string(), value);
      };
      for (const SeedValue& seed : cell.seeds)
        number(row, of.lengths[at], std::string("value"), std::to_string(seed.seed), seed.tokens,
               seed.value);
      one("mean", cell.spread.mean);
      one("deviation", cell.spread.deviation);
      one("seeds", static_cast<double>(cell.spread.n));
      one(count_name(of), static_cast<double>(cell.spread.n_nonfinite));
      if (!cell.has_test) continue;
      for (const bool is_log : {false, true}) {
        const TTest& test = is_log ? cell.log_test : cell.test;
        if (test.n == 0) continue;
        const std::string prefix = is_log ? "nll_" : "";
        one(prefix + "difference", test.mean);
        one(prefix + "difference_deviation", test.deviation);
        one(prefix + "pairs", static_cast<double>(test.n));
        one(prefix + "t", test.t);
        one(prefix + "p", test.p);
      }
    }
  }
}

ordered_json json_of(const TTest& test) {
  return {{"n", test.n},
          {"mean", to_json(test.mean)},
          {"deviation", to_json(test.deviation)},
          {"t", to_json(test.t)},
          {"p", to_json(test.p)}};
}

ordered_json json_of(const Comparison& of, const ComparedCell& cell, int64_t length) {
  ordered_json json;
  json["length"] = length;
  json["seeds"] = ordered_json::array();
  for (const SeedValue& seed : cell.seeds) {
    json["seeds"].push_back({{"seed", seed.seed},
                             {"run", seed.run},
                             {"tokens", seed.tokens},
                             {"value", to_json(seed.value)}});
    if (!seed.word.empty()) json["seeds"].back()["word"] = seed.word;
  }
  json["mean"] = to_json(cell.spread.mean);
  json["deviation"] = to_json(cell.spread.deviation);
  json["ddof"] = cell.spread.ddof;
  json["n_" + count_name(of)] = cell.spread.n_nonfinite;
  if (!cell.has_test) return json;
  if (cell.test.n > 0) json["test"] = json_of(cell.test);
  if (cell.log_test.n > 0) json["nll_test"] = json_of(cell.log_test);
  json["mark"] = name_of(cell.mark);
  return json;
}

}  // namespace

std::string comparison_table(const Comparison& of) {
  const bool with_marks = of.n_tests > 0, is_by_items = of.pairs == "segments";
  const bool has_parts = of.has_parts();
  std::string text = concat(of.protocol, " ", name_of(of),
                            is_by_items ? ", each seed" : ", mean ± standard deviation over seeds");
  text += concat(" (", of.parameters, "; protocol ", of.protocol_hash, ")\n");
  std::vector<std::vector<std::string>> rows(1, {"encoding"});
  if (has_parts) rows.front().push_back("head");
  if (!is_by_items) rows.front().push_back("seeds");
  for (const int64_t length : of.lengths)
    rows.front().push_back(heading_of(length) + (with_marks ? "  " : ""));
  for (const ComparedRow& row : of.rows) {
    rows.push_back({row.label});
    if (has_parts) rows.back().push_back(part_of(row));
    if (!is_by_items) rows.back().push_back(std::to_string(most_seeds(row)));
    for (const ComparedCell& cell : row.cells)
      rows.back().push_back(text_of(of, cell, most_seeds(row), with_marks));
  }
  text += text_table(rows);
  if (with_marks) {
    text += legend(of) + differences_table(of);
    text += concat(of.n_tests, of.n_tests == 1 ? " test" : " tests",
                   " made; nothing is corrected for their number\n");
  }
  for (const std::string& note : of.notes) text += note + '\n';
  return text;
}

std::string comparison_remark(const Comparison& of) {
  std::vector<std::string> parts;
  for (const ComparedRow& row : of.rows)
    if (std::find(parts.begin(), parts.end(), row.of) == parts.end()) parts.push_back(row.of);
  const std::string range = parts.size() > 1 ? " to " + parts.back() : "";
  return concat(of.protocol, ' ', name_of(of), " (", parts.front(), range, "), ", of.n_tests,
                of.n_tests == 1 ? " test" : " tests", ": in the files alone; --quantity ",
                of.quantity, " shows them\n");
}

std::string comparison_csv(const Comparison& of) {
  std::string text =
      csv_row({"protocol", "parameters", "protocol_hash", "quantity", "pairs", "reference",
               "encoding", "length", "statistic", "seed", "tokens", "value"});
  for_each_number(of, [&](const ComparedRow& row, int64_t length, const std::string& statistic,
                          const std::string& seed, const std::string& tokens, double value) {
    text += csv_row({of.protocol, of.parameters, of.protocol_hash,
                     Quantity{of.quantity, 0, row.of}.full_name(), of.pairs, of.reference,
                     row.label, std::to_string(length), statistic, seed, tokens, number(value)});
  });
  return text;
}

std::string comparison_json(const Comparison& of) {
  ordered_json json;
  json["format"] = kFormat;
  json["protocol"] = of.protocol;
  json["parameters"] = of.parameters;
  json["protocol_hash"] = of.protocol_hash;
  json["quantity"] = of.quantity;
  json["pairs"] = of.pairs;
  json["marks"] = of.marks;
  json["alpha"] = kAlpha;
  json["reference"] = of.reference;
  json["n_tests"] = of.n_tests;
  json["rows"] = ordered_json::array();
  for (const ComparedRow& row : of.rows) {
    ordered_json& one = json["rows"].emplace_back();
    one["label"] = row.label;
    one["encoding"] = row.name;
    if (!row.of.empty()) one["of"] = row.of;
    for (const auto& [key, value] : row.setting) one["setting"][key] = value;
    one["cells"] = ordered_json::array();
    for (size_t at = 0; at < of.lengths.size(); ++at)
      if (!row.cells[at].seeds.empty())
        one["cells"].push_back(json_of(of, row.cells[at], of.lengths[at]));
  }
  json["notes"] = of.notes;
  return json.dump(1) + "\n";
}

Plot comparison_plot(const Comparison& of) {
  Plot plot;
  plot.title = concat(of.protocol, ' ', of.quantity);
  plot.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(plot.title[0])));
  plot.x_label = "evaluation length (tokens)";
  plot.y_label = of.pairs == "segments" ? of.quantity : of.quantity + ", mean ± deviation";
  if (of.train_len > 0) {
    plot.marked_x = static_cast<double>(of.train_len);
    plot.marked_label = "training length";
  }
  for (const ComparedRow& row : of.rows) {
    Curve curve{full_label(row)};
    for (size_t at = 0; at < of.lengths.size(); ++at)
      if (of.lengths[at] > 0)
        curve.points.push_back({static_cast<double>(of.lengths[at]), row.cells[at].spread.mean,
                                row.cells[at].spread.deviation});
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

std::vector<fs::path> write_comparisons(const fs::path& folder,
                                        const std::vector<Comparison>& all) {
  std::error_code status;
  fs::create_directories(folder, status);
  require<IoError>(!status, "eval:compare", folder.string(),
                   ": cannot make the folder: ", status.message());
  std::vector<fs::path> written;
  for (const Comparison& one : all) {
    std::string stem = one.protocol;
    if (one.quantity != "perplexity") stem += '-' + file_word(one.quantity);
    if (std::any_of(all.begin(), all.end(), [&](const Comparison& other) {
          return other.protocol == one.protocol && other.parameters != one.parameters;
        }))
      stem += '-' + one.protocol_hash.substr(0, 8);
    written.push_back(folder / (stem + ".csv"));
    write_file_atomic(written.back(), comparison_csv(one));
    write_file_atomic(folder / (stem + ".json"), comparison_json(one));
    const Plot plot = comparison_plot(one);
    if (can_plot() && has_points(plot)) write_file_atomic(folder / (stem + ".svg"), draw_svg(plot));
  }
  return written;
}

}  // namespace farfield::apps
