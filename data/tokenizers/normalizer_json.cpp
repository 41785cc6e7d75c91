#include <string_view>

#include "data/tokenizers/json_parts.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

constexpr std::string_view kNormalizers =
    "expected normalizer to be NFC, or Prepend and Replace for blanks, got ";

void read_replace(const JsonPart& step, BpeDefinition& d) {
  const JsonPart pattern = step.member("pattern").member("String"),
                 content = step.member("content");
  step.require_that(pattern.is(" ") && content.is(kMarkedBlank), kNormalizers, "'Replace' of ",
                    pattern.shown(), " by ", content.shown(), ", which is not implemented");
  d.blanks.step = BlankRule::Step::normalizer;
}

}  // namespace

void read_normalizer(const JsonPart& part, BpeDefinition& d) {
  for (const JsonPart& step : part.steps("normalizers", "normalizer")) {
    const std::string type = step.type("normalizer");
    if (type == "NFC") {
      d.normalizer = Normalizer::nfc;
    } else if (type == "Replace") {
      read_replace(step, d);
    } else if (type == "Prepend") {
      const JsonPart prepend = step.member("prepend");
      step.require_that(prepend.is(kMarkedBlank) && d.blanks.in_front == BlankInFront::never,
                        kNormalizers, "'Prepend' of ", prepend.shown(),
                        d.blanks.in_front == BlankInFront::never ? "" : " twice",
                        ", which is not implemented");
      d.blanks.in_front = BlankInFront::always;
    } else {
      part.require_that(false, kNormalizers, '\'', type, "', which is not implemented");
    }
  }
  part.require_that(
      d.blanks.in_front == BlankInFront::never || d.blanks.step == BlankRule::Step::normalizer,
      kNormalizers, "Prepend without Replace, which is not implemented");
}

std::string normalizer_text(const BpeDefinition& d) {
  std::vector<std::string> steps;
  if (d.normalizer == Normalizer::nfc) steps.emplace_back(R"({"type": "NFC"})");
  if (d.blanks.step == BlankRule::Step::normalizer) {
    if (d.blanks.in_front == BlankInFront::always)
      steps.push_back(concat(R"({"type": "Prepend", "prepend": ")", kMarkedBlank, R"("})"));
    steps.push_back(concat(R"({"type": "Replace", "pattern": {"String": " "}, "content": ")",
                           kMarkedBlank, R"("})"));
  }
  return sequence_text("normalizers", steps);
}

std::string sequence_text(const char* name, const std::vector<std::string>& steps) {
  if (steps.empty()) return "null";
  if (steps.size() == 1) return steps.front();
  return concat(R"({"type": "Sequence", ")", name, R"(": [)", joined(steps, ", "), "]}");
}

}  // namespace farfield::data
