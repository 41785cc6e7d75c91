#include "apps/run/option_words.h"

#include <algorithm>

#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::run {

size_t place_of_word(const char* name, const std::string& word,
                     const std::vector<std::string>& known) {
  static constexpr Synonym kSynonyms[] = {
      {"float32", "fp32"}, {"float", "fp32"},    {"f32", "fp32"},    {"32", "fp32"},
      {"tf32", "fp32"},    {"bfloat16", "bf16"}, {"fp16", "bf16"},   {"float16", "bf16"},
      {"half", "bf16"},    {"mixed", "bf16"},    {"ignore", "skip"}, {"fail", "stop"},
      {"error", "stop"},   {"on", "auto"},       {"none", "off"}};
  const auto found = std::find(known.begin(), known.end(), word);
  require<ConfigError>(found != known.end(), kConfig, name, ": expected one of ",
                       joined(known, ", "), ", got '", word, "'",
                       did_you_mean(word, known, kSynonyms));
  return static_cast<size_t>(found - known.begin());
}

}  // namespace farfield::run
