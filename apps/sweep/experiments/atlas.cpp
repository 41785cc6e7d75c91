// Every encoding of the registry (Row::is_compared), trained the same way: a question of our own.

#include <algorithm>
#include <cmath>

#include "apps/analysis/rank_correlation.h"
#include "apps/analysis/rise.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/experiment.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/section.h"
#include "apps/sweep/sections.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char* kReference = "kerple_log";
const std::vector<double> kLengths = {1, 2, 4, 8, 16};
constexpr size_t kFewest = 10;  // encodings that a correlation is told of

std::string number(double x, int digits) { return std::isnan(x) ? "–" : fixed(x, digits); }

// Share of the gradient beyond the training length, and nats lost from there to 16 L.
struct FieldAndLoss {
  double share = std::nan(""), loss = std::nan("");
  bool is_there() const { return !std::isnan(share) && !std::isnan(loss); }
};
FieldAndLoss field_and_loss(const Measured& m, const PlannedArm& arm) {
  return {1 - m.value(arm, "P6", "recent_share"), std::log(m.ratio(arm, 16))};
}

// Of the encodings that are measured as they are trained: several others share the model of rope.
struct FieldsAndLosses {
  std::vector<double> shares, losses;
  double correlation() const { return analysis::rank_correlation(shares, losses); }
};
FieldsAndLosses fields_and_losses(const Measured& m) {
  FieldsAndLosses all;
  for (const PlannedArm& arm : m.arms()) {
    const FieldAndLoss of = field_and_loss(m, arm);
    if (!of.is_there() || !arm.measured_posenc.empty()) continue;
    all.shares.push_back(of.share);
    all.losses.push_back(of.loss);
  }
  return all;
}

void field_predicts_loss(const Measured& m, Evidence& e) {
  const char* const what = "rank correlation over encodings";
  const FieldsAndLosses all = fields_and_losses(m);
  if (all.shares.size() < kFewest) return e.missing(what);
  const double r = all.correlation();
  Evidence::Item& item = e.above(what, r, 0.7);
  item.half_width = analysis::rank_correlation_uncertainty(r, all.shares.size());
  item.is_same_in_all_seeds = true;  // the encodings are
  std::string note = concat("of ", all.shares.size(), " encodings that are measured as trained");
  if (const PlannedDataset* const topic = m.dataset_named("topic")) {
    const FieldsAndLosses far = fields_and_losses(m.on(*topic));
    if (far.shares.size() >= kFewest)
      note +=
          concat("; on topic, where distant tokens are worth most and few encodings fail, it is ",
                 fixed(far.correlation(), 2));
  }
  e.note(note);
}

// The thesis of the Sandwich paper in a picture: a point for each encoding.
ReportFigure field_figure(const Measured& m) {
  plot::Plot plot;
  plot.x_label = "share of the gradient beyond the last L inputs";
  plot.y_label = "nats lost from L to 16 L";
  plot.is_log_x = plot.may_log_y = false;
  plot.title =
      concat("the field of each encoding against its loss beyond L, on ", m.dataset().corpus);
  for (const PlannedArm& arm : m.arms()) {
    const FieldAndLoss of = field_and_loss(m, arm);
    if (!of.is_there() || !std::isfinite(of.loss)) continue;
    auto curve = std::find_if(plot.curves.begin(), plot.curves.end(),
                              [&](const plot::Curve& c) { return c.label == arm.arm.group; });
    if (curve == plot.curves.end()) {
      plot.curves.push_back({.label = arm.arm.group, .has_line = false});
      curve = plot.curves.end() - 1;
    }
    curve->points.push_back({.x = of.share, .y = of.loss});
  }
  return {plot.title, std::move(plot)};
}

// Ranks encodings, so that all numbers are of the seeds that all of them have.
void compute(const Measured& all, Section& section) {
  const Measured m = all.of_shared_seeds();
  section.figures.push_back(field_figure(m));
  ReportTable table;
  const std::vector<uint64_t> seeds = m.seeds_used();
  table.caption = concat("All encodings on ", m.dataset().corpus, ", by perplexity at 16 L, seed",
                         seeds.size() == 1 ? " " : "s ", joined(seeds));
  table.is_sortable = true;
  table.header = {"encoding", "acts on"};
  for (const double length : kLengths) table.header.push_back(length_text(length));
  for (const char* name :
       {"breaks down at", "ERF (tokens)", "reach (tokens)", "ms / step", "peak MiB", "parameters"})
    table.header.emplace_back(name);
  std::vector<const PlannedArm*> arms;
  for (const PlannedArm& arm : m.arms()) arms.push_back(&arm);
  const auto last = [&](const PlannedArm* arm) {
    const double x = m.perplexity(*arm, 16);
    return std::isnan(x) ? INFINITY : x;
  };
  std::stable_sort(arms.begin(), arms.end(),
                   [&](const PlannedArm* a, const PlannedArm* b) { return last(a) < last(b); });
  for (const PlannedArm* arm : arms) {
    const double breaks =
        analysis::first_rise(kLengths, [&](double length) { return m.perplexity(*arm, length); });
    std::vector<ReportTable::Field> fields = encoding_fields(*arm);
    for (const double length : kLengths)
      fields.push_back(field_of(m, *arm, "P1", "perplexity", length));
    fields.push_back({std::isfinite(breaks) ? length_text(breaks) : "–"});
    fields.push_back({number(m.value(*arm, "P6", "erf"), 0)});
    fields.push_back({number(m.value(*arm, "P7", "trf_exact"), 0)});
    fields.push_back({number(m.fact(*arm, "step_ms"), 1)});
    fields.push_back({number(m.fact(*arm, "peak_mib"), 0)});
    fields.push_back({number(m.fact(*arm, "posenc_parameters"), 0)});
    table.rows.push_back(std::move(fields));
  }
  section.tables.push_back(std::move(table));
}

}  // namespace

std::vector<Experiment> atlas_rows() {
  Experiment atlas = {
      .place = 900,
      .id = "atlas",
      .title = "every encoding, trained and measured the same way",
      .source = "our own",
      .datasets = {"text", "topic"},
      .few = {"text", "topic"},
      .measures = {last_token(), gradient(), {.key = "P7", .protocol = "reach", .lengths = {4}}},
      .outputs = {{.form = Output::Form::curves, .measure = "P1"}},
      .findings = {{.claim = "atlas/field-predicts-loss",
                    .check = field_predicts_loss,
                    .on = Finding::On::text,
                    .statement =
                        "on real text, the share of the gradient beyond the training length "
                        "and the nats lost from there to 16 L have a rank correlation "
                        "above 0.7 over encodings"}},
      .reference_arm = kReference,
      .compute = compute,
      .remarks = {
          "Each encoding has the arguments that its authors suggest, scaled as above; none was "
          "tuned. Those that act in a test alone are measured on the model of rope.",
          "Reach counts the inputs of the last token at 4 L that masks leave visible; ERF is a "
          "distance, "
          "and larger than that where the first tokens are always kept (streaming).",
          "ms / step and peak MiB were measured beside other work on the same machine: they say "
          "what is slow, not by how much.",
          "Marks need two seeds."}};
  atlas.arms = compared_arms();
  return {atlas};
}

}  // namespace farfield::sweep
