#include "apps/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "apps/cli/lists.h"
#include "apps/compare/measurements.h"
#include "apps/compare/tests.h"
#include "apps/eval/options.h"
#include "apps/eval/protocol.h"
#include "apps/eval/results.h"
#include "apps/run/labels.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::compare {
namespace {

const std::vector<std::string> kPairs = {"seeds", "segments"};

Pairs pairs_named(const std::string& word) {
  eval::check_word("pairs", word, kPairs);
  return word == kPairs[0] ? Pairs::seeds : Pairs::segments;
}

constexpr std::string_view kWhere = "eval:compare";

using Group = std::vector<const RunCell*>;

template <class T>
bool is_asked(const std::vector<T>& asked, const T& value) {
  return asked.empty() || cli::has(asked, value);
}

// Whether an expression is this one term, with whatever arguments.
bool is_term(const std::string& name, const std::string& term) {
  return name == term || (name.find(term + '(') == 0 && name.find(')') == name.size() - 1);
}

const eval::LengthResult& only(const RunCell& cell) { return cell.result.lengths.front(); }

std::vector<std::string> quantities_of(const Group& cells) {
  std::vector<std::string> names;
  for (const RunCell* cell : cells)
    if (only(*cell).has_perplexity()) cli::add_new<std::string>(names, "perplexity");
  for (const RunCell* cell : cells)
    for (const eval::Quantity& quantity : only(*cell).quantities)
      cli::add_new(names, quantity.name);
  const bool all_failed =
      names.empty() && std::any_of(cells.begin(), cells.end(),
                                   [](const auto* c) { return !only(*c).failure.empty(); });
  if (all_failed) {  // so no cell names its quantities
    const bool is_perplexity = eval::protocol_named(cells.front()->result.protocol).has_perplexity;
    names = {is_perplexity ? "perplexity" : "result"};
  }
  return names;
}

// Names that a user may ask for, with names of single heads, "eff h3".
std::vector<std::string> full_names_of(const Group& cells) {
  std::vector<std::string> names = quantities_of(cells);
  for (const RunCell* cell : cells)
    for (const eval::Quantity& quantity : only(*cell).quantities)
      cli::add_new(names, quantity.full_name());
  return names;
}

// The parts of the model for which other seeds of a cell have this quantity; the whole model if
// there are no parts.
std::vector<std::string> parts_of(const RunCell& cell, const std::string& quantity,
                                  const Group& group) {
  std::vector<std::string> parts;
  for (const RunCell* other : group)
    if (other->name == cell.name && other->setting == cell.setting)
      for (const eval::Quantity& q : only(*other).quantities)
        if (q.name == quantity) cli::add_new(parts, q.of);
  if (parts.empty()) parts = {""};
  return parts;
}

// The quantity for each part of the model. A failed cell gives NaN for all parts, with eval's text
// for the failure as the word.
std::vector<eval::Quantity> numbers_in(const RunCell& cell, const std::string& quantity,
                                       const Group& group) {
  const eval::LengthResult& measured = only(cell);
  std::vector<eval::Quantity> numbers;
  if (!measured.failure.empty()) {
    for (const std::string& part : parts_of(cell, quantity, group))
      numbers.push_back({quantity, std::nan(""), part, eval::cell_text(measured, false)});
  } else if (quantity == "perplexity") {
    if (measured.has_perplexity()) numbers = {{quantity, measured.perplexity()}};
  } else {
    for (const eval::Quantity& q : measured.quantities)
      if (q.name == quantity) numbers.push_back(q);
  }
  return numbers;
}

// The number beside a perplexity. A failed cell counts as infinite here too.
double bits_per_byte_of(const eval::LengthResult& cell) {
  if (!cell.failure.empty()) return INFINITY;
  return cell.has_perplexity() && cell.bytes_per_token > 0 ? cell.bits_per_byte() : std::nan("");
}

std::string label_of(const RunCell& cell) {
  return cell.label.empty() ? run::short_posenc(cell.name) : cell.label;
}

ComparedRow& row_of(Comparison& in, const RunCell& cell, const std::string& part) {
  const bool is_by_seed = in.pairs == Pairs::segments;
  for (ComparedRow& row : in.rows)
    if (row.name == cell.name && row.of == part && row.setting == cell.setting &&
        (!is_by_seed || row.seed == cell.seed))
      return row;
  ComparedRow& row = in.rows.emplace_back();
  row.name = cell.name;
  row.label = label_of(cell);
  row.of = part;
  row.setting = cell.setting;
  row.seed = cell.seed;
  row.cells.resize(in.lengths.size());
  return row;
}

void add(Comparison& to, const RunCell& from, const eval::Quantity& number) {
  const eval::LengthResult& measured = only(from);
  const auto at = std::find(to.lengths.begin(), to.lengths.end(), measured.length);
  ComparedRow& row = row_of(to, from, number.of);
  if (row.label != label_of(from))
    row.label = run::short_posenc(row.name);  // not all runs have this name
  auto& seeds = row.cells[static_cast<size_t>(at - to.lengths.begin())].seeds;
  const auto place = std::find_if(seeds.begin(), seeds.end(),
                                  [&](const SeedValue& other) { return other.seed >= from.seed; });
  require<ConfigError>(place == seeds.end() || place->seed != from.seed, kWhere,
                       "bad_argument: expected one run of ", from.name, " with seed ", from.seed,
                       ", got ", place == seeds.end() ? "" : place->run, " and ", from.run,
                       ", which differ in nothing; leave one out");
  const bool is_perplexity = to.quantity == "perplexity";
  seeds.insert(place,
               {from.seed, from.run, measured.tokens, number.value, number.word, measured.items,
                is_perplexity ? bits_per_byte_of(measured) : std::nan(""), measured.n_scored});
}

// Every row shows the settings that tell rows apart, so that nobody takes unlike for like. A user's
// name that belongs to one row alone replaces them.
void label_rows(Comparison& of) {
  std::vector<run::Settings> settings;
  for (const ComparedRow& row : of.rows) settings.push_back(row.setting);
  const std::vector<std::string> differences = run::differences_of(settings);
  const std::vector<ComparedRow> told = of.rows;  // with the labels of their runs
  for (size_t i = 0; i < of.rows.size(); ++i) {
    ComparedRow& row = of.rows[i];
    const bool says_enough = row.label != run::short_posenc(row.name) &&
                             std::none_of(told.begin(), told.end(), [&](const ComparedRow& other) {
                               return other.label == row.label &&
                                      (other.name != row.name || other.setting != row.setting);
                             });
    const std::string seed = of.pairs == Pairs::segments ? concat(" s", row.seed) : "";
    row.label += seed + (says_enough ? "" : differences[i]);
    row.full_label = row.name + seed + differences[i];
  }
}

// The encoding whose runs have the name `asked`; else `asked` itself.
std::string name_asked(const Group& cells, const std::string& asked) {
  const auto found = std::find_if(cells.begin(), cells.end(),
                                  [&](const RunCell* cell) { return cell->label == asked; });
  return asked.empty() || found == cells.end() ? asked : (*found)->name;
}

// The name of the reference in tables: the name of its runs, if they have one.
std::string reference_label_of(const Group& cells, const std::string& reference) {
  std::vector<std::string> labels;
  for (const RunCell* cell : cells)
    if (cell->name == reference) cli::add_new(labels, label_of(*cell));
  return labels.size() == 1 ? labels.front() : run::short_posenc(reference);
}

std::string choose_reference(const std::vector<std::string>& names, const std::string& asked) {
  const auto find = [&](const std::string& term) -> std::string {
    for (const std::string& name : names)
      if (name == term) return name;
    for (const std::string& name : names)
      if (is_term(name, term)) return name;
    return "";
  };
  if (!asked.empty()) {
    const std::string found = find(asked);
    require<ConfigError>(!found.empty(), kWhere, "bad_argument: --reference: expected one of ",
                         joined(names), ", got '", asked, "'", did_you_mean(asked, names));
    return found;
  }
  for (const char* usual : {"kerple_log", "sandwich"})
    if (const std::string found = find(usual); !found.empty()) return found;
  return names.empty() ? "" : names.front();
}

void add_spread(ComparedCell& cell, bool is_perplexity) {
  if (cell.seeds.empty()) return;
  std::vector<double> values, bits;
  for (const SeedValue& seed : cell.seeds) {
    values.push_back(seed.value);
    bits.push_back(seed.bits_per_byte);
  }
  cell.spread = is_perplexity ? analysis::spread_of_seeds(values) : analysis::spread_of(values);
  const bool all_known =
      std::none_of(bits.begin(), bits.end(), [](double x) { return std::isnan(x); });
  const bool is_one_finite =
      std::any_of(bits.begin(), bits.end(), [](double x) { return std::isfinite(x); });
  if (all_known && is_one_finite) cell.bits = analysis::spread_of_seeds(bits);
}

// Rows of one part of the model stand together, in the order in which parts come.
void sort_by_part(Comparison& in) {
  std::vector<std::string> parts;
  for (const ComparedRow& row : in.rows) cli::add_new(parts, row.of);
  const auto rank = [&](const ComparedRow& row) {
    return std::find(parts.begin(), parts.end(), row.of) - parts.begin();
  };
  std::stable_sort(in.rows.begin(), in.rows.end(),
                   [&](const ComparedRow& a, const ComparedRow& b) { return rank(a) < rank(b); });
}

Comparison comparison_of(const Group& group, const std::string& quantity,
                         const CompareOptions& options) {
  Comparison made;
  const eval::ProtocolResult& first = group.front()->result;
  made.protocol = first.protocol;
  made.parameters = first.parameters;
  made.protocol_hash = first.hash();
  made.quantity = quantity;
  made.pairs = pairs_named(options.pairs);
  made.marks = marks_named(options.marks);
  made.way_out = options.way_out;
  made.train_len = group.front()->train_len;
  for (const RunCell* cell : group) {
    if (!numbers_in(*cell, quantity, group).empty()) cli::add_new(made.lengths, only(*cell).length);
    if (cell->train_len != made.train_len) made.train_len = 0;
  }
  std::sort(made.lengths.begin(), made.lengths.end());
  const bool is_whole = is_asked(options.quantities, quantity);
  for (const RunCell* cell : group)
    for (const eval::Quantity& number : numbers_in(*cell, quantity, group))
      if (is_whole || cli::has(options.quantities, number.full_name())) add(made, *cell, number);
  sort_by_part(made);
  for (ComparedRow& row : made.rows)
    for (ComparedCell& cell : row.cells) add_spread(cell, quantity == "perplexity");
  label_rows(made);
  return made;
}

}  // namespace

