// tables_of() of sections.h.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "apps/analysis/spread.h"
#include "apps/analysis/t_test.h"
#include "apps/cli/lists.h"
#include "apps/eval/protocol.h"
#include "apps/eval/results.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/sections.h"
#include "apps/sweep/tasks.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "posenc/registry.h"

namespace farfield::sweep {
namespace {

constexpr const char* kMissing = "–";

const Measure* measure_of(const Measured& m, const std::string& key) {
  for (const Measure& measure : m.experiment().measures)
    if (measure.key == key) return &measure;
  return nullptr;
}

std::string mark_of(const Measured& m, const PlannedArm& arm, const std::string& measure,
                    const std::string& quantity, double length) {
  const PlannedArm* const reference = m.arm(m.experiment().reference_arm);
  if (m.experiment().is_own) return "";  // its tests stand in a table of their own
  if (reference == nullptr || reference == &arm || quantity != "perplexity") return "";
  std::vector<double> theirs, ours;
  for (const SeedNumber& a : m.seeds(*reference, measure, quantity, length))
    for (const SeedNumber& b : m.seeds(arm, measure, quantity, length))
      if (a.seed == b.seed && a.tokens == b.tokens) {
        theirs.push_back(a.value);
        ours.push_back(b.value);
      }
  if (ours.size() < 2) return "";
  const analysis::TTest test = analysis::paired_t_test(theirs, ours);
  const analysis::Mark mark =
      m.experiment().marks == "K" ? analysis::kerple_mark(test) : analysis::sandwich_mark(test);
  return mark == analysis::Mark::dagger ? " †" : mark == analysis::Mark::star ? " *" : "";
}

// Whether all models that have a measurement have it for as many seeds.
bool has_equal_seeds(const Measured& m, const std::vector<const PlannedArm*>& arms,
                     const std::string& measure) {
  std::set<size_t> numbers;
  for (const PlannedArm* arm : arms) numbers.insert(m.n_seed(*arm, measure));
  numbers.erase(0);
  return numbers.size() < 2;
}

// The lowest perplexity of a row, in each part of the table. Means over other seeds cannot be
// compared.
void set_best(const Measured& m, const Output& output, const std::vector<const PlannedArm*>& arms,
              double length, std::vector<ReportTable::Field>& row) {
  if (!has_equal_seeds(m, arms, output.measure)) return;
  std::map<std::string, std::pair<double, size_t>> least;  // of each group, with its column
  if (arms.size() < 2) return;
  for (size_t i = 0; i < arms.size(); ++i) {
    const double x = m.value(*arms[i], output.measure, "perplexity", length);
    auto& [value, column] = least.try_emplace(arms[i]->arm.group, INFINITY, 0).first->second;
    if (!(x < value)) continue;
    value = x;
    column = i + 1;
  }
  for (const auto& [group, best] : least)
    if (best.second > 0) row[best.second].is_best = true;
}

std::string corpus_text(const Measured& m, const std::vector<const PlannedArm*>& arms) {
  const PlannedDataset& d = m.dataset();
  if (d.is_of_tasks) return task_names(arms);
  return d.name == d.corpus ? d.corpus : concat(d.corpus, ", for ", d.name);
}

// ", 3 seeds": the number that most models have. Others get theirs behind their label.
std::string usual_seeds(const Measured& m, const std::vector<const PlannedArm*>& arms,
                        const std::string& measure, ReportTable& table) {
  std::map<size_t, size_t> models;  // by number of seeds
  for (const PlannedArm* arm : arms)
    if (const size_t n = m.n_seed(*arm, measure); n > 0) ++models[n];
  if (models.empty()) return "";
  const auto counted = [](size_t n) { return concat(n, n == 1 ? " seed" : " seeds"); };
  const size_t usual = std::max_element(models.begin(), models.end(), [](auto& a, auto& b) {
                         return a.second < b.second;
                       })->first;
  if (models.size() == 1) return ", " + counted(usual);
  for (size_t i = 0; i < arms.size(); ++i)
    if (const size_t n = m.n_seed(*arms[i], measure); n > 0 && n != usual)
      table.header[i + 1] += concat(" (", counted(n), ')');
  return concat(", ", counted(usual), " unless said otherwise");
}

// Groups that tell no columns apart are not shown.
void drop_single_group(ReportTable& table) {
  const auto differs = [&](const std::string& group) { return group != table.groups[1]; };
  if (table.groups.size() < 2 ||
      std::none_of(table.groups.begin() + 1, table.groups.end(), differs))
    table.groups.clear();
}

ReportTable by_length(const Measured& m, const Output& output) {
  const std::vector<const PlannedArm*> arms = m.shown(output);
  ReportTable table;
  table.caption = concat(output.caption.empty() ? output.quantity : output.caption, " on ",
                         corpus_text(m, arms));
  const bool is_of_tasks = m.dataset().is_of_tasks;
  const Measure* const measure = measure_of(m, output.measure);
  const std::string unit =
      measure == nullptr ? "" : eval::protocol_named(measure->protocol).length_unit;
  table.header = {is_of_tasks ? "length" : unit.empty() ? "tokens" : unit};
  table.groups = {""};
  for (const PlannedArm* arm : arms) {
    table.header.push_back(arm->label());
    table.groups.push_back(arm->arm.group);
  }
  table.caption += usual_seeds(m, arms, output.measure, table);
  drop_single_group(table);
  if (measure == nullptr) return table;
  for (const double length : measure->lengths) {
    std::vector<ReportTable::Field> row = {{concat(m.plan().tokens(length) + measure->offset),
                                            false, is_of_tasks ? "" : length_text(length)}};
    for (const PlannedArm* arm : arms)
      row.push_back(field_of(m, *arm, output.measure, output.quantity, length));
    if (output.quantity == "perplexity") set_best(m, output, arms, length, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

ReportTable::Field of_each_seed(const Measured& m, const PlannedArm& arm,
                                const std::string& measure, const std::string& quantity,
                                double length) {
  const std::vector<SeedNumber> seeds = m.seeds(arm, measure, quantity, length);
  if (seeds.empty()) return {kMissing};
  return {joined(seeds, ", ", [](const SeedNumber& s) { return eval::short_number(s.value); })};
}

ReportTable by_arm(const Measured& m, const Output& output) {
  ReportTable table;
  table.caption = concat(output.caption.empty() ? "what was measured" : output.caption, " on ",
                         corpus_text(m, m.shown(output)));
  table.is_sortable = true;
  table.header = {"model"};
  const std::vector<std::string> quantities =
      output.quantities.empty() ? m.quantities(output.measure, output.length) : output.quantities;
  for (const std::string& quantity : quantities) table.header.push_back(quantity);
  for (const PlannedArm* arm : m.shown(output)) {
    std::vector<ReportTable::Field> row = {{arm->label(), false, arm->posenc}};
    for (const std::string& quantity : quantities)
      row.push_back(cli::has(output.positions, quantity)
                        ? of_each_seed(m, *arm, output.measure, quantity, output.length)
                        : field_of(m, *arm, output.measure, quantity, output.length));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The numbers that a paper printed for one of its data sets, for the arms of the plan.
ReportTable printed(const Measured& m, const Output& output, const std::string& dataset) {
  const Experiment& e = m.experiment();
  ReportTable table;
  table.is_papers = true;
  table.caption = concat("printed: ", e.source, ", ", dataset);
  table.header = {"tokens"};
  table.groups = {""};
  std::vector<const Arm*> arms;
  std::vector<std::string> lengths;
  const std::vector<PrintedNumber> numbers = printed_numbers_of(e.reference);
  for (const PrintedNumber& number : numbers)
    if (number.dataset == dataset &&
        std::find(lengths.begin(), lengths.end(), number.length) == lengths.end())
      lengths.push_back(number.length);
  for (const Arm& arm : e.arms) {
    const bool is_there = std::any_of(numbers.begin(), numbers.end(), [&](const PrintedNumber& n) {
      return n.dataset == dataset && is_of(n, arm);
    });
    if (!is_there || !output.shows(arm)) continue;
    arms.push_back(&arm);
    table.header.push_back(arm.label);
    table.groups.push_back(arm.group);
  }
  drop_single_group(table);
  for (const std::string& length : lengths) {
    std::vector<ReportTable::Field> row = {{length}};
    for (const Arm* arm : arms) {
      ReportTable::Field field = {kMissing};
      for (const PrintedNumber& n : numbers) {
        if (n.dataset != dataset || n.length != length || !is_of(n, *arm)) continue;
        if (n.mean.empty() && n.note.rfind("OOM", 0) == 0) field = {"OOM", false, n.note};
        if (n.mean.empty()) continue;
        field.text = concat(n.mean, n.std.empty() ? "" : " ± ", n.std,
                            n.mark == "dagger" ? " †"
                            : n.mark == "star" ? " *"
                                               : "");
        field.is_best = n.bold == "1";
        field.hint = n.note;
        break;
      }
      row.push_back(std::move(field));
    }
    if (!arms.empty()) table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<ReportTable::Field> encoding_fields(const PlannedArm& arm) {
  const posenc::Row* const row = posenc::find(arm.label());
  return {{arm.label(), false,
           arm.measured_posenc.empty() ? arm.posenc
                                       : concat(arm.measured_posenc, ", trained as ", arm.posenc)},
          {row == nullptr ? "" : row->classes}};
}

ReportTable::Field field_of(const Measured& m, const PlannedArm& arm, const std::string& measure,
                            const std::string& quantity, double length) {
  std::vector<double> values;
  for (const SeedNumber& s : m.seeds(arm, measure, quantity, length)) values.push_back(s.value);
  const std::string failure = m.failure(arm, measure, length);
  if (values.empty()) return {failure.empty() ? kMissing : failure};
  // A seed that diverged stays: the mean is infinite.
  const analysis::Spread spread = analysis::spread_of(values);
  ReportTable::Field field = {eval::short_number(spread.mean)};
  if (spread.n > 1) {
    // A deviation of equal numbers is that of their rounding.
    const bool is_rounding = spread.deviation <= 1e-12 * std::abs(spread.mean);
    if (std::isfinite(spread.deviation))
      field.text += concat(" ± ", eval::short_number(is_rounding ? 0 : spread.deviation));
    if (spread.n_nonfinite > 0)
      field.text += concat(" (", spread.n_nonfinite, " of ", spread.n, " seeds)");
    field.hint = concat(spread.n, " seeds");
  }
  field.text += mark_of(m, arm, measure, quantity, length);
  if (!failure.empty() && spread.n_nonfinite == 0) field.text += concat(" (others ", failure, ')');
  return field;
}

namespace {

// "5.1" as "section 5.1", "A.5" as "appendix A.5"; other places have names.
std::string place_text(const std::string& place) {
  const auto first = static_cast<unsigned char>(place.front());
  if (std::isdigit(first)) return "section " + place;
  return std::isupper(first) && (place.size() == 1 || place[1] == '.') ? "appendix " + place
                                                                       : place;
}

}  // namespace

ReportTable printed_scalars_table(const Experiment& e) {
  ReportTable table;
  table.is_papers = true;
  table.caption = concat("printed: ", e.source, ", outside of its tables");
  table.header = {"quantity", "printed", "unit", "where"};
  for (const PrintedScalar& of : printed_scalars_of(e.id))
    table.rows.push_back(
        {{of.quantity, false, of.note}, {of.value}, {of.unit}, {place_text(of.place)}});
  return table;
}

std::vector<ReportTable> tables_of(const Measured& m, const Output& output) {
  if (output.form == Output::Form::rows) return {by_arm(m, output)};
  if (output.form != Output::Form::table) return {};
  std::vector<ReportTable> tables = {by_length(m, output)};
  const Experiment& e = m.experiment();
  if (e.reference.empty() || &output != &e.outputs.front()) return tables;
  for (const std::string& dataset : e.datasets) {
    if (m.dataset_named(dataset) != &m.dataset()) continue;
    ReportTable table = printed(m, output, dataset);
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace farfield::sweep
