// Notes on ALiBi: which slopes, trained or drawn, and where the bias is added.

#include <algorithm>
#include <cmath>

#include "apps/analysis/fisher.h"
#include "apps/analysis/rise.h"
#include "apps/analysis/spread.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char* kPaper = "ALiBi (arXiv:2108.12409) ";

std::vector<Output> shown() { return {{.form = Output::Form::table, .measure = "P1"}}; }

Arm named(const std::string& label, Arm arm) {
  arm.label = label;
  arm.size = Size::baevski;
  return arm;
}

Arm trained(const char* label, const char* posenc) {
  Arm arm = named(label, arm_of("", posenc, ""));
  arm.group = "trained";
  return arm;
}

// A factor on each geometric slope; these are steeper where lengths are shorter.
std::string above_floor(const ModelConfig& model) {
  const double octaves = std::log2(static_cast<double>(tokens_of(Scale::paper, 1)) /
                                   static_cast<double>(model.train_len));
  return concat("kernel(bias=-r*2^(", shortest(octaves), "-8*h/n_head)*d, r>0=1)");
}
Arm trained_above_floor() {
  Arm arm = trained("trained above a floor", "");
  arm.posenc_for = above_floor;
  return arm;
}

void a_ts_1(const Measured& m, Evidence& e) {
  for (const PlannedArm* arm : m.arms("trained"))
    e.at_least(concat("PPL 8 L / PPL L, ", arm->label(), " / fixed"),
               m.ratio(*arm, 8) / m.ratio("fixed", 8), 0.99);
  if (!m.is_published()) return;  // the time of a small model is spent in its other parts
  for (const PlannedArm* arm : m.arms("trained"))
    e.above(concat("seconds per step, ", arm->label(), " / fixed"),
            m.value(*arm, "P10", "train_step_s") / m.value("fixed", "P10", "train_step_s"), 1);
}

Experiment trainable() {
  return {
      .place = 540,
      .id = "alibi/trainable-slopes",
      .title = "do trained slopes extrapolate better than fixed ones?",
      .source = concat(kPaper, "trainable slopes"),
      .datasets = {"wikitext103"},
      .arms = {named("fixed", alibi()), trained("trained", "alibi_learned"),
               trained("trained from 1", "alibi_learned(theta=0)"), trained_above_floor()},
      .measures = {last_token(), {.key = "P10", .protocol = "speed", .lengths = {1}}},
      .outputs = {{.form = Output::Form::table, .measure = "P1"},
                  {.form = Output::Form::rows,
                   .measure = "P10",
                   .quantities = {"train_step_s", "train_step_s_p10", "train_step_s_p90"}}},
      .findings = {{.claim = "A-TS-1",
                    .check = a_ts_1,
                    .asked = "the rise from L to 8 L is at least 0.99 of that of fixed slopes; the "
                             "time of a small model is spent in its other parts"}},
      .remarks = {"The notes do not say how slopes were trained: here e^theta, which needs no "
                  "floor, and a factor on each geometric slope that stays at or above 0.01. They "
                  "print 3 percent of speed.",
                  kTimed}};
}

constexpr int kDraws = 5;

// Each with a seed of its own, of the draw and of the training; the fixed ones differ in the
// training alone.
std::vector<Arm> draws(const Arm& of, const std::string& name, const std::string& group) {
  std::vector<Arm> arms;
  for (int draw = 0; draw < kDraws; ++draw) {
    Arm arm = named(concat(name, ' ', draw + 1), of);
    arm.group = group;
    arm.draw = static_cast<uint64_t>(draw);
    arms.push_back(arm);
  }
  return arms;
}

double spread(const Measured& m, const char* group, double length) {
  std::vector<double> losses;
  for (const PlannedArm* arm : m.arms(group))
    losses.push_back(std::log(m.perplexity(*arm, length)));
  const auto is_infinite = [](double x) { return std::isinf(x); };
  if (std::any_of(losses.begin(), losses.end(), is_infinite)) return INFINITY;  // a draw diverged
  return analysis::deviation_of(losses);
}

// 1 for a draw that works up to 16 L, never 10 % above its least perplexity before; NaN where
// something is missing.
double works(const Measured& m, const PlannedArm& arm) {
  const double at = analysis::first_rise(last_token().lengths,
                                         [&](double length) { return m.perplexity(arm, length); });
  return std::isnan(at) ? at : std::isinf(at) ? 1 : 0;
}

