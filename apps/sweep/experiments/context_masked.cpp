// Encoders that fill in masked tokens of a text, without positions and with them.
// Lasri, Lenci and Poibeau 2022, "Word Order Matters When You Increase Masking", arXiv:2211.04427,
// as the write-up on extending context retells it.

#include <cmath>

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"

namespace farfield::sweep {
namespace {

constexpr const char *kMaskedTokens = "P16", *kNone = "none", *kSinusoidal = "sinusoidal";

Arm encoder(const char* label, const char* posenc) {
  Arm arm = arm_of(label, posenc, "");
  arm.training = {{"mask", "none"}};
  return arm;
}

void none_is_worse(const Measured& m, Evidence& e) {
  const auto of = [&](const char* arm, const char* quantity) {
    return m.value(arm, kMaskedTokens, quantity, 1);
  };
  e.above("nats per masked token at L, none - sinusoidal",
          of(kNone, "nll") - of(kSinusoidal, "nll"), 0)
      .half_width = 1.96 * std::hypot(of(kNone, "nll_error"), of(kSinusoidal, "nll_error"));
}

}  // namespace

std::vector<Experiment> context_masked_rows() {
  return {{.place = 755,
           .id = "context/nope-mlm",
           .title = "does masked language modelling work without positions?",
           .source = kContextWriteUp,
           .datasets = {"text"},
           .arms = {encoder(kNone, "none"), encoder(kSinusoidal, "sinusoidal"),
                    encoder("rotary", "rope")},
           .measures = {{.key = kMaskedTokens, .protocol = "masked", .lengths = {1, 2}}},
           .outputs = {{.form = Output::Form::table,
                        .measure = kMaskedTokens,
                        .caption = "perplexity of masked tokens"},
                       {.form = Output::Form::table,
                        .measure = kMaskedTokens,
                        .quantity = "nll",
                        .caption = "nats per masked token"}},
           .findings = {own_finding("context/nope-mlm/worse", none_is_worse,
                                    "an encoder without positions fills in masked tokens worse "
                                    "than with sinusoidal positions, at L")},
           .remarks = {"All models are encoders: each token sees all others. 15 percent of the "
                       "tokens of a sequence are masked."}}};
}

}  // namespace farfield::sweep
