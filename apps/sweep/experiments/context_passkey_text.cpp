// Pass keys in text, as Mohtashami and Jaggi 2023 ask for them ("Landmark Attention",
// arXiv:2305.16300): does a model whose context was extended find what stands far back?

#include "apps/sweep/context_arms.h"
#include "apps/sweep/evidence.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char *kKeys = "pass keys", *kHalf = "positions / 2", *kYarn = "YaRN by 2",
                     *kWindow = "window of 0.5 L";
// Characters of garbage in units of L tokens: up to about 1 L tokens and beyond, at 3.7 characters
// a token, as tokenizers of 50,000 tokens read this text.
constexpr double kInside = 1.8, kBeyond = 5;

double keys_found(const Measured& m, const char* arm, double garbage) {
  return m.value(arm, kKeys, "accuracy", garbage);
}

void inside_alone(const Measured& m, Evidence& e) {
  e.at_least("without change: share of keys in about 0.5 L", keys_found(m, kUnchanged, kInside),
             0.6);
  e.at_most("without change: share of keys in about 1.35 L", keys_found(m, kUnchanged, kBeyond),
            0.2);
}

void found_beyond(const Measured& m, Evidence& e) {
  for (const char* arm : {kHalf, kYarn})
    e.at_least(concat(arm, ": share of keys in about 1.35 L"), keys_found(m, arm, kBeyond), 0.6);
}

void window_forgets(const Measured& m, Evidence& e) {
  e.below(concat(kWindow, ": share of keys in about 1.35 L / with ", kYarn),
          keys_found(m, kWindow, kBeyond) / keys_found(m, kYarn, kBeyond), 1);
}

Experiment passkey_text() {
  Experiment e = intervention(
      730, "passkey-text", "does an extended model find a number in a long text?",
      {tested_with(kHalf, "rope + interpolation(scale=2)"),
       tested_with("NTK by 2", "rope_ntk(scale=2)"), tested_with(kYarn, "rope_yarn(scale=2)"),
       tested_with("Self-Extend", "self_extend"), tested_with(kWindow, "rope + window(w=256)")},
      {own_finding("context/passkey-text/inside", inside_alone,
                   "an unchanged model finds most keys within its training length, and at most a "
                   "fifth beyond"),
       own_finding("context/passkey-text/beyond", found_beyond,
                   "without training, with positions divided by 2 and with YaRN by 2, most keys "
                   "are found beyond the training length"),
       own_finding("context/passkey-text/window", window_forgets,
                   "beyond the training length a window of half of it finds fewer keys than YaRN "
                   "by 2")});
  e.source = "Landmark Attention (arXiv:2305.16300)";
  e.measures = {{.key = kKeys,
                 .protocol = "passkey",
                 .lengths = {kInside, 3.5, kBeyond, 7},
                 .options = {{"garbage", "0,{1.8},{3.5},{5},{7}"}},
                 .given_options = {{"passkey-prompts", "5"}}}};
  e.outputs = {{.measure = kKeys,
                .quantity = "accuracy",
                .caption = "share of keys found, by characters of garbage"}};
  e.remarks = {
      "The keys are numbers up to 50000 in a text that repeats five sentences. Its length counts "
      "characters: 3.7 of them are about one token of a vocabulary of 50,000. A model of bytes has "
      "no room for the question in a short training length."};
  return e;
}

}  // namespace

std::vector<Experiment> context_passkey_text_rows() { return {passkey_text()}; }

}  // namespace farfield::sweep
