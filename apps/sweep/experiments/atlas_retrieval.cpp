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

namespace farfield::sweep {
namespace {

const std::vector<double> kRetrievalLengths = {1, 2, 4, 8};

// A task whose answers repeat earlier tokens, and how they are counted.
struct Retrieval {
  const char* task;
  const char* lengths;  // of training
  const char* quantity;
  const char* series;          // the quantity by tenths of the sequence
  const char *share, *by;      // in words: "share of keys that are found", "place of the key"
  const char *found, *places;  // the same in the title of a map: "keys found", "their place"
  struct Part {
    const char* heading;
    double from, to;
  };
  Part far, near;  // of the series at the longest length
};

constexpr Retrieval kKeys = {.task = "passkey",
                             .lengths = "{0.25}..{1}",
                             .quantity = "exact_match",
                             .series = "exact match by place",
                             .share = "share of keys that are found",
                             .by = "place of the key",
                             .found = "keys found",
                             .places = "their place",
                             .far = {"8 L, first half", 0, 0.5},
                             .near = {"8 L, last tenth", 0.9, 1}};
constexpr Retrieval kPassages = {.task = "induction",
                                 .lengths = "{0.5}..{1}",
                                 .quantity = "accuracy",
                                 .series = "accuracy by distance",
                                 .share = "share of right answers",
                                 .by = "distance to the passage that comes again",
                                 .found = "right answers",
                                 .places = "distance",
                                 .far = {"8 L, 0.3 to 0.7 away", 0.3, 0.7},
                                 .near = {"8 L, nearest tenth", 0, 0.1}};

template <const Retrieval& of>
double share_found(const Measured& m, const PlannedArm& arm, double length) {
  return m.value(arm, kAnswers, of.quantity, length);
}

// The measured encodings: what finds most at the longest length first.
template <const Retrieval& of>
std::vector<const PlannedArm*> ranked(const Measured& m) {
  std::vector<const PlannedArm*> arms;
  for (const PlannedArm& arm : m.arms())
    if (!std::isnan(share_found<of>(m, arm, 1))) arms.push_back(&arm);
  std::stable_sort(arms.begin(), arms.end(), [&](const PlannedArm* a, const PlannedArm* b) {
    for (auto length = kRetrievalLengths.rbegin(); length != kRetrievalLengths.rend(); ++length) {
      const auto share = [&](const PlannedArm* arm) {
        const double x = share_found<of>(m, *arm, *length);
        return std::isnan(x) ? -1 : x;
      };
      if (share(a) != share(b)) return share(a) > share(b);
    }
    return false;
  });
  return arms;
}

template <const Retrieval& of>
ReportTable retrieval_table(const Measured& m, const std::vector<const PlannedArm*>& arms) {
  ReportTable table;
  table.caption = concat(of.share, ", by length and at 8 L by the ", of.by);
  table.is_sortable = true;
  table.header = {"encoding", "acts on"};
  for (const double length : kRetrievalLengths) table.header.push_back(length_text(length));
  table.header.insert(table.header.end(), {of.far.heading, of.near.heading});
  for (const PlannedArm* const arm : arms) {
    const eval::Series tenths = m.series(*arm, kAnswers, of.series, kRetrievalLengths.back());
    std::vector<ReportTable::Field>& fields = table.rows.emplace_back(encoding_fields(*arm));
    for (const double length : kRetrievalLengths)
      fields.push_back(field_of(m, *arm, kAnswers, of.quantity, length));
    for (const Retrieval::Part& part : {of.far, of.near}) {
      const double share = mean_between(tenths, part.from, part.to);
      fields.push_back({std::isnan(share) ? "–" : fixed(share, 3)});
    }
  }
  return table;
}

// Rows of encodings, the best at the top; columns of the place, or of the distance.
template <const Retrieval& of>
ReportFigure retrieval_map(const Measured& m, const std::vector<const PlannedArm*>& arms,
                           double length) {
  constexpr size_t kColumns = 10;
  plot::HeatMap map;
  map.title = concat(of.found, " at ", length_text(length), " by ", of.places);
  map.x_label = concat(of.by, " (share of the sequence)");
  map.value_label = "share";
  bool has_values = false;
  for (auto arm = arms.rbegin(); arm != arms.rend(); ++arm) {
    const eval::Series tenths = m.series(**arm, kAnswers, of.series, length);
    std::vector<double> row(kColumns, std::nan(""));
    for (size_t i = 0; i < tenths.y.size(); ++i)
      row[std::min(kColumns - 1, static_cast<size_t>(tenths.x[i] * kColumns))] = tenths.y[i];
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

template <const Retrieval& of>
void show_retrieval(const Measured& m, Section& section) {
  const std::vector<const PlannedArm*> arms = ranked<of>(m);
  if (arms.empty()) return;
  section.tables.push_back(retrieval_table<of>(m, arms));
  for (const double length : {2.0, 8.0})
    section.figures.push_back(retrieval_map<of>(m, arms, length));
}

template <const Retrieval& of>
void found_in_training_range(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms())
    if (arm.measured_posenc.empty())
      e.at_least(concat(arm.label(), ": ", of.share, " at L"), share_found<of>(m, arm, 1), 0.9);
}

template <const Retrieval& of>
void linear_biases_forget(const Measured& m, Evidence& e) {
  for (const char* label : {"alibi", "sandwich", "window", "t5", "kerple_log"}) {
    const PlannedArm* const arm = m.arm(label);
    if (arm == nullptr) continue;
    e.below(concat(label, ": ", of.share, " at 8 L - at L"),
            share_found<of>(m, *arm, 8) - share_found<of>(m, *arm, 1), -0.1);
  }
}

template <const Retrieval& of>
Experiment retrieval(int place, const std::string& title, const std::string& in_range,
                     const std::string& forgets, const std::string& remark) {
  std::vector<Arm> arms;
  for (const Arm& compared : compared_arms()) {
    Arm arm = on_task(compared, of.task);
    arm.group = compared.group;
    arm.task_lengths = of.lengths;
    arms.push_back(arm);
  }
  const std::string id = concat("atlas/", of.task);
  Experiment e = of_tasks(place, id, title, "our own", {}, std::move(arms));
  e.measures = {answers(kRetrievalLengths, 200)};
  e.findings = {own_finding(id + "/in-range", found_in_training_range<of>, in_range),
                own_finding(id + "/forgets", linear_biases_forget<of>, forgets)};
  e.compute = show_retrieval<of>;
  e.remarks = {remark,
               "The encodings and their arguments are those of the atlas. Those that act in a "
               "test alone are measured on the model of rope."};
  return e;
}

}  // namespace

std::vector<Experiment> atlas_retrieval_rows() {
  return {retrieval<kKeys>(
              910, "which encodings find a key far beyond their training length?",
              "every encoding finds at least 90 percent of the keys at the training length",
              "encodings whose perplexity holds beyond the training length find at least 10 points "
              "fewer keys at 8 L than at L",
              "Three digits among words of a cyclic sentence, asked for at the end; a key counts "
              "if all three are right, chance is 0.001. Training has lengths from a quarter of L "
              "to L."),
          retrieval<kPassages>(
              920, "which encodings continue a passage that comes again from far away?",
              "every encoding gives at least 90 percent of the answers right at the training "
              "length",
              "encodings whose perplexity holds beyond the training length give at least 10 points "
              "fewer right answers at 8 L than at L",
              "Passages of 8 random symbols come again; the last five of each are answers, chance "
              "is 0.03. Nothing but the text before marks the place, so that attention has to find "
              "it by content. Training has lengths from half of L to L.")};
}

}  // namespace farfield::sweep
