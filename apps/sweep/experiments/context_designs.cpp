// The write-up on extending context: models that are trained for it, on short sequences alone.

#include <cmath>

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

std::vector<Measure> last_tokens() {
  return {{.key = "P1", .protocol = "last-token", .lengths = {1, 2, 4, 8}}};
}

std::vector<Output> by_length() {
  return {
      {.form = Output::Form::table, .measure = "P1", .caption = "perplexity of the last token"},
      {.form = Output::Form::curves, .measure = "P1", .caption = "perplexity of the last token"}};
}

// Su's hybrid of windows below and one full layer above, and its six changes
// (kexue.fm/archives/9603). The reach of the windows is at most 3/4 of the training length.
template <int change>
std::string hybrid(const ModelConfig& c) {
  const int64_t usual = (3 * c.train_len / 4 - 1) / (c.n_layer - 1) + 1,
                w = change == 6 ? 2 * usual : usual;
  const std::string below = change == 5   ? "@0..-3"
                            : change == 4 ? ""
                                          : "@0..-2",
                    above = change == 5 ? "@-2..-1" : "@-1",
                    rotary = change == 1   ? ""
                             : change == 2 ? "rope + "
                                           : concat("rope", below, " + ");
  if (change == 5 && c.n_layer < 3) return "log_n(mode=unclipped)";  // no layer is below the two
  const bool has_full = change != 4;
  return concat(rotary, "window(w=", w, ')', below,
                has_full && change != 3 ? concat(" + log_n(mode=unclipped)", above) : "");
}

constexpr const char* kHybrid = "windows, then one full layer";
constexpr std::pair<const char*, std::string (*)(const ModelConfig&)> kChanges[] = {
    {"1: windows without rotary", hybrid<1>},
    {"2: full layer with rotary", hybrid<2>},
    {"3: no log n", hybrid<3>},
    {"4: windows in all layers", hybrid<4>},
    {"5: two full layers", hybrid<5>},
    {"6: windows twice as wide", hybrid<6>}};

void hwfa_1(const Measured& m, Evidence& e) {
  for (const auto& [label, posenc] : kChanges) {
    const bool is_asked = label[0] == '2' || label[0] == '4' || label[0] == '6';
    if (is_asked || m.is_published())
      e.at_least(concat(label, ": PPL at 8 L / of the hybrid"),
                 m.perplexity(label, 8) / m.perplexity(kHybrid, 8), m.pick(1, 0.99));
  }
}

Experiment hwfa() {
  std::vector<Arm> arms;
  const auto add = [&](const char* label, std::string (*posenc)(const ModelConfig&)) {
    Arm arm = arm_of(label, "", "");
    arm.posenc_for = posenc;
    arm.is_scaled = false;
    arms.push_back(arm);
  };
  add(kHybrid, hybrid<0>);
  for (const auto& [label, posenc] : kChanges) add(label, posenc);
  return {.place = 730,
          .id = "context/hwfa",
          .title = "which parts does the hybrid of windows and a full layer need?",
          .source = kContextWriteUp,
          .datasets = {"text"},
          .arms = arms,
          .measures = last_tokens(),
          .outputs = by_length(),
          .findings = {{.claim = "C-HWFA-1",
                        .check = hwfa_1,
                        .asked = "changes 2, 4 and 6 are not better than the hybrid by more than 1 "
                                 "percent at 8 L"}}};
}

void shape_is_better(const Measured& m, Evidence& e) {
  e.below("PPL at 2 L, with shifts / without",
          m.perplexity("sinusoidal, shifted", 2) / m.perplexity("sinusoidal", 2), 1);
}

Experiment shape() {
  return {.place = 740,
          .id = "context/shape",
          .title = "do shifted absolute positions extrapolate?",
          .source = kContextWriteUp,
          .datasets = {"text"},
          .arms = {arm_of("sinusoidal", "sinusoidal", ""),
                   arm_of("sinusoidal, shifted", "sinusoidal + shape(k=2048)", ""),
                   arm_of("sinusoidal, CAPE", "sinusoidal + cape", "")},
          .measures = last_tokens(),
          .outputs = by_length(),
          .findings = {own_finding("context/shape/better", shape_is_better,
                                   "sinusoidal positions with random shifts up to 4 L are better "
                                   "at 2 L than without")},
          .also = {"context/cape"}};
}

void jumps_are_better(const Measured& m, Evidence& e) {
  e.below("PPL at 2 L, with jumps / without",
          m.perplexity("rotary, jumps", 2) / m.perplexity("rotary", 2), 1);
}

Experiment position_jumps() {
  return {.place = 750,
          .id = "context/position-jumps",
          .title = "do positional jumps in training extend a rotary model?",
          .source = kContextWriteUp,
          .datasets = {"text"},
          .arms = {arm_of("rotary", "rope", ""),
                   arm_of("rotary, jumps", "rope + positional_jumps(p_jump=4, block=128)", "")},
          .measures = last_tokens(),
          .outputs = by_length(),
          .findings = {own_finding("context/position-jumps/better", jumps_are_better,
                                   "jumps of up to 3 positions every quarter of L lower perplexity "
                                   "at 2 L")}};
}

}  // namespace

std::vector<Experiment> context_designs_rows() { return {hwfa(), shape(), position_jumps()}; }

}  // namespace farfield::sweep
