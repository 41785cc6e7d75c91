#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "posenc/encoding.h"
#include "posenc/expression.h"

namespace farfield::posenc {

/// One argument of an encoding, as the registry lists it.
struct ArgumentSpec {
  std::string name = {};
  std::string default_text = {};  ///< as shown; empty: the argument must be given
  std::string meaning = {};
  // What is accepted:
  bool number = false;
  bool integer = false;                 ///< a number without a fraction
  bool per_head = false;                ///< a number for all heads, or a list with one for each
  std::vector<std::string> words = {};  ///< one of these
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool least_excluded = false;
  /// A default that depends on the model; the canonical text writes it out.
  double (*derived)(const Config&) = nullptr;
  /// The default as a value, when it is one. Without, the encoding finds it (a formula, a random
  /// draw).
  bool has_fallback = false;
  Value fallback = {};

  ArgumentSpec at_least(double bound) const;
  ArgumentSpec above(double bound) const;
  ArgumentSpec at_most(double bound) const;
  ArgumentSpec or_words(std::vector<std::string> allowed) const;

  /// What may be given, in words: "an integer >= 1", "interp, geometric or a list of numbers, one
  /// per head".
  std::string type() const;
};

ArgumentSpec integer_argument(std::string name, double fallback, std::string meaning);
ArgumentSpec number_argument(std::string name, double fallback, std::string meaning);
/// The first word is the default.
ArgumentSpec word_argument(std::string name, std::vector<std::string> words, std::string meaning);
/// One number per head, or one for all; default_text says what the encoding does without.
ArgumentSpec per_head_argument(std::string name, std::string default_text, std::string meaning);
ArgumentSpec required_integer(std::string name, std::string meaning);
ArgumentSpec derived_integer(std::string name, std::string default_text,
                             double (*derived)(const Config&), std::string meaning);

/// The arguments of one term, checked against what its encoding takes, defaults filled in.
class Arguments {
 public:
  /// ConfigError, at its place in `expression`, for an argument that is unknown, given twice,
  /// missing, of another type or out of range.
  Arguments(std::string_view expression, const ParsedTerm& term, std::string_view encoding,
            const std::vector<ArgumentSpec>& specs, const Config& config);

  /// False when the argument was left out and the encoding has to find its default.
  bool has(std::string_view name) const;
  double number(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  /// "" when the argument is not a word.
  std::string word(std::string_view name) const;
  /// One value per head.
  std::vector<double> per_head(std::string_view name) const;

  /// What parameters and random streams of the term are named after: "kerple_log.layer3".
  const std::string& path() const { return path_; }
  void set_path(std::string path) { path_ = std::move(path); }

  /// "name=value" for what differs from its default or depends on the model; "" or
  /// "(name=value, ...)".
  const std::string& canonical() const { return canonical_; }

  /// Throws ConfigError "[posenc] <encoding>(<argument>): parts... at column C" and the place,
  /// unless ok.
  template <class... Parts>
  void require(bool ok, std::string_view argument, const Parts&... parts) const {
    if (!ok) [[unlikely]]
      refuse(argument, concat(parts...));
  }

 private:
  [[noreturn]] void refuse(std::string_view argument, const std::string& what) const;
  const Value& at(std::string_view name) const;

  std::string expression_;
  std::string encoding_;
  std::string path_;
  std::string canonical_;
  int64_t n_head_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace farfield::posenc
