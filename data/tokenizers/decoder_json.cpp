#include <string_view>

#include "data/tokenizers/json_parts.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

using Start = CharacterDecoder::Start;

constexpr std::string_view kDecoders =
    "expected decoder to be Metaspace, or of Replace, ByteFallback, Fuse and Strip in this order, "
    "got ";

void read_metaspace_decoder(const JsonPart& part, BpeDefinition& d) {
  const JsonPart mark = part.member("replacement");
  part.require_that(mark.is(kMarkedBlank), "expected the replacement of Metaspace to be '",
                    kMarkedBlank, "', got ", mark.shown(), ", which is not implemented");
  const JsonPart scheme = part.member("prepend_scheme");
  const bool is_never = scheme.is("never") || !part.flag("add_prefix_space", true);
  part.require_that(is_never || scheme.is_null() || scheme.is("first") || scheme.is("always"),
                    "expected prepend_scheme to be first, always or never, got ", scheme.shown());
  d.decoder.unmarks_blanks = true;
  d.decoder.start = is_never ? Start::as_it_is : Start::without_blanks;
}

void check_replace(const JsonPart& step) {
  const JsonPart pattern = step.member("pattern").member("String"),
                 content = step.member("content");
  step.require_that(pattern.is(kMarkedBlank) && content.is(" "), kDecoders, "Replace of ",
                    pattern.shown(), " by ", content.shown(), ", which is not implemented");
}

// One blank, in front.
void check_strip(const JsonPart& step) {
  step.require_that(step.member("content").is(" ") && step.member("start").number("start") == 1 &&
                        step.member("stop").number("stop") == 0,
                    kDecoders, "Strip of other than one blank in front, which is not implemented");
}

}  // namespace

void read_decoder(const JsonPart& part, BpeDefinition& d) {
  if (d.alphabet == Alphabet::bytes) return;
  const std::vector<JsonPart> steps = part.steps("decoders", "decoder");
  std::vector<std::string> types;
  for (const JsonPart& step : steps) types.push_back(step.type("decoder"));
  part.require_that(!types.empty(), kDecoders, "none, which is not implemented");
  if (types.size() == 1 && types[0] == "Metaspace") return read_metaspace_decoder(steps[0], d);
  size_t at = 0;
  const auto takes = [&](std::string_view type) { return at < types.size() && types[at] == type; };
  if (takes("Replace")) {
    check_replace(steps[at++]);
    d.decoder.unmarks_blanks = true;
  }
  if (takes("ByteFallback")) {
    d.decoder.joins_bytes = true;
    ++at;
  }
  if (takes("Fuse")) {
    ++at;
    if (takes("Strip")) {
      check_strip(steps[at++]);
      d.decoder.start = Start::without_blank;
    }
  }
  part.require_that(at == types.size(), kDecoders, '\'', joined(types, "', '"),
                    "', which is not implemented");
}

std::string decoder_text(const BpeDefinition& d) {
  if (d.alphabet == Alphabet::bytes) return byte_level_text(true, true, true);
  if (d.decoder.start == Start::without_blanks)
    return concat(R"({"type": "Metaspace", "replacement": ")", kMarkedBlank,
                  R"(", "prepend_scheme": "always", "split": true})");
  std::vector<std::string> steps;
  if (d.decoder.unmarks_blanks)
    steps.push_back(concat(R"({"type": "Replace", "pattern": {"String": ")", kMarkedBlank,
                           R"("}, "content": " "})"));
  if (d.decoder.joins_bytes) steps.emplace_back(R"({"type": "ByteFallback"})");
  steps.emplace_back(R"({"type": "Fuse"})");
  if (d.decoder.start == Start::without_blank)
    steps.emplace_back(R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})");
  return sequence_text("decoders", steps);
}

}  // namespace farfield::data
