#pragma once
// Arguments that several encodings take, and what reads them.

#include <algorithm>
#include <string>
#include <vector>

#include "posenc/arguments.h"

namespace farfield::posenc {

/// No length or number of positions is larger: a product of two is an int64, and a sum of two, less
/// one, an int32.
inline constexpr double kMostTokens = 1 << 30;

ArgumentSpec base_argument();
ArgumentSpec angle_argument();
ArgumentSpec layout_argument(std::vector<std::string> layouts);
/// A length in tokens, at most kMostTokens.
ArgumentSpec tokens_argument(std::string name, double fallback, std::string meaning);
/// A number of tokens from 1 on, the training length unless given.
ArgumentSpec train_len_argument(std::string name, std::string meaning);
ArgumentSpec original_length_argument();
/// Half the training length unless given.
ArgumentSpec half_train_len_argument(std::string name, std::string meaning);
/// Four times the training length unless given, the factor of the write-up on extending context.
ArgumentSpec max_positions_argument(std::string meaning);
/// `w` of the hybrids with a window in all layers but one.
ArgumentSpec reach_window_argument();
/// Taken by every encoding with an additive table.
ArgumentSpec bias_scale_argument();
/// Taken by every encoding with parameters that act on layers.
ArgumentSpec share_argument();

/// When an encoding acts; the first word is the default.
ArgumentSpec at_argument(std::vector<std::string> words = {"both", "eval"});
/// The argument `at`: whether an encoding acts, in training too or in a test alone.
class ActiveAt {
 public:
  explicit ActiveAt(const Arguments& a) : eval_only_(a.word("at") == "eval") {}
  bool operator()(const Positions& p) const { return !eval_only_ || p.phase == Phase::eval; }

 private:
  bool eval_only_;
};

ArgumentSpec scale_or_auto_argument();
/// How much longer than the training length an input is: the argument `scale`, or for the word
/// `auto` the length of the call over `original_length`, at least 1.
class LengthScale {
 public:
  explicit LengthScale(const Arguments& a)
      : fixed_(a.word("scale") == "auto" ? 0 : a.number("scale")),
        original_length_(a.number("original_length")) {}
  double operator()(const Positions& p) const {
    return fixed_ > 0 ? fixed_ : std::max(1.0, static_cast<double>(p.n_key) / original_length_);
  }

 private:
  double fixed_;            // 0: auto
  double original_length_;  // tokens
};

}  // namespace farfield::posenc
