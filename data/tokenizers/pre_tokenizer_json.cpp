#include <algorithm>
#include <string_view>

#include "data/tokenizers/json_parts.h"
#include "data/tokenizers/split_patterns.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

void read_byte_level(const JsonPart& part, std::string_view behind, BpeDefinition& d) {
  const bool use_regex = part.flag("use_regex", true);
  d.pattern = use_regex ? Pattern::gpt2 : Pattern::none;
  d.add_prefix_space = part.flag("add_prefix_space", false);
  part.require_that(behind.empty() || !d.add_prefix_space, "expected add_prefix_space to be false ",
                    "behind ", behind, ", got true, which is not implemented");
  part.require_that(behind != "Split" || !use_regex,
                    "expected use_regex to be false behind Split, ",
                    "got true, which is not implemented");
  part.require_that(behind != "Digits" || use_regex,
                    "expected use_regex to be true behind Digits, ",
                    "got false, which is not implemented");
}

void read_split(const JsonPart& part, BpeDefinition& d) {
  const std::string behavior = part.member("behavior").text("the behavior of Split");
  const bool invert = part.flag("invert", false);
  const std::string pattern = part.member("pattern").member("Regex").text("a Regex of Split");
  const auto found = std::find_if(kSplitPatterns.begin(), kSplitPatterns.end(),
                                  [&](const SplitPattern& p) { return p.text == pattern; });
  part.require_that(
      found != kSplitPatterns.end(),
      "expected Split with the pattern of gpt2, cl100k_base, Llama 3, Qwen 2 or BLOOM,"
      " got '",
      pattern, "', which is not implemented");
  if (found == kSplitPatterns.end()) return;
  d.pattern = found->pattern;
  // The matches of all patterns but one cover the whole text, so removing the rest does nothing.
  part.require_that((behavior == "Isolated" && !invert) ||
                        (behavior == "Removed" && invert && d.pattern != Pattern::bloom),
                    "expected Split to be Isolated, got '", behavior, invert ? "' and invert" : "'",
                    ", which is not implemented");
}

void read_digits(const JsonPart& part, BpeDefinition& d) {
  part.require_that(part.flag("individual_digits", false), "expected individual_digits of Digits ",
                    "to be true, got false, which is not implemented");
  d.pattern = Pattern::gpt2_digits;
}

void read_metaspace(const JsonPart& part, BpeDefinition& d) {
  const JsonPart mark = part.member("replacement");
  part.require_that(mark.is(kMarkedBlank), "expected the replacement of Metaspace to be '",
                    kMarkedBlank, "', got ", mark.shown(), ", which is not implemented");
  part.require_that(d.blanks.step == BlankRule::Step::none,
                    "expected Metaspace without a normalizer Replace, got both, which is not "
                    "implemented");
  const JsonPart scheme = part.member("prepend_scheme");
  const std::string name = scheme.is_null() ? "always" : scheme.text("prepend_scheme");
  d.blanks.step = BlankRule::Step::pre_tokenizer;
  d.blanks.in_front = name == "always"  ? BlankInFront::always
                      : name == "first" ? BlankInFront::first
                                        : BlankInFront::never;
  part.require_that(name == "never" || d.blanks.in_front != BlankInFront::never,
                    "expected prepend_scheme to be first, always or never, got '", name,
                    "', which is not implemented");
  // As older files say it.
  if (!part.flag("add_prefix_space", true)) {
    part.require_that(name == "never" || scheme.is_null(),
                      "expected add_prefix_space as prepend_scheme has it, got false and ", name);
    d.blanks.in_front = BlankInFront::never;
  }
  d.pattern = part.flag("split", true) ? Pattern::blanks : Pattern::none;
}

const char* scheme_of(BlankInFront in_front) {
  return in_front == BlankInFront::always  ? "always"
         : in_front == BlankInFront::first ? "first"
                                           : "never";
}

std::string split_text(std::string_view pattern) {
  return concat(R"({"type": "Split", "pattern": {"Regex": )", write_json(pattern),
                R"(}, "behavior": "Isolated", "invert": false})");
}

}  // namespace

void read_pre_tokenizer(const JsonPart& part, BpeDefinition& d) {
  const std::vector<JsonPart> steps = part.steps("pretokenizers", "pre_tokenizer");
  std::vector<std::string> types;
  for (const JsonPart& step : steps) types.push_back(step.type("pre_tokenizer"));
  const bool is_byte_level = !types.empty() && types.back() == "ByteLevel";
  d.alphabet = is_byte_level ? Alphabet::bytes : Alphabet::characters;
  d.pattern = Pattern::none;
  if (types.empty()) return;
  if (is_byte_level && types.size() == 1) return read_byte_level(steps.front(), "", d);
  if (is_byte_level && types.size() == 2 && (types[0] == "Split" || types[0] == "Digits")) {
    read_byte_level(steps.back(), types[0], d);
    return types[0] == "Split" ? read_split(steps[0], d) : read_digits(steps[0], d);
  }
  if (types.size() == 1 && types[0] == "Metaspace") return read_metaspace(steps[0], d);
  part.require_that(
      false, "expected pre_tokenizer to be ByteLevel, also behind a Split or Digits, ",
      "or Metaspace, or none, got '", joined(types, "', '"), "', which is not implemented");
}

std::string pre_tokenizer_text(const BpeDefinition& d) {
  if (d.alphabet == Alphabet::characters) {
    if (d.blanks.step != BlankRule::Step::pre_tokenizer) return "null";
    return concat(R"({"type": "Metaspace", "replacement": ")", kMarkedBlank,
                  R"(", "prepend_scheme": ")", scheme_of(d.blanks.in_front), R"(", "split": )",
                  d.pattern == Pattern::blanks ? "true}" : "false}");
  }
  if (d.pattern == Pattern::gpt2_digits)
    return sequence_text("pretokenizers", {R"({"type": "Digits", "individual_digits": true})",
                                           byte_level_text(false, true, true)});
  const auto split = std::find_if(kSplitPatterns.begin(), kSplitPatterns.end(),
                                  [&](const SplitPattern& p) { return p.pattern == d.pattern; });
  if (d.pattern == Pattern::gpt2 || split == kSplitPatterns.end())
    return byte_level_text(d.add_prefix_space, true, d.pattern == Pattern::gpt2);
  return sequence_text("pretokenizers",
                       {split_text(split->text), byte_level_text(false, true, false)});
}

std::string byte_level_text(bool add_prefix_space, bool trim_offsets, bool use_regex) {
  const auto word = [](bool value) { return value ? "true" : "false"; };
  return concat(R"({"type": "ByteLevel", "add_prefix_space": )", word(add_prefix_space),
                R"(, "trim_offsets": )", word(trim_offsets), R"(, "use_regex": )", word(use_regex),
                "}");
}

}  // namespace farfield::data