const analysis::TTest& Comparison::deciding(const ComparedCell& cell) const {
  return pairs == Pairs::segments ? cell.log_test : cell.test;
}

std::string Comparison::decided_on() const { return pairs == Pairs::segments ? "nll" : quantity; }

bool Comparison::has_parts() const {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ComparedRow& row) { return !row.of.empty(); });
}

bool Comparison::has_ratios() const {
  for (const ComparedRow& row : rows)
    for (const ComparedCell& cell : row.cells)
      if (!std::isnan(cell.ratio)) return true;
  return false;
}

bool Comparison::is_time() const {
  const std::string_view name = quantity;
  return name.ends_with("_s") && !name.ends_with("_per_s");
}

std::string to_word(Pairs pairs) { return kPairs[static_cast<size_t>(pairs)]; }

void check(const CompareOptions& options) {
  for (const std::string& protocol : options.protocols) eval::protocol_named(protocol);
  pairs_named(options.pairs);
  marks_named(options.marks);
}

std::vector<Comparison> comparisons_of(const std::vector<RunCell>& cells,
                                       const CompareOptions& options) {
  Group asked;
  for (const RunCell& cell : cells)
    if (is_asked(options.protocols, cell.result.protocol) &&
        is_asked(options.lengths, only(cell).length))
      asked.push_back(&cell);
  if (asked.empty()) return {};
  const std::vector<Measurement> measurements = chosen_measurements(asked, options.protocol_hashes);
  Group all;
  std::vector<std::string> names;
  for (const Measurement& one : measurements)
    all.insert(all.end(), one.cells.begin(), one.cells.end());
  for (const RunCell* cell : all) cli::add_new(names, cell->name);
  const std::vector<std::string> known = full_names_of(all);
  for (const std::string& quantity : options.quantities)
    require<ConfigError>(cli::has(known, quantity), kWhere,
                         "bad_argument: --quantity: expected one of ", joined(quantities_of(all)),
                         ", got '", quantity, "'", did_you_mean(quantity, known));
  const std::string reference = choose_reference(names, name_asked(all, options.reference));
  std::vector<Comparison> made;
  for (const Measurement& measurement : measurements) {
    for (const std::string& quantity : quantities_of(measurement.cells)) {
      Comparison one = comparison_of(measurement.cells, quantity, options);
      one.differing = measurement.differing;
      if (one.rows.empty()) continue;  // not asked for
      if (std::any_of(one.rows.begin(), one.rows.end(),
                      [&](const ComparedRow& row) { return row.name == reference; })) {
        one.reference = reference;
        one.reference_label = reference_label_of(measurement.cells, reference);
        test_rows(one);
      } else {
        one.notes.push_back(concat("no ", run::short_posenc(reference), " here to compare with"));
      }
      if (!measurement.others.empty()) one.notes.push_back(measurement.others);
      made.push_back(std::move(one));
    }
  }
  return made;
}

}  // namespace farfield::compare