void a_rs_1(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 8.0}) {
    const double ratio = spread(m, "drawn", length) / spread(m, "fixed", length);
    e.above(concat("ln of the deviation of ln PPL ", length_text(length),
                   " over draws / over seeds of the fixed slopes"),
            std::log(ratio), 0)
        .half_width = std::log(analysis::deviation_ratio_factor(kDraws - 1));
    if (std::isfinite(ratio))
      e.note(concat("at ", length_text(length), " the ratio of the deviations is ", fixed(ratio, 2),
                    "; with ", kDraws, " models each, 95 % of chance lies within a factor of ",
                    fixed(analysis::deviation_ratio_factor(kDraws - 1), 1)));
  }
  double n_working = 0;
  for (const PlannedArm* arm : m.arms("drawn")) n_working += works(m, *arm);
  e.at_least("draws that are nowhere 10 % above their least before, up to 16 L", n_working, 1);
}

// All predict the same tokens of one text, so that a spread is one of models alone.
Measure same_tokens() {
  Measure measure = last_token();
  measure.options = {{"segment-set", "common"}, {"document-order", "file"}};
  return measure;
}

Experiment random() {
  Experiment e = {.place = 545,
                  .id = "alibi/random-slopes",
                  .title = "do slopes drawn at random work?",
                  .source = concat(kPaper, "slopes from an exponential distribution"),
                  .datasets = {"wikitext103"},
                  .arms = draws(arm_of("", "alibi_random", ""), "draw", "drawn"),
                  .measures = {same_tokens()},
                  .outputs = shown(),
                  .findings = {{.claim = "A-RS-1", .check = a_rs_1}},
                  .remarks = {"The notes name the distribution without its rate; slopes have the "
                              "mean 1/8, that of ALiBi with 8 heads."}};
  for (Arm& arm : draws(alibi(), "fixed, seed", "fixed")) e.arms.push_back(std::move(arm));
  return e;
}

// -log2 of a slope for each head, by its place between 0 and 1.
std::string slopes(const ModelConfig& model, double (*slope)(double place)) {
  std::string list;
  for (int64_t head = 1; head <= model.n_head; ++head) {
    const double place = static_cast<double>(head) / static_cast<double>(model.n_head + 1);
    list += concat(list.empty() ? "" : ", ", shortest(-std::log2(slope(place))));
  }
  return concat("alibi_equal(h=[", list, "])");
}
std::string even(const ModelConfig& model) {
  return slopes(model, [](double x) { return x; });
}
std::string above_one(const ModelConfig& model) {
  return slopes(model, [](double x) { return 1 + x; });
}
std::string dense(const ModelConfig& model) {
  return slopes(model, [](double x) { return x * x * x; });
}

Arm slopes_arm(const char* label, decltype(Arm::posenc_for) posenc) {
  Arm arm = named(label, {});
  arm.posenc_for = posenc;
  return arm;
}

void best_ranges(const Measured& m, Evidence& e) {
  const auto below = [&](const char* better, const char* worse) {
    e.below(concat("PPL 8 L, ", better, " / ", worse),
            m.perplexity(better, 8) / m.perplexity(worse, 8), 1);
  };
  below("even in (0, 1)", "even in (1, 2)");
  below("dense near 0", "even in (0, 1)");
  below("geometric", "even in (0, 1)");
}

Experiment range() {
  return {.place = 550,
          .id = "alibi/slope-range",
          .title = "in which range are good slopes?",
          .source = concat(kPaper, "section 3"),
          .datasets = {"wikitext103"},
          .arms = {named("geometric", alibi()), slopes_arm("even in (0, 1)", even),
                   slopes_arm("even in (1, 2)", above_one), slopes_arm("dense near 0", dense)},
          .measures = {last_token()},
          .outputs = shown(),
          .findings = {{.claim = "alibi/slope-range/best",
                        .check = best_ranges,
                        .statement = "the best slopes lie between 0 and 1 and are denser towards "
                                     "0"}},
          .remarks = {"Dense near 0: the third power of the even ones."}};
}

std::string inside(const ModelConfig& model) {
  return concat("alibi(bias_scale=", shortest(1 / std::sqrt(static_cast<double>(model.head_dim()))),
                ')');
}

Experiment no_scaling() {
  return {.place = 555,
          .id = "alibi/no-scaling",
          .title = "is the bias added before or after the division by sqrt(head width)?",
          .source = concat(kPaper, "section 3"),
          .datasets = {"wikitext103"},
          .arms = {named("after the division", alibi()), slopes_arm("before the division", inside)},
          .measures = {last_token()},
          .outputs = shown(),
          .remarks = {"Before it, the slopes are sqrt(head width) times weaker."}};
}

}  // namespace

std::vector<Experiment> alibi_slopes_rows() {
  const Experiment value_separation = {
      .place = 580,
      .id = "alibi/value-separation",
      .title = "does it help that values hold no position?",
      .source = concat(kPaper, "a hypothesis of the notes"),
      .not_run = "its encoding, rotary with rotated values, is not implemented"};
  return {trainable(), random(), range(), no_scaling(), value_separation};
}

}  // namespace farfield::sweep
