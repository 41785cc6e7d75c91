#include "apps/compare/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "apps/analysis/timing.h"
#include "apps/cli/lists.h"
#include "apps/cli/options.h"
#include "apps/cli/text_table.h"
#include "apps/eval/protocol.h"
#include "apps/eval/results.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::compare {
namespace {

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

std::string heading_of(const Comparison& of, int64_t length) {
  const std::string name = eval::length_name(of.protocol, length);
  return name.empty() ? "value" : name;
}

// "eff", or for a quantity of heads "eff of each head".
std::string name_of(const Comparison& of) {
  return of.has_parts() ? of.quantity + " of each head" : of.quantity;
}

// The part that a row describes: "model" beside rows of heads.
std::string part_of(const ComparedRow& row) { return row.of.empty() ? "model" : row.of; }

int64_t most_seeds(const ComparedRow& row) {
  int64_t most = 0;
  for (const ComparedCell& cell : row.cells) most = std::max(most, cell.spread.n);
  return most;
}

// "2 of 5 inf, 1 of 5 none": the values of a cell that are not finite, in the words of their
// protocol; "inf" if all are the same.
std::string nonfinite_text(const ComparedCell& cell) {
  std::vector<std::pair<std::string, int64_t>> words;
  for (const SeedValue& seed : cell.seeds) {
    if (std::isfinite(seed.value)) continue;
    const std::string word = seed.word.empty() ? cli::number(seed.value) : seed.word;
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

// "mean ± deviation", of perplexities or their bits per byte.
std::string spread_text(const analysis::Spread& spread) {
  std::string text = eval::short_number(spread.mean);
  if (std::isfinite(spread.deviation)) text += " ± " + two_digits(spread.deviation);
  if (spread.n_nonfinite > 0) text += concat(" (", spread.n_nonfinite, " diverged)");
  return text;
}

// "8.31 ± 0.21 †"; with a remark if the cell has fewer seeds than other cells of the row.
std::string text_of(const Comparison& of, const ComparedCell& cell, int64_t n_seeds,
                    bool with_marks) {
  if (cell.seeds.empty()) return "";
  const analysis::Spread& spread = cell.spread;
  // A mean is meaningless if a number that is no perplexity is not finite.
  const bool has_mean = spread.n_nonfinite == 0 || of.quantity == "perplexity";
  std::string text = has_mean ? spread_text(spread) : nonfinite_text(cell);
  if (spread.n < n_seeds) text += concat(" (", spread.n, spread.n == 1 ? " seed)" : " seeds)");
  return with_marks ? text + ' ' + sign_of(cell.mark, of.marks, of.is_perplexity()) : text;
}

// The row beneath a row of perplexities, in its columns; empty if bytes are not known.
std::vector<std::string> bits_row(const ComparedRow& row, size_t n_before, bool with_marks) {
  std::vector<std::string> texts(n_before);
  texts.front() = "  bits per byte";
  bool has_bits = false;
  for (const ComparedCell& cell : row.cells) {
    has_bits = has_bits || cell.bits.n > 0;
    texts.push_back(cell.bits.n > 0 ? spread_text(cell.bits) + (with_marks ? "  " : "") : "");
  }
  if (!has_bits) texts.clear();
  return texts;
}

// "† better than kerple_log, * worse than kerple_log: ..., alpha 0.05"; for people, the table of
// differences names the tested number.
std::string legend(const Comparison& of, bool is_verbose) {
  std::string text = legend_of(of.marks, of.reference_label, of.is_perplexity());
  text += concat(": paired two-sided t-test over ",
                 of.pairs == Pairs::segments ? "the items of one seed" : "seeds", ", alpha ",
                 analysis::kAlpha);
  if (is_verbose) text += ", on " + of.decided_on();
  if (of.has_parts()) text += ", each head against the same head";
  if (is_verbose && of.is_perplexity() && of.pairs == Pairs::seeds)
    text += "; the CSV has the test on nll";
  return text + '\n';
}

std::string cut_terms_text(const Comparison& of) {
  std::vector<std::string> names, labels = {of.reference_label};
  for (const ComparedRow& row : of.rows) {
    names.push_back(row.name);
    labels.push_back(row.label);
  }
  return run::cut_terms_text(names, labels);
}

// The sources of the deviation over seeds; nothing if no deviation is shown, or no text was read.
enum class SpreadOver { nothing, trainings, trainings_and_texts };

SpreadOver spread_over(const Comparison& of) {
  SpreadOver over = SpreadOver::nothing;
  if (of.pairs == Pairs::segments) return over;
  for (const ComparedRow& row : of.rows) {
    for (const ComparedCell& cell : row.cells) {
      if (!std::isfinite(cell.spread.deviation) || cell.seeds.front().tokens.empty()) continue;
      if (over == SpreadOver::nothing) over = SpreadOver::trainings;
      if (std::any_of(cell.seeds.begin(), cell.seeds.end(), [&](const SeedValue& seed) {
            return seed.tokens != cell.seeds.front().tokens;
          }))
        over = SpreadOver::trainings_and_texts;
    }
  }
  return over;
}

// "100 tokens", "12 to 100 tokens" over all seeds and lengths; empty if no tokens are counted.
std::string tokens_text(const Comparison& of) {
  int64_t fewest = 0, most = 0;
  for (const ComparedRow& row : of.rows) {
    for (const ComparedCell& cell : row.cells) {
      for (const SeedValue& seed : cell.seeds) {
        if (seed.n_scored == 0) continue;
        fewest = fewest == 0 ? seed.n_scored : std::min(fewest, seed.n_scored);
        most = std::max(most, seed.n_scored);
      }
    }
  }
  if (most == 0) return "";
  return concat(fewest == most ? "" : concat(fewest, " to "), most,
                most == 1 ? " token" : " tokens");
}

// The amount of text behind a number, and the meaning of ±.
std::string spread_remark(const Comparison& of) {
  const std::string tokens = tokens_text(of);
  switch (spread_over(of)) {
    case SpreadOver::nothing:
      return tokens.empty() ? "" : concat("Each seed scores ", tokens, " at each length.\n");
    case SpreadOver::trainings:
      return concat(tokens.empty() ? "All seeds read the same text"
                                   : concat("All seeds score the same ", tokens),
                    ". ± is the standard deviation over seeds: the difference between trainings "
                    "alone.\n");
    case SpreadOver::trainings_and_texts:
      break;
  }
  return concat(tokens.empty() ? "Each seed reads its own text"
                               : concat("Each seed scores ", tokens, " of its own text"),
                ". ± is the standard deviation over seeds and includes the difference between "
                "texts",
                of.n_tests > 0 ? "; paired differences do not" : "", ".\n");
}

// The columns behind a number of protocol speed.
void add_ratio(std::vector<std::string>& to, const ComparedCell& cell, bool is_time,
               bool is_reference) {
  to.push_back(std::isnan(cell.ratio) ? "" : eval::short_number(cell.ratio));
  if (!is_time) return;
  to.push_back(std::isnan(cell.ratio) || is_reference
                   ? ""
                   : fixed(analysis::percent_faster(cell.ratio, 1), 1));
}

// The tests that decide the marks.
std::string differences_table(const Comparison& of) {
  const bool has_parts = of.has_parts();
  std::vector<std::vector<std::string>> rows(1, {"difference to " + of.reference_label});
  if (has_parts) rows.front().push_back("head");
  rows.front().insert(rows.front().end(),
                      {"length", "pairs", "in " + of.decided_on(), "95 % interval", "t", "p"});
  for (const ComparedRow& row : of.rows) {
    for (size_t at = 0; at < of.lengths.size(); ++at) {
      const ComparedCell& cell = row.cells[at];
      if (!cell.has_test) continue;
      const analysis::TTest& test = of.deciding(cell);
      rows.push_back({row.label});
      if (has_parts) rows.back().push_back(part_of(row));
      rows.back().push_back(eval::length_name(of.protocol, of.lengths[at]));
      rows.back().push_back(std::to_string(test.n));
      if (!test.is_defined()) {
        rows.back().insert(rows.back().end(), {"undefined", "", "", ""});
        continue;
      }
      const double half = test.half_width();
      rows.back().insert(rows.back().end(), {eval::short_number(test.mean),
                                             eval::short_number(test.mean - half) + " to " +
                                                 eval::short_number(test.mean + half),
                                             eval::short_number(test.t), two_digits(test.p)});
    }
  }
  return rows.size() > 1 ? '\n' + cli::text_table(rows) : "";
}

}  // namespace

std::string comparison_table(const Comparison& of, bool is_verbose) {
  const bool with_marks = of.n_tests > 0, is_by_items = of.pairs == Pairs::segments;
  const bool has_parts = of.has_parts();
  std::string text = concat(of.protocol, " ", name_of(of),
                            is_by_items ? ", each seed" : ", mean ± standard deviation over seeds");
  if (!of.differing.empty()) text += concat(" (", of.differing, ')');
  text += '\n';
  std::vector<std::vector<std::string>> rows(1, {"encoding"});
  if (has_parts) rows.front().push_back("head");
  if (!is_by_items) rows.front().push_back("seeds");
  const bool has_ratios = of.has_ratios(), is_time = of.is_time();
  for (const int64_t length : of.lengths) {
    rows.front().push_back(heading_of(of, length) + (with_marks ? "  " : ""));
    if (has_ratios) rows.front().push_back("ratio");
    if (has_ratios && is_time) rows.front().push_back("% faster");
  }
  for (const ComparedRow& row : of.rows) {
    rows.push_back({row.label});
    if (has_parts) rows.back().push_back(part_of(row));
    if (!is_by_items) rows.back().push_back(std::to_string(most_seeds(row)));
    const size_t n_before = rows.back().size();
    for (const ComparedCell& cell : row.cells) {
      rows.back().push_back(text_of(of, cell, most_seeds(row), with_marks));
      if (has_ratios) add_ratio(rows.back(), cell, is_time, row.is_reference);
    }
    if (auto bits = bits_row(row, n_before, with_marks); !bits.empty()) rows.push_back(bits);
  }
  text += cli::text_table(rows) + cut_terms_text(of);
  if (has_ratios) text += concat("ratio: to the mean of ", of.reference_label);
  if (has_ratios && is_time) text += "; % faster: of the time of that";
  if (has_ratios) text += '\n';
  text += spread_remark(of);
  if (with_marks) {
    text += legend(of, is_verbose) + differences_table(of);
    text +=
        concat(of.n_tests, of.n_tests == 1 ? " test decides the mark" : " tests decide the marks",
               "; no multiple-comparison correction\n");
  }
  for (const std::string& note : of.notes) text += note + '\n';
  if (is_verbose)
    text += concat("protocol: ", of.protocol, of.parameters.empty() ? "" : " ", of.parameters,
                   ", hash ", of.protocol_hash, '\n');
  return text;
}

std::string comparison_remark(const Comparison& of) {
  std::vector<std::string> parts;
  for (const ComparedRow& row : of.rows) cli::add_new(parts, row.of);
  const std::string range = parts.size() > 1 ? " to " + parts.back() : "";
  return concat(of.protocol, ' ', name_of(of), " (", parts.front(), range, "), ", of.n_tests,
                of.n_tests == 1 ? " test" : " tests", ": in the files alone; --quantity ",
                of.quantity, " shows them\n");
}

}  // namespace farfield::compare
