// The write-up on extending context: other positions and frequencies for a trained rotary model,
// without training and with a short fine-tune.

#include <algorithm>

#include "apps/sweep/context_arms.h"
#include "apps/sweep/evidence.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char *kModulo = "modulo L", *kRepeat = "each position 4 times";

void mod_1(const Measured& m, Evidence& e) {
  e.at_most(concat(kFar, " / without change"), far(m, kModulo) / far(m, kUnchanged),
            m.pick(0.5, 0.8));
  for (const PlannedArm& arm : m.arms()) {
    if (arm.label() != kModulo) continue;
    const eval::Series residues = m.series(arm, kCoherence, "perplexity by residue");
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

const std::vector<int> kFactors = {2, 4};
std::string ntk_label(int factor) { return concat("NTK by ", factor); }
std::string yarn_label(int factor) { return concat("YaRN by ", factor); }

void below_interpolation(const Measured& m, Evidence& e) {
  for (const std::string& arm : {ntk_label(4), yarn_label(4)})
    e.below(concat(arm, ": ", kFar, " / with ", kQuarter), far(m, arm) / far(m, kQuarter), 1);
}

void yarn_in_range(const Measured& m, Evidence& e) {
  for (const int factor : kFactors)
    e.at_most(concat(yarn_label(factor), ": ", kNear, " / without change"),
              near(m, yarn_label(factor)) / near(m, kUnchanged), 1.1);
}

constexpr const char *kStreaming = "StreamingLLM, 0.5 L", *kSelfExtend = "Self-Extend";

void holds_beyond(const Measured& m, Evidence& e) {
  for (const char* arm : {kStreaming, kSelfExtend})
    e.at_most(concat(arm, ": ", kFar, " / without change"), far(m, arm) / far(m, kUnchanged), 0.5);
}

Experiment rotary_scaling() {
  std::vector<Arm> arms = {tested_with(kQuarter, "rope + interpolation(scale=4)")};
  for (const int factor : kFactors)
    arms.push_back(tested_with(ntk_label(factor), concat("rope_ntk(scale=", factor, ')')));
  for (const int factor : kFactors)
    arms.push_back(tested_with(yarn_label(factor), concat("rope_yarn(scale=", factor, ')')));
  arms.push_back(tested_with(kStreaming, "streaming(recent=256)"));
  arms.push_back(tested_with(kSelfExtend, "self_extend"));
  Experiment e = intervention(
      675, "rotary-scaling", "do other rotations extend the context without training?",
      std::move(arms),
      {own_finding("context/rotary-scaling/far", below_interpolation,
                   "without training, frequencies scaled by 4 as in NTK-aware scaling and YaRN "
                   "have a lower perplexity from 2 to 4 L than positions divided by 4"),
       own_finding("context/rotary-scaling/near", yarn_in_range,
                   "without training, YaRN by 2 and by 4 keeps perplexity from 0.75 to 1 L within "
                   "10 percent of the unchanged model's"),
       own_finding("context/rotary-scaling/distances", holds_beyond,
                   "without training, StreamingLLM and Self-Extend, whose distances stay in the "
                   "trained range, have at most half the unchanged model's perplexity from 2 to 4 "
                   "L")});
  e.source =
      "NTK-aware scaling (bloc97 2023), YaRN (arXiv:2309.00071), StreamingLLM (arXiv:2309.17453), "
      "Self-Extend (arXiv:2401.01325)";
  return e;
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
  e.at_least(concat(kFar, " / without change"), far(m, "random positions") / far(m, kUnchanged),
             0.9);
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

}  // namespace

std::vector<Experiment> context_positions_rows() {
  return {modulo(),         block_repeat(),     interpolation(),    rotary_scaling(),
          naive_finetune(), random_positions(), shifted_positions()};
}

}  // namespace farfield::sweep
