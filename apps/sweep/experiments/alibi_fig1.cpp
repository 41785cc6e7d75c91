// Notes on ALiBi: how far four encodings extrapolate, what they cost, and what a short context
// costs.

#include <algorithm>
#include <cmath>

#include "apps/analysis/rise.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/section.h"
#include "apps/sweep/step_times.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char* kPaper = "ALiBi (arXiv:2108.12409) ";
const std::vector<double> kLengths = {1, 2, 4, 8, 16, 32};

std::vector<Arm> four() { return {sinusoidal(), rotary(), t5(), alibi()}; }

// The four, trained at each of these lengths: a group for each.
std::vector<Arm> four_at(const std::vector<double>& train_lens,
                         Arm::Scales scales = Arm::Scales::all) {
  std::vector<Arm> arms;
  for (const double length : train_lens)
    for (Arm arm : four()) {
      arm.group = trained_at(length);
      if (length != 1) arm.label += ", " + arm.group;
      arm.size = Size::baevski;
      arm.train_len = length;
      arm.scales = scales;
      arms.push_back(arm);
    }
  return arms;
}

const PlannedArm* in_group(const Measured& m, const std::string& group, const char* encoding) {
  for (const PlannedArm* arm : m.arms(group))
    if (arm->arm.encoding == encoding) return arm;
  return nullptr;
}

// From the training length to 16 times it.
double first_rise(const Measured& m, const PlannedArm& arm, const std::string& measure) {
  std::vector<double> lengths = kLengths;
  std::erase_if(lengths, [&](double length) {
    return length < arm.arm.train_len || length > 16 * arm.arm.train_len;
  });
  return analysis::first_rise(
      lengths, [&](double length) { return m.value(arm, measure, "perplexity", length); });
}

void a_f1_1(const Measured& m, Evidence& e) {
  constexpr const char* kOrder[] = {"sinusoidal", "rope", "t5", "alibi"};
  for (const double train_len : {1.0, 2.0})
    for (const char* measure : {"P2", "P3"}) {
      const std::string what = concat(trained_at(train_len), ", ", measure, ": ");
      const auto at = [&](const char* encoding) {
        return first_rise(m, *in_group(m, trained_at(train_len), encoding), measure);
      };
      e.below(what + "sinusoidal: first length, in L, 10 % above the least before", at(kOrder[0]),
              INFINITY);
      for (size_t i = 1; i < std::size(kOrder); ++i) {
        const std::string later =
            concat(what, kOrder[i], ": that length after that of ", kOrder[i - 1]);
        const double own = at(kOrder[i]), before = at(kOrder[i - 1]);
        if (own == before)
          e.undecided(
              later, own,
              std::isfinite(own) ? "apart by a doubling of the length" : "that both degrade");
        else
          e.at_least(later, own, before);
      }
      e.at_least(what + "alibi: that length", at("alibi"), INFINITY);
    }
}

Output panel(const char* measure, double train_len) {
  return {.form = Output::Form::table,
          .measure = measure,
          .caption = concat(measure[1] == '2' ? "perplexity of chunks, "
                                              : "perplexity by windows that move on by a quarter, ",
                            trained_at(train_len)),
          .groups = {trained_at(train_len)}};
}

Experiment alibi_fig1() {
  return {.place = 510,
          .id = "alibi/fig1",
          .title = "how far do four encodings extrapolate?",
          .source = concat(kPaper, "figure 1"),
          .datasets = {"wikitext103"},
          .arms = four_at({1, 2}),
          .measures = {{.key = "P2", .protocol = "non-overlapping", .lengths = kLengths},
                       {.key = "P3",
                        .protocol = "sliding",
                        .lengths = kLengths,
                        .options = {{"max-tokens", "{800}"}}}},
          .outputs = {panel("P2", 1), panel("P2", 2), panel("P3", 1), panel("P3", 2)},
          .findings = {{.claim = "A-F1-1", .check = a_f1_1}},
          .remarks = {"The notes have the figure without numbers. Non-overlapping perplexity falls "
                      "with the length for every model, since fewer tokens have a short context."}};
}

