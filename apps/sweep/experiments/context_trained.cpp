// The write-up on extending context: what is done to a trained rotary model, without training and
// with a short fine-tune. One training serves all of it.

#include <algorithm>
#include <cmath>

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char* kBase = "no change";
constexpr const char* kMeasure = "P16";

// 1500 steps at tiny.
Arm trained_rotary() {
  Arm arm = arm_of(kBase, "rope", "");
  arm.steps = 1.25;
  return arm;
}

// Measured under another expression.
Arm tested_with(const std::string& label, const std::string& posenc) {
  Arm arm = trained_rotary();
  arm.label = label;
  arm.measured_posenc = posenc;
  return arm;
}

// A fine-tune of so many steps at tiny, on sequences of `lengths`.
Arm fine_tuned(const std::string& label, const std::string& posenc, int steps,
               const std::string& lengths = "1:{4}") {
  Arm arm = arm_of(label, posenc, "");
  arm.starts_from = kBase;
  arm.steps = steps / 1200.0;
  arm.batch = 0.25;
  arm.training = {{"lr", "0.0005"}, {"warmup", "0"}, {"lengths", lengths}};
  return arm;
}

double region(const Measured& m, const std::string& arm, const char* bounds) {
  return m.value(arm, kMeasure, concat("perplexity_", bounds));
}
// The mean perplexity from 2 to 4 training lengths, and in range.
double far(const Measured& m, const std::string& arm) {
  return std::sqrt(region(m, arm, "2_to_3") * region(m, arm, "3_to_4"));
}
double near(const Measured& m, const std::string& arm) { return region(m, arm, "0.75_to_1"); }

constexpr const char *kFar = "PPL from 2 to 4 L", *kNear = "PPL from 0.75 to 1 L";

std::vector<Output> regions() {
  return {{.form = Output::Form::rows,
           .measure = kMeasure,
           .quantities = {"perplexity_0.75_to_1", "perplexity_1_to_1.25", "perplexity_1.25_to_1.5",
                          "perplexity_1.5_to_2", "perplexity_2_to_3", "perplexity_3_to_4",
                          "breakdown_position", "greedy_nll", "greedy_distinct_4",
                          "sampled_distinct_4"},
           .positions = {"breakdown_position"},
           .caption = "mean perplexity by position in training lengths, the position where text "
                      "breaks down, and continuations of a prompt of 1.37 L"},
          {.form = Output::Form::series,
           .measure = kMeasure,
           .quantity = "smoothed perplexity",
           .caption = "perplexity by position",
           .is_log_x = false}};
}

Experiment intervention(int place, const std::string& name, const std::string& title,
                        std::vector<Arm> arms, std::vector<Finding> findings) {
  arms.insert(arms.begin(), trained_rotary());
  return {.place = place,
          .id = "context/" + name,
          .title = title,
          .source = kContextWriteUp,
          .datasets = {"text"},
          .arms = std::move(arms),
          .base_arm = kBase,
          // Regions of few sequences differ by their text alone.
          .measures = {{.key = kMeasure,
                        .protocol = "coherence",
                        .options = {{"coherence-sequences", "256"}}}},
          .outputs = regions(),
          .findings = std::move(findings)};
}

void base_1(const Measured& m, Evidence& e) {
  const auto train_len = static_cast<double>(m.plan().tokens(1));
  const double breakdown = m.value(kBase, kMeasure, "breakdown_position") / train_len;
  e.at_least("position of the breakdown, in L", breakdown, 1);
  e.at_most("position of the breakdown, in L", breakdown, m.pick(1.27, 2));
  e.at_least(concat(kFar, " / ", kNear), far(m, kBase) / near(m, kBase), 3);
}

Experiment baseline() {
  return intervention(610, "baseline", "where does a rotary model break down?", {},
                      {{.claim = "C-BASE-1",
                        .check = base_1,
                        .asked = "perplexity breaks down between 1 and 2 L, and from 2 to 4 L it "
                                 "is at least 3 times the value in range"}});
}

void as_before(const Measured& m, Evidence& e, const char* arm, double share) {
  e.within(concat(arm, ": ", kFar, " / without change"), far(m, arm) / far(m, kBase), 1, share);
}

void temperature_2(const Measured& m, Evidence& e) { as_before(m, e, "temperature 2", 0.2); }

Experiment temperature() {
  return intervention(
      620, "temperature", "does a higher temperature of the softmax help?",
      {tested_with("temperature 2", "rope + kernel(weight=0.5)")},
      {own_finding("context/temperature/same", temperature_2,
                   "temperature 2 changes perplexity from 2 to 4 L by at most 20 percent")});
}

