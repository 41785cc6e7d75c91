#include "data/tasks/passkey_text.h"

#include "data/synthetic/draws.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "task";

constexpr std::string_view kInstruction =
    "There is an important info hidden inside a lot of irrelevant text. Find it and memorize them. "
    "I will quiz you about the important information there.";
constexpr std::string_view kSentence =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again. ";
constexpr std::string_view kQuestion = "What is the pass key? The pass key is";

void check_garbage(int64_t n_garbage) {
  require<ConfigError>(
      n_garbage >= 0, kWhere,
      "bad_argument: pass-key text: expected 0 or more characters of garbage, got ", n_garbage);
}

std::string garbage(int64_t n) {
  std::string text;
  const auto size = static_cast<size_t>(n);
  while (text.size() < size) text += kSentence;
  text.resize(size);
  return text;
}

}  // namespace

PasskeyDraw draw_passkey(uint64_t seed, int64_t n_garbage, int64_t index) {
  check_garbage(n_garbage);
  require<ConfigError>(index >= 0, kWhere,
                       "bad_argument: pass-key text: expected a prompt of index 0 or more, got ",
                       index);
  Draws draws(seed, stream_of(concat("pass-key text ", n_garbage, ' ', index)));
  PasskeyDraw drawn;
  drawn.key = 1 + draws.below(kMostPasskey);
  drawn.n_before = draws.below(n_garbage + 1);
  return drawn;
}

std::string passkey_prompt(int64_t n_garbage, int64_t n_before, int64_t key) {
  check_garbage(n_garbage);
  require<ConfigError>(n_before >= 0 && n_before <= n_garbage, kWhere,
                       "bad_argument: pass-key text: expected 0 ... ", n_garbage,
                       " characters of garbage before the key, got ", n_before);
  require<ConfigError>(key >= 1 && key <= kMostPasskey, kWhere,
                       "bad_argument: pass-key text: expected a key in 1 ... ", kMostPasskey,
                       ", got ", key);
  return concat(kInstruction, '\n', garbage(n_before), "\nThe pass key is ", key, ". Remember it. ",
                key, " is the pass key.\n", garbage(n_garbage - n_before), '\n', kQuestion);
}

std::string_view passkey_answer(std::string_view generated) {
  constexpr std::string_view kDigits = "0123456789";
  const size_t begin = generated.find_first_of(kDigits);
  if (begin == generated.npos) return {};
  return generated.substr(begin, generated.find_first_not_of(kDigits, begin) - begin);
}

}  // namespace farfield::data
