// The write-up on extending context: low-rank adapters on a trained rotary model.

#include "apps/sweep/context_arms.h"
#include "apps/sweep/evidence.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// Half of the steps have sequences of 1.5 L, as half of the write-up's samples.
constexpr const char* kHalfLong = "0.5:{1},0.5:{1.5}";
// Ten times the learning rate of the weights.
constexpr const char* kAdapterRate = "0.005";

Arm adapted(const std::string& label, const std::string& posenc, const std::string& adapters) {
  Arm arm = fine_tuned(label, posenc, 80, kHalfLong);
  for (auto& [key, value] : arm.training)
    if (key == "lr") value = kAdapterRate;
  arm.training.emplace_back("lora", adapters);
  return arm;
}

Experiment lora_finetune() {
  const std::string posenc = "rope + interpolation(scale=2)";
  Experiment e =
      intervention(720, "lora-finetune", "do low-rank adapters extend the context?",
                   {fine_tuned("all weights, 80 steps", posenc, 80, kHalfLong),
                    adapted("rank 2 on q and v, 80 steps", posenc, "rank=2,alpha=4,targets=q,v")},
                   {});
  e.remarks = {
      "Half of the steps have sequences of 1.5 L, as half of the write-up's samples. The "
      "adapters have ten times the learning rate of the weights."};
  return e;
}

constexpr const char *kAdapters = "rank 16", *kLogNAdapters = "rank 16, log n";

void adapters_reach(const Measured& m, Evidence& e) {
  e.at_most(concat(kLogNAdapters, ": PPL from 1.25 to 1.5 L / ", kNear),
            region(m, kLogNAdapters, "1.25_to_1.5") / near(m, kLogNAdapters), 1.15);
}

void adapters_fall_short(const Measured& m, Evidence& e) {
  e.at_least(concat(kLogNAdapters, ": ", kFar, " / ", kNear),
             far(m, kLogNAdapters) / near(m, kLogNAdapters), 1.25);
}

Experiment lora_logn() {
  const std::string adapters = "rank=16,alpha=32,targets=q,v";
  Experiment e = intervention(
      725, "lora-logn", "do low-rank adapters learn to use log n scaling?",
      {tested_with(kLogN, "rope + log_n"), adapted(kAdapters, "rope", adapters),
       adapted(kLogNAdapters, "rope + log_n(mode=clipped)", adapters)},
      {own_finding("context/lora-logn/reaches", adapters_reach,
                   "after a fine-tune of adapters with log n scaling, perplexity from 1.25 to 1.5 "
                   "L, the longest it has seen, is within 15 percent of the value in range"),
       own_finding("context/lora-logn/falls-short", adapters_fall_short,
                   "beyond what it has seen, from 2 to 4 L, its perplexity is at least 1.25 times "
                   "the value in range")});
  e.remarks = {
      "The write-up's adapters: rank 16, about 1000 samples, about half of them of 1.5 L. These "
      "are on q and v, and make 80 steps at `tiny`."};
  return e;
}

}  // namespace

std::vector<Experiment> context_adapters_rows() { return {lora_finetune(), lora_logn()}; }

}  // namespace farfield::sweep