const std::vector<double> kTestWindows = {64, 128, 256, 512};  // of 512
std::string window_label(double w) { return concat("window of ", shortest(w / 512), " L"); }

void win_1(const Measured& m, Evidence& e) {
  e.at_least(concat(window_label(256), ": ", kFar, " / ", kNear, " without change"),
             far(m, window_label(256)) / near(m, kBase), 1.25);
}

void window_is_flat(const Measured& m, Evidence& e) {
  for (const double w : {64.0, 128.0, 256.0})
    e.at_most(concat(window_label(w), ": ", kFar, " / ", kNear, " without change"),
              far(m, window_label(w)) / near(m, kBase), 1.15);
}

Experiment window_mask() {
  std::vector<Arm> arms;
  for (const double w : kTestWindows)
    arms.push_back(tested_with(window_label(w), concat("rope + window(w=", w, ")")));
  arms.push_back(tested_with("window of 0.5 L and 4 sinks", "rope + window(w=256, sinks=4)"));
  Experiment e = intervention(
      630, "window-mask", "does a window keep a rotary model coherent?", std::move(arms),
      {{.claim = "C-WIN-1", .check = win_1, .asked = "with a window of half the training length"},
       own_finding("context/window-mask/flat", window_is_flat,
                   "windows of at most half the training length keep perplexity within 15 percent "
                   "of the value in range")});
  e.remarks = {
      "Every visible distance lies in the trained range. The write-up's report is of a "
      "model of 13 billion parameters, whose first tokens may act as attention sinks."};
  return e;
}

const std::vector<const char*> kClamps = {"-2", "0", "1"};
std::string clamp_label(const std::string& c) { return concat("logits below ", c, " masked"); }

void clamp_1(const Measured& m, Evidence& e) {
  for (const char* c : kClamps) as_before(m, e, clamp_label(c).c_str(), 0.1);
}

Experiment clamping() {
  std::vector<Arm> arms;
  for (const char* c : kClamps)
    arms.push_back(
        tested_with(clamp_label(c), concat("rope + logit_clamp(tau=", c, ", mode=absolute)")));
  return intervention(640, "clamping", "does it help to mask small logits?", std::move(arms),
                      {{.claim = "C-CLAMP-1",
                        .check = clamp_1,
                        .asked = "perplexity from 2 to 4 L changes by at most 10 percent"}});
}

constexpr const char *kModulo = "modulo L", *kRepeat = "each position 4 times";

void mod_1(const Measured& m, Evidence& e) {
  e.at_most(concat(kFar, " / without change"), far(m, kModulo) / far(m, kBase), m.pick(0.5, 0.8));
  for (const PlannedArm& arm : m.arms()) {
    if (arm.label() != kModulo) continue;
    const eval::Series residues = m.series(arm, kMeasure, "perplexity by residue");
    if (residues.y.empty()) return e.missing("perplexity by residue");
    const auto worst = std::max_element(residues.y.begin(), residues.y.end());
    e.holds("position modulo L where perplexity is worst", worst == residues.y.begin(),
            residues.x[static_cast<size_t>(worst - residues.y.begin())], "0");
  }
}

Experiment modulo() {
  return intervention(650, "modulo", "do positions modulo the training length help?",
                      {tested_with(kModulo, "rope + modulo(length=512)")},
                      {{.claim = "C-MOD-1",
                        .check = mod_1,
                        .asked = "perplexity from 2 to 4 L at most 0.8 of the unchanged model's, "
                                 "worst where the modulus is 0"}});
}

void blk_1(const Measured& m, Evidence& e) {
  for (const auto& [bounds, words] : {std::pair{"1_to_1.25", "1 to 1.25"},
                                      {"1.25_to_1.5", "1.25 to 1.5"},
                                      {"1.5_to_2", "1.5 to 2"},
                                      {"2_to_3", "2 to 3"},
                                      {"3_to_4", "3 to 4"}})
    e.below(concat("PPL from ", words, " L / with modulo L"),
            region(m, kRepeat, bounds) / region(m, kModulo, bounds), 1);
}

Experiment block_repeat() {
  return intervention(660, "block-repeat", "does it help to repeat each position?",
                      {tested_with(kRepeat, "rope + block_repeat(repeat=4)"),
                       tested_with(kModulo, "rope + modulo(length=512)")},
                      {{.claim = "C-BLK-1", .check = blk_1}});
}

std::string steps_of(const char* what, int steps) { return concat(what, ", ", steps, " steps"); }
constexpr const char *kQuarter = "positions / 4", *kSame = "positions unchanged";

