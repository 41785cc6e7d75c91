#include "apps/eval/passkey_score.h"

#include <algorithm>
#include <string>

#include "apps/analysis/spread.h"

namespace farfield::eval {

PasskeyScore::PasskeyScore(int64_t n_garbage)
    : n_garbage_(n_garbage), asked_(kPlaces), right_(kPlaces) {}

void PasskeyScore::add(const data::PasskeyDraw& prompt, std::string_view continuation) {
  const std::string_view answer = data::passkey_answer(continuation);
  const bool is_right = answer == std::to_string(prompt.key);
  ++n_prompts_;
  n_right_ += is_right;
  n_answered_ += !answer.empty();
  if (n_garbage_ == 0) return;
  const int64_t place = std::min(kPlaces - 1, prompt.n_before * kPlaces / n_garbage_);
  ++asked_[static_cast<size_t>(place)];
  right_[static_cast<size_t>(place)] += is_right;
}

std::vector<Quantity> PasskeyScore::quantities() const {
  const auto n = static_cast<double>(n_prompts_);
  const double accuracy = static_cast<double>(n_right_) / n;
  return {{"accuracy", accuracy},
          {"accuracy_error", analysis::share_error(accuracy, n_prompts_)},
          {"chance", 1.0 / static_cast<double>(data::kMostPasskey)},
          {"answered", static_cast<double>(n_answered_) / n}};
}

Series PasskeyScore::by_place() const {
  Series series;
  series.name = "accuracy";
  series.axis = "place of the key (share of the garbage before it)";
  series.may_log_y = false;
  if (n_garbage_ == 0) return series;
  for (size_t i = 0; i < asked_.size(); ++i) {
    series.x.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(kPlaces));
    series.y.push_back(asked_[i] == 0
                           ? std::nan("")
                           : static_cast<double>(right_[i]) / static_cast<double>(asked_[i]));
  }
  return series;
}

}  // namespace farfield::eval
