#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace farfield::data {

// Pass-key retrieval as text, for models with any tokenizer.
// Source    Mohtashami and Jaggi 2023, arXiv:2305.16300, and the code published with it

/// Keys are in 1 ... kMostPasskey.
inline constexpr int64_t kMostPasskey = 50'000;

/// What is drawn for a prompt.
struct PasskeyDraw {
  int64_t n_before = 0;  ///< characters of garbage before the key
  int64_t key = 0;
};

/// Key and place of prompt `index`, both uniform: a pure function of its arguments.
/// Throws    ConfigError [task] bad_argument for a negative number
PasskeyDraw draw_passkey(uint64_t seed, int64_t n_garbage, int64_t index);

/// The prompt, five lines without an end of line behind the last: the instruction, the first
/// `n_before` characters of the garbage, the key, the first `n_garbage - n_before` characters of
/// the garbage, and the question. Throws    ConfigError [task] bad_argument unless 0 <= n_before <=
/// n_garbage and the key is valid
std::string passkey_prompt(int64_t n_garbage, int64_t n_before, int64_t key);

/// The answer in a generated text: its first run of digits, "" if it has none. It is right if it
/// equals the key as text.
std::string_view passkey_answer(std::string_view generated);

}  // namespace farfield::data
