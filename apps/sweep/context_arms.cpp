#include "apps/sweep/context_arms.h"

#include <cmath>
#include <map>

#include "apps/sweep/evidence.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

std::vector<Output> regions() {
  return {{.form = Output::Form::rows,
           .measure = kCoherence,
           .quantities = {"perplexity_0.75_to_1", "perplexity_1_to_1.25", "perplexity_1.25_to_1.5",
                          "perplexity_1.5_to_2", "perplexity_2_to_3", "perplexity_3_to_4",
                          "breakdown_position", "greedy_nll", "greedy_distinct_4",
                          "sampled_distinct_4"},
           .positions = {"breakdown_position"},
           .caption = "mean perplexity by position in training lengths, the position where text "
                      "breaks down, and continuations of a prompt of 1.37 L"},
          {.form = Output::Form::series,
           .measure = kCoherence,
           .quantity = "smoothed perplexity",
           .caption = "perplexity by position",
           .is_log_x = false}};
}

// What the write-up saw, by the name of the experiment here.
std::string observation(const std::string& name) {
  static const std::map<std::string, const char*> all = {
      {"baseline",
       "text holds to 2048 tokens and breaks at about 2200 (1.07 L); no whole sentences after 2600 "
       "(1.27 L)"},
      {"temperature", "a higher temperature of the softmax has little effect"},
      {"window-mask", "with a window, text breaks at the limit as before"},
      {"clamping", "masking small logits has no effect"},
      {"modulo",
       "positions modulo L give text beyond 3000 tokens (1.46 L), best near the limit and "
       "gibberish where the modulus is 0"},
      {"block-repeat", "repeated positions are better than positions modulo L"},
      {"interpolation", "after a fine-tune with divided positions, text holds anywhere up to 4 L"},
      {"naive-finetune", "a fine-tune on longer sequences with positions unchanged never worked"},
      {"random-positions", "the loss of the fine-tune converges, and nothing is gained beyond L"},
      {"shifted-positions", "the loss of the fine-tune converges, and nothing is gained beyond L"},
      {"logn", "log n scaling is a dramatic improvement, and not a perfect one"},
      {"logn-shifted",
       "the loss falls from 4.36 to 2.378 up to position 6143 and rises to 49155 in the last 2048"},
      {"lora-finetune",
       "adapters are part of its runs, and may be why extended text is not perfect"},
      {"lora-logn",
       "with log n scaling and adapters of rank 16, text at 1.37 L begins to hold, and ends in a "
       "short cycle"},
  };
  const auto found = all.find(name);
  return found == all.end()
             ? ""
             : concat("The write-up, of its Llama with 13 billion parameters (L = 2048): ",
                      found->second, '.');
}

}  // namespace

Arm trained_rotary() {
  Arm arm = arm_of(kUnchanged, "rope", "");
  arm.steps = 1.25;
  return arm;
}

Arm tested_with(const std::string& label, const std::string& posenc) {
  Arm arm = trained_rotary();
  arm.label = label;
  arm.measured_posenc = posenc;
  return arm;
}

Arm fine_tuned(const std::string& label, const std::string& posenc, int steps,
               const std::string& lengths) {
  Arm arm = arm_of(label, posenc, "");
  arm.starts_from = kUnchanged;
  arm.steps = steps / 1200.0;
  arm.batch = 0.25;
  arm.training = {{"lr", "0.0005"}, {"warmup", "0"}, {"lengths", lengths}};
  return arm;
}

double region(const Measured& m, const std::string& arm, const char* bounds) {
  return m.value(arm, kCoherence, concat("perplexity_", bounds));
}
double far(const Measured& m, const std::string& arm) {
  return std::sqrt(region(m, arm, "2_to_3") * region(m, arm, "3_to_4"));
}
double near(const Measured& m, const std::string& arm) { return region(m, arm, "0.75_to_1"); }

Experiment intervention(int place, const std::string& name, const std::string& title,
                        std::vector<Arm> arms, std::vector<Finding> findings) {
  arms.insert(arms.begin(), trained_rotary());
  return {.place = place,
          .id = "context/" + name,
          .title = title,
          .source = kContextWriteUp,
          .datasets = {"text"},
          .arms = std::move(arms),
          .base_arm = kUnchanged,
          // Regions of few sequences differ by their text alone.
          .measures = {{.key = kCoherence,
                        .protocol = "coherence",
                        .options = {{"coherence-sequences", "{256 sequences}"}},
                        .given_options = {{"prompts", "{4 sequences}"},
                                          {"reread-stride", "{0.0625}"}}}},
          .outputs = regions(),
          .findings = std::move(findings),
          .observed = observation(name)};
}

void as_before(const Measured& m, Evidence& e, const char* arm, double share) {
  e.within(concat(arm, ": ", kFar, " / without change"), far(m, arm) / far(m, kUnchanged), 1,
           share);
}

}  // namespace farfield::sweep