void int_1(const Measured& m, Evidence& e) {
  const std::string arm = steps_of(kQuarter, 150);
  e.at_most(concat(arm, ": PPL from 3 to 4 L / ", kNear), region(m, arm, "3_to_4") / near(m, arm),
            1.15);
}

Experiment interpolation() {
  std::vector<Arm> arms = {tested_with(kQuarter, "rope + interpolation(scale=4)"),
                           tested_with("positions / 2", "rope + interpolation(scale=2)")};
  for (const int steps : {30, 80, 150})
    arms.push_back(fine_tuned(steps_of(kQuarter, steps), "rope + interpolation(scale=4)", steps));
  return intervention(670, "interpolation", "do interpolated positions extend the context?",
                      std::move(arms),
                      {{.claim = "C-INT-1",
                        .check = int_1,
                        .asked = "after 150 steps perplexity from 3 to 4 L is at most 1.15 times "
                                 "the value from 0.75 to 1 L"}});
}

void nft_1(const Measured& m, Evidence& e) {
  const std::string same = steps_of(kSame, 30), quarter = steps_of(kQuarter, 30);
  e.at_least(concat("after 30 steps: ", kFar, " / with interpolation"),
             far(m, same) / far(m, quarter), 1.2);
}

Experiment naive_finetune() {
  std::vector<Arm> arms;
  for (const int steps : {30, 80, 150})
    arms.push_back(fine_tuned(steps_of(kSame, steps), "rope", steps));
  arms.push_back(fine_tuned(steps_of(kQuarter, 30), "rope + interpolation(scale=4)", 30));
  return intervention(680, "naive-finetune", "does it suffice to fine-tune on longer sequences?",
                      std::move(arms),
                      {{.claim = "C-NFT-1",
                        .check = nft_1,
                        .asked = "after 30 steps perplexity from 2 to 4 L is at least 1.2 times "
                                 "the value with interpolation"}});
}

void rnd_1(const Measured& m, Evidence& e) {
  e.at_least(concat(kFar, " / without change"), far(m, "random positions") / far(m, kBase), 0.9);
}

Experiment random_positions() {
  Arm arm = fine_tuned("random positions", "rope + randomized(max_positions=2048)", 80, "1:{1}");
  arm.measured_posenc = "rope";
  return intervention(690, "random-positions",
                      "does a fine-tune on random positions extend the context?", {arm},
                      {{.claim = "C-RND-1",
                        .check = rnd_1,
                        .asked = "perplexity from 2 to 4 L stays at least 0.9 of the unchanged "
                                 "model's"}});
}

void shf_1(const Measured& m, Evidence& e) { as_before(m, e, "positions from 1.5 L on", 0.1); }

Experiment shifted_positions() {
  return intervention(
      700, "shifted-positions", "does a model learn later positions from shifted ones?",
      {tested_with("positions from 1.5 L on", "rope + shape(k=1, eval_shift=768)")},
      {{.claim = "C-SHF-1",
        .check = shf_1,
        .asked = "perplexity from 2 to 4 L under shifted positions within 10 percent"}});
}

constexpr const char *kLogN = "log n", *kTunedLogN = "log n, 80 steps at 1.5 L",
                     *kTuned = "80 steps at 1.5 L";

void logn_1(const Measured& m, Evidence& e) {
  e.at_most("log n without training: PPL from 1 to 1.25 L / without change",
            region(m, kLogN, "1_to_1.25") / region(m, kBase, "1_to_1.25"), m.pick(0.9, 1.02));
  e.at_least(concat("log n without training: ", kFar, " / ", kNear), far(m, kLogN) / near(m, kLogN),
             1.25);
}

void logn_tuned(const Measured& m, Evidence& e) {
  e.at_most("after 80 steps at 1.5 L: PPL from 1.25 to 1.5 L / without log n",
            region(m, kTunedLogN, "1.25_to_1.5") / region(m, kTuned, "1.25_to_1.5"), 1.02);
}

Experiment logn() {
  return intervention(
      710, "logn", "does it help to scale logits by the logarithm of the length?",
      {tested_with(kLogN, "rope + log_n"), fine_tuned(kTuned, "rope", 80, "1:{1.5}"),
       fine_tuned(kTunedLogN, "rope + log_n(mode=clipped)", 80, "1:{1.5}")},
      {{.claim = "C-LOGN-1",
        .check = logn_1,
        .asked = "just beyond L not worse, and from 2 to 4 L still above 1.25 times the value in "
                 "range"},
       own_finding("context/logn/tuned", logn_tuned,
                   "after a fine-tune at 1.5 L log n scaling is not worse than without, up to 2 "
                   "percent")});
}