// Models of a few steps, since only their cost is looked at.
std::vector<Arm> timed() {
  std::vector<Arm> arms = four_at({1, 2, 6});
  for (Arm& arm : arms) arm.steps = 0.01;
  return arms;
}

void a_f2_1(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 6.0}) {
    const auto compare = [&](const char* one, const char* other, const auto& judge) {
      const PlannedArm &a = *in_group(m, trained_at(length), one),
                       &b = *in_group(m, trained_at(length), other);
      const std::string what =
          concat(trained_at(length), ": speed of training, ", a.label(), " / ", b.label());
      const double ratio = step_time(m, b) / step_time(m, a);
      if (are_step_times_apart(m, a, b))
        judge(what, ratio);
      else
        e.undecided(what, ratio, kStepTimesApart);
    };
    compare("alibi", "sinusoidal",
            [&](const std::string& what, double ratio) { e.at_least(what, ratio, 0.97); });
    for (const char* other : {"sinusoidal", "rope", "alibi"})
      compare("t5", other, [&](const std::string& what, double ratio) { e.below(what, ratio, 1); });
  }
}

// 100 MB, in MiB.
constexpr double kMoreMemory = 100e6 / (1 << 20);

void memory(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 6.0}) {
    const auto peak = [&](const char* encoding) {
      return m.value(*in_group(m, trained_at(length), encoding), "P10", "train_peak_mib");
    };
    e.at_most(trained_at(length) + ": MiB of training, ALiBi less Sinusoidal",
              peak("alibi") - peak("sinusoidal"), kMoreMemory);
  }
}

Experiment alibi_fig2() {
  return {.place = 520,
          .id = "alibi/fig2",
          .title = "what do four encodings cost in time and memory?",
          .source = concat(kPaper, "figure 2"),
          .datasets = {"wikitext103"},
          .arms = timed(),
          .measures = {{.key = "P10", .protocol = "speed", .lengths = {1, 2, 6}}},
          .outputs = {{.form = Output::Form::rows,
                       .measure = "P10",
                       .quantities = {"train_step_s", "train_step_s_p10", "train_step_s_p90",
                                      "train_tokens_per_s", "train_peak_mib"},
                       .caption = "training"},
                      {.form = Output::Form::rows,
                       .measure = "P10",
                       .quantities = {"infer_tokens_per_s", "infer_peak_mib"},
                       .caption = "inference at 6 L",
                       .length = 6}},
          .findings = {{.claim = "A-F2-1", .check = a_f2_1},
                       {.claim = "alibi/fig2/memory",
                        .check = memory,
                        .statement = "ALiBi takes at most 100 MB more memory in training than "
                                     "sinusoidal, as its code repository says"}},
          .remarks = {"Measured on models of a few steps. Where one kernel reads every table, all "
                      "encodings may cost the same.",
                      kTimed}};
}

Arm large(Arm arm, double train_len, Arm::Scales scales) {
  arm.group = arm.label;
  arm.label += ", " + trained_at(train_len);
  arm.train_len = train_len;
  arm.scales = scales;
  arm.size = scales == Arm::Scales::published ? Size::large : Size::base;
  return arm;
}

void as_good_at_half(const Measured& m, Evidence& e) {
  const PlannedArm *shorter = m.arms("ALiBi").front(), *longer = m.arms("Sinusoidal").front();
  const double length = longer->arm.train_len;
  e.at_most(
      concat("PPL ", length_text(length), ", ALiBi ", trained_at(shorter->arm.train_len),
             " / Sinusoidal ", trained_at(length)),
      m.value(*shorter, "P2", "perplexity", length) / m.value(*longer, "P2", "perplexity", length),
      1.01);
}

void a_13_1(const Measured& m, Evidence& e) {
  as_good_at_half(m, e);
  if (!m.is_published()) return;  // attention is too small a part of a small model
  const auto ratio = [&](const char* quantity) {
    return m.value(*m.arms("ALiBi").front(), "P10", quantity) /
           m.value(*m.arms("Sinusoidal").front(), "P10", quantity);
  };
  e.below("seconds per step, ALiBi / Sinusoidal", ratio("train_step_s"), 1);
  e.below("memory of training, ALiBi / Sinusoidal", ratio("train_peak_mib"), 1);
}

