#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/eval/result.h"
#include "data/tasks/passkey_text.h"

namespace farfield::eval {

/// The right answers to pass-key prompts that have the same amount of garbage.
class PasskeyScore {
 public:
  static constexpr int64_t kPlaces = 10;  ///< parts of the garbage in which a key may stand

  explicit PasskeyScore(int64_t n_garbage);

  /// A prompt, and the text that the model continues it with. The answer is the first run of digits
  /// in that text; it is right if it is the key as text.
  void add(const data::PasskeyDraw& prompt, std::string_view continuation);

  int64_t n_prompts() const { return n_prompts_; }
  /// accuracy, its standard error, chance (of a guess among all keys), and the share of prompts
  /// that are answered with some number. For at least one prompt.
  std::vector<Quantity> quantities() const;
  /// Accuracy by the part of the garbage in which the key stands; NaN for a part without a prompt.
  /// Without garbage there are no places, and the series is empty.
  Series by_place() const;

 private:
  int64_t n_garbage_;
  int64_t n_prompts_ = 0, n_right_ = 0, n_answered_ = 0;
  std::vector<int64_t> asked_, right_;  // by place
};

}  // namespace farfield::eval