constexpr const char *kShiftedLogN = "log n, shifted", *kShifted = "shifted",
                     *kLastBucket = "log n, last quarter alone", *kPlainLogN = "log n, no training";
constexpr int kBuckets = 4;  // of L positions each

std::string in_bucket(const char* what, int bucket) {
  return concat(what, ", read from ", bucket, " L on");
}

// Fine-tunes on L tokens whose positions begin elsewhere in each step, read in one place.
Arm shifted(const char* what, const std::string& remap, const std::string& scaling, int bucket) {
  Arm arm = fine_tuned(in_bucket(what, bucket), concat("rope + ", remap, scaling), 80, "1:{1}");
  arm.measured_posenc = concat("rope + shape(k=1, eval_shift=", 512 * bucket, ')', scaling);
  return arm;
}

double loss_in(const Measured& m, const std::string& arm) { return std::log(near(m, arm)); }

void ls_1(const Measured& m, Evidence& e) {
  double most = 0;
  for (int bucket = 0; bucket + 1 < kBuckets; ++bucket)
    most = std::max(most, loss_in(m, in_bucket(kShiftedLogN, bucket)));
  e.below("largest loss below 3 L / before the fine-tune", most / loss_in(m, kPlainLogN), 1);
  e.at_least("loss from 3 L on / largest loss below",
             loss_in(m, in_bucket(kShiftedLogN, kBuckets - 1)) / most, 2);
}

void shifted_is_flat(const Measured& m, Evidence& e) {
  for (const char* what : {kShiftedLogN, kShifted})
    for (int bucket = 1; bucket < kBuckets; ++bucket)
      e.within(concat(what, ": loss from ", bucket, " L on / from 0 on"),
               loss_in(m, in_bucket(what, bucket)) / loss_in(m, in_bucket(what, 0)), 1, 0.01);
}

Experiment logn_shifted() {
  const std::string log_n = " + log_n(mode=unclipped)", around = "shifted(step=512, span=2048)";
  std::vector<Arm> arms = {tested_with(kPlainLogN, "rope" + log_n)};
  for (int bucket = 0; bucket < kBuckets; ++bucket)
    arms.push_back(shifted(kShiftedLogN, around, log_n, bucket));
  for (int bucket = 0; bucket < kBuckets; ++bucket)
    arms.push_back(shifted(kShifted, around, "", bucket));
  arms.push_back(
      shifted(kLastBucket, "shifted(step=0, span=2048, offset=1536)", log_n, kBuckets - 1));
  Experiment e = intervention(
      715, "logn-shifted", "do shifted positions and log n scaling together reach further?",
      std::move(arms),
      {{.claim = "C-LS-1", .check = ls_1},
       own_finding("context/logn-shifted/flat", shifted_is_flat,
                   "after a fine-tune on shifted positions the loss from 0.75 to 1 L is the same "
                   "wherever the positions begin, within 1 percent, with log n scaling and "
                   "without")});
  e.remarks = {
      "A sequence of a fine-tune has L tokens, and its positions begin L further on in each step, "
      "modulo 4 L. Rotary scores depend on differences of positions alone. Log n scaling counts "
      "the keys that a query sees, at most L here; the write-up's code may have counted positions "
      "instead."};
  return e;
}

Experiment lora_finetune() {
  const std::string lengths = "0.5:{1},0.5:{1.5}", posenc = "rope + interpolation(scale=2)";
  Arm full = fine_tuned("all weights, 80 steps", posenc, 80, lengths),
      lora = fine_tuned("rank 2 on q and v, 80 steps", posenc, 80, lengths);
  lora.training.emplace_back("lora", "rank=2,alpha=4,targets=q,v");
  for (auto& [key, value] : lora.training)
    if (key == "lr") value = "0.005";
  Experiment e = intervention(720, "lora-finetune", "do low-rank adapters extend the context?",
                              {full, lora}, {});
  e.remarks = {
      "Half of the steps have sequences of 1.5 L, as half of the write-up's samples. The "
      "adapters have ten times the learning rate of the weights."};
  return e;
}

}  // namespace

std::vector<Experiment> context_trained_rows() {
  return {baseline(),         temperature(),       window_mask(),   clamping(),
          modulo(),           block_repeat(),      interpolation(), naive_finetune(),
          random_positions(), shifted_positions(), logn(),          logn_shifted(),
          lora_finetune()};
}

}  // namespace farfield::sweep