Experiment half_as_long() {
  Experiment e = {
      .place = 530,
      .id = "alibi/1.3b",
      .title = "is ALiBi trained on half the length as good as sinusoidal?",
      .source = concat(kPaper, "1.3B parameters"),
      .datasets = {"openwebtext2"},
      .measures = {{.key = "P2", .protocol = "non-overlapping", .lengths = {1, 2, 4}},
                   {.key = "P10", .protocol = "speed", .lengths = {1}}},
      .outputs = {{.form = Output::Form::table, .measure = "P2"},
                  {.form = Output::Form::rows,
                   .measure = "P10",
                   .quantities = {"train_step_s", "train_tokens_per_s", "train_peak_mib"}}},
      .findings = {{.claim = "A-13-1",
                    .check = a_13_1,
                    .asked = "perplexity alone: attention is too small a part of a small model's "
                             "time and memory"},
                   {.claim = "alibi/1.3b/perplexity",
                    .check = as_good_at_half,
                    .statement = "ALiBi trained at half the length is at most 1 percent above "
                                 "sinusoidal"}},
      .remarks = {"Equal tokens per update. Printed: 1.11 times the speed, 0.89 of the memory.",
                  kTimed}};
  for (const auto scales : {Arm::Scales::published, Arm::Scales::shrunk}) {
    const double shorter = scales == Arm::Scales::published ? 2 : 1;
    e.arms.push_back(large(alibi(), shorter, scales));
    e.arms.push_back(large(sinusoidal(), 2 * shorter, scales));
    e.arms.back().batch = 0.5;
  }
  return e;
}

// Uses only a part of the text, since windows with stride 1 read each token as many times as they
// are long.
Measure by_windows(double length, const std::string& stride, const std::string& shown) {
  return {.key = concat("P3 ", length_text(length), ", stride ", shown),
          .protocol = "sliding",
          .lengths = {length},
          .options = {{"stride", stride}, {"max-tokens", "{200}"}}};
}
Measure strided(double length, double stride) {
  return by_windows(length, concat('{', stride, '}'), length_text(stride));
}
Measure by_token(double length) { return by_windows(length, "1", "1"); }

const std::vector<double> kWindows = {1, 4};

std::vector<Measure> strides(double length) {
  return {strided(length, length), strided(length, length / 2), strided(length, length / 4),
          by_token(length)};
}

double perplexity(const Measured& m, const PlannedArm& arm, const Measure& measure) {
  return m.value(arm, measure.key, "perplexity", measure.lengths.front());
}

void strides_table(const Measured& m, Section& section) {
  for (const double length : kWindows) {
    ReportTable table;
    table.caption = concat("perplexity with windows of ", length_text(length), " by stride, on ",
                           m.dataset().corpus);
    table.header = {"stride", "least context"};
    for (const PlannedArm& arm : m.arms()) table.header.push_back(arm.label());
    for (const Measure& measure : strides(length)) {
      const std::string stride = measure.options.front().second;
      const int64_t tokens = stride == "1" ? 1 : tokens_of(m.scale(), std::stod(stride.substr(1)));
      std::vector<ReportTable::Field> row = {{concat(tokens)},
                                             {concat(tokens_of(m.scale(), length) - tokens + 1)}};
      for (const PlannedArm& arm : m.arms()) {
        const double x = perplexity(m, arm, measure);
        row.push_back({std::isnan(x) ? "–" : fixed(x, 4)});
      }
      table.rows.push_back(std::move(row));
    }
    section.tables.push_back(std::move(table));
  }
}

void falls_with_stride(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms())
    for (const double length : kWindows) {
      const std::vector<Measure> all = strides(length);
      for (size_t i = 1; i < all.size(); ++i)
        e.at_most(concat(arm.label(), ": ", all[i].key, " / the stride before"),
                  perplexity(m, arm, all[i]) / perplexity(m, arm, all[i - 1]), 1.005);
    }
}

