// What every encoding of the registry (Row::is_compared) finds again far beyond its training
// length: flat perplexity may be the forgetting of distant tokens. A question of our own.

#include <algorithm>
#include <cmath>

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/section.h"
#include "apps/sweep/sections.h"
#include "apps/sweep/task_arms.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "posenc/registry.h"

namespace farfield::sweep {
namespace {

const std::vector<double> kKeyLengths = {1, 2, 4, 8};
constexpr const char *kFound = "exact_match", *kByPlace = "exact match by place";

double share_of_keys(const Measured& m, const PlannedArm& arm, double length) {
  return m.value(arm, kAnswers, kFound, length);
}

// The mean share of the keys in these parts of the sequence.
double share_between(const eval::Series& places, double from, double to) {
  double sum = 0;
  int64_t n = 0;
  for (size_t i = 0; i < places.y.size(); ++i) {
    if (places.x[i] < from || places.x[i] > to) continue;
    sum += places.y[i];
    ++n;
  }
  return n == 0 ? std::nan("") : sum / static_cast<double>(n);
}

// The measured encodings: what finds most at the longest length first.
std::vector<const PlannedArm*> ranked(const Measured& m) {
  std::vector<const PlannedArm*> arms;
  for (const PlannedArm& arm : m.arms())
    if (!std::isnan(share_of_keys(m, arm, 1))) arms.push_back(&arm);
  std::stable_sort(arms.begin(), arms.end(), [&](const PlannedArm* a, const PlannedArm* b) {
    for (auto length = kKeyLengths.rbegin(); length != kKeyLengths.rend(); ++length) {
      const auto share = [&](const PlannedArm* arm) {
        const double x = share_of_keys(m, *arm, *length);
        return std::isnan(x) ? -1 : x;
      };
      if (share(a) != share(b)) return share(a) > share(b);
    }
    return false;
  });
  return arms;
}

ReportTable retrieval_table(const Measured& m, const std::vector<const PlannedArm*>& arms) {
  ReportTable table;
  table.caption = "share of keys that are found, by length and by the place of the key at 8 L";
  table.is_sortable = true;
  table.header = {"encoding", "acts on"};
  for (const double length : kKeyLengths) table.header.push_back(length_text(length));
  table.header.insert(table.header.end(), {"8 L, first half", "8 L, last tenth"});
  for (const PlannedArm* const arm : arms) {
    const posenc::Row* const row = posenc::find(arm->label());
    const eval::Series places = m.series(*arm, kAnswers, kByPlace, kKeyLengths.back());
    std::vector<ReportTable::Field>& fields = table.rows.emplace_back();
    fields.push_back({arm->label(), false,
                      arm->measured_posenc.empty()
                          ? arm->posenc
                          : concat(arm->measured_posenc, ", trained as ", arm->posenc)});
    fields.push_back({row == nullptr ? "" : row->classes});
    for (const double length : kKeyLengths)
      fields.push_back(field_of(m, *arm, kAnswers, kFound, length));
    for (const double share : {share_between(places, 0, 0.5), share_between(places, 0.9, 1)})
      fields.push_back({std::isnan(share) ? "–" : fixed(share, 3)});
  }
  return table;
}

// Rows of encodings, the best at the top; columns of the place of the key.
ReportFigure retrieval_map(const Measured& m, const std::vector<const PlannedArm*>& arms,
                           double length) {
  constexpr size_t kColumns = 10;
  plot::HeatMap map;
  map.title = concat("keys found at ", length_text(length), " by their place");
  map.x_label = "place of the key (share of the sequence)";
  map.value_label = "share of keys";
  bool has_values = false;
  for (auto arm = arms.rbegin(); arm != arms.rend(); ++arm) {
    const eval::Series places = m.series(**arm, kAnswers, kByPlace, length);
    std::vector<double> row(kColumns, std::nan(""));
    for (size_t i = 0; i < places.y.size(); ++i)
      row[std::min(kColumns - 1, static_cast<size_t>(places.x[i] * kColumns))] = places.y[i];
    has_values |= std::any_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); });
    map.rows.push_back((*arm)->label());
    map.values.insert(map.values.end(), row.begin(), row.end());
  }
  if (!has_values) return {};
  ReportFigure figure;
  figure.caption = map.title;
  figure.map = std::move(map);
  return figure;
}

void show_retrieval(const Measured& m, Section& section) {
  const std::vector<const PlannedArm*> arms = ranked(m);
  if (arms.empty()) return;
  section.tables.push_back(retrieval_table(m, arms));
  for (const double length : {2.0, 8.0}) section.figures.push_back(retrieval_map(m, arms, length));
}

void found_in_training_range(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms())
    if (arm.measured_posenc.empty())
      e.at_least(concat(arm.label(), ": share of keys at L"), share_of_keys(m, arm, 1), 0.9);
}

void linear_biases_forget(const Measured& m, Evidence& e) {
  for (const char* label : {"alibi", "sandwich", "window", "t5", "kerple_log"}) {
    const PlannedArm* const arm = m.arm(label);
    if (arm == nullptr) continue;
    e.below(concat(label, ": share of keys at 8 L - at L"),
            share_of_keys(m, *arm, 8) - share_of_keys(m, *arm, 1), -0.1);
  }
}

}  // namespace

std::vector<Experiment> atlas_passkey_rows() {
  std::vector<Arm> arms;
  for (const Arm& of : compared_arms()) {
    Arm arm = on_task(of, "passkey");
    arm.group = of.group;
    arm.task_lengths = "{0.25}..{1}";
    arms.push_back(arm);
  }
  Experiment e =
      of_tasks(910, "atlas/passkey", "which encodings find a key far beyond their training length?",
               "our own", {}, std::move(arms));
  e.measures = {answers(kKeyLengths, 200)};
  e.findings = {own_finding("atlas/passkey/in-range", found_in_training_range,
                            "every encoding finds at least 90 percent of the keys at the training "
                            "length"),
                own_finding("atlas/passkey/forgets", linear_biases_forget,
                            "encodings whose perplexity holds beyond the training length find at "
                            "least 10 points fewer keys at 8 L than at L")};
  e.compute = show_retrieval;
  e.remarks = {
      "Three digits among words of a cyclic sentence, asked for at the end; a key counts if all "
      "three are right, chance is 0.001. Training has lengths from a quarter of L to L.",
      "The encodings and their arguments are those of the atlas. Those that act in a test alone "
      "are measured on the model of rope."};
  return {e};
}

}  // namespace farfield::sweep