void gap_shrinks(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms()) {
    const auto gap = [&](double length) {
      const std::vector<Measure> all = strides(length);
      return perplexity(m, arm, all.front()) - perplexity(m, arm, all.back());
    };
    e.below(arm.label() + ": non-overlapping less stride 1, at 4 L / at L", gap(4) / gap(1), 1);
  }
}

Experiment early_token() {
  Arm own = alibi(), log = kerple_log();
  own.size = log.size = Size::baevski;
  Experiment e = {.place = 560,
                  .id = "alibi/early-token",
                  .title = "what does a short context cost?",
                  .source = concat(kPaper, "the early token curse"),
                  .datasets = {"wikitext103"},
                  .arms = {own, log},
                  .findings = {{.claim = "alibi/early-token/stride",
                                .check = falls_with_stride,
                                .statement = "perplexity does not rise as the stride falls, but "
                                             "for 0.5 percent of noise"},
                               {.claim = "alibi/early-token/gap",
                                .check = gap_shrinks,
                                .statement = "what stride 1 gains over windows that do not overlap "
                                             "shrinks with their length"}},
                  .compute = strides_table};
  for (const double length : kWindows)
    for (Measure& measure : strides(length)) e.measures.push_back(std::move(measure));
  return e;
}

// The order at the training length, which short trainings do not show.
void as_good_as_sinusoidal(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms()) {
    if (arm.arm.encoding != "alibi") continue;
    const double length = arm.arm.train_len;
    e.at_most(
        concat("PPL ", length_text(length), " of those ", arm.arm.group, ", ALiBi / Sinusoidal"),
        m.value(arm, "P2", "perplexity", length) /
            m.value(*in_group(m, arm.arm.group, "sinusoidal"), "P2", "perplexity", length),
        1);
  }
}

void alibi_by_train_length(const Measured& m, Section& section) {
  plot::Plot plot = {.title = "ALiBi by its training length on " + m.dataset().corpus,
                     .x_label = "evaluation length (tokens)",
                     .y_label = "perplexity of chunks",
                     .curves = {}};
  for (const PlannedArm& arm : m.arms()) {
    if (arm.arm.encoding != "alibi") continue;
    plot::Curve& curve = plot.curves.emplace_back();
    curve.label = arm.arm.group;
    for (const double length : m.experiment().measures.front().lengths)
      if (const double y = m.value(arm, "P2", "perplexity", length); std::isfinite(y))
        curve.points.push_back({.x = static_cast<double>(tokens_of(m.scale(), length)), .y = y});
  }
  section.figures.push_back({plot.title, plot});
}

Experiment wikitext() {
  Experiment e = {
      .place = 570,
      .id = "alibi/wikitext103",
      .title = "is ALiBi as good as others at the length of training, whatever that is?",
      .source = concat(kPaper, "WikiText-103"),
      .datasets = {"wikitext103"},
      .arms = four_at({1, 2, 4, 6}, Arm::Scales::published),
      .measures = {{.key = "P2", .protocol = "non-overlapping", .lengths = {0.5, 1, 2, 4, 6, 8}}},
      .outputs = {{.form = Output::Form::table,
                   .measure = "P2",
                   .caption = "perplexity of chunks"}},
      .findings = {{.claim = "alibi/wikitext103/train-length",
                    .check = as_good_as_sinusoidal,
                    .statement = "ALiBi is at least as good as sinusoidal at each training "
                                 "length",
                    .needs_steps = true}},
      .compute = alibi_by_train_length};
  for (Arm& arm : four_at({0.5, 1, 2}, Arm::Scales::shrunk)) e.arms.push_back(std::move(arm));
  return e;
}

}  // namespace

std::vector<Experiment> alibi_fig1_rows() {
  return {alibi_fig1(), alibi_fig2(), half_as_long(), early_token(), wikitext()};
}

}  // namespace farfield::sweep
