#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "posenc/declaration.h"
#include "posenc/encoding.h"
#include "posenc/expression.h"
#include "posenc/formula.h"

namespace farfield::posenc {

class Arguments;

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
  bool file = false;                    ///< @ and a path
  bool formula = false;                 ///< a formula: formula.h
  bool declares = false;  ///< stands for any number of declarations, under names of their own
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool least_excluded = false;
  /// A default that depends on the model; the canonical text writes it out.
  double (*derived)(const Config&) = nullptr;
  /// One that depends on the arguments listed before it too.
  double (*derived_from_others)(const Config&, const Arguments&) = nullptr;
  std::string (*derived_word)(const Config&) = nullptr;  ///< the same for a word
  bool written_out = false;                              ///< the canonical text shows a default too
  /// The default as a value, when it is one. Without, the encoding finds it (a formula, a random
  /// draw).
  bool has_fallback = false;
  Value fallback = {};

  ArgumentSpec at_least(double bound) const;
  ArgumentSpec above(double bound) const;
  ArgumentSpec at_most(double bound) const;
  ArgumentSpec or_words(std::vector<std::string> allowed) const;
  ArgumentSpec or_number() const;
  ArgumentSpec or_integer() const;
  ArgumentSpec always_written_out() const;
  ArgumentSpec or_file() const;

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
/// A formula; default_text says what the encoding does without.
ArgumentSpec formula_argument(std::string name, std::string default_text, std::string meaning);
/// Parameters that the expression declares; `name` stands for their names in lists.
ArgumentSpec declared_parameters(std::string name, std::string meaning);
ArgumentSpec required_integer(std::string name, std::string meaning);
ArgumentSpec required_number(std::string name, std::string meaning);
ArgumentSpec required_per_head(std::string name, std::string meaning);
ArgumentSpec derived_number(std::string name, std::string default_text,
                            double (*derived)(const Config&), std::string meaning);
ArgumentSpec derived_integer(std::string name, std::string default_text,
                             double (*derived)(const Config&), std::string meaning);
ArgumentSpec derived_word(std::string name, std::string default_text,
                          std::string (*derived)(const Config&), std::vector<std::string> words,
                          std::string meaning);
/// One that depends on the arguments listed before it too.
ArgumentSpec derived_integer(std::string name, std::string default_text,
                             double (*derived)(const Config&, const Arguments&),
                             std::string meaning);

/// The arguments of one term, checked against what its encoding takes, defaults filled in.
class Arguments {
 public:
  /// ConfigError, at its place in `expression`, for an argument that is unknown, given twice,
  /// missing, of another type or out of range, and for a declared parameter that no formula uses.
  Arguments(std::string_view expression, const ParsedTerm& term, std::string_view encoding,
            const std::vector<ArgumentSpec>& specs, const Config& config);

  /// False when the argument was left out and the encoding has to find its default.
  bool has(std::string_view name) const;
  double number(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  /// "" when the argument is not a word.
  std::string word(std::string_view name) const;
  /// The path; "" when the argument was left out or is not a file.
  std::string file(std::string_view name) const;
  /// One value per head.
  std::vector<double> per_head(std::string_view name) const;

  /// nullptr when the argument was left out.
  const Formula* formula(std::string_view name) const;
  /// The parameters that the term declares, sorted by name.
  const std::vector<Declaration>& declarations() const { return declarations_; }
  /// Of the term, in the expression.
  size_t column() const { return column_; }

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

  /// The same at a place of the expression.
  template <class... Parts>
  void require_at(bool ok, size_t column, std::string_view argument, const Parts&... parts) const {
    if (!ok) [[unlikely]]
      refuse_at(column, argument, concat(parts...));
  }

 private:
  [[noreturn]] void refuse(std::string_view argument, const std::string& what) const;
  [[noreturn]] void refuse_at(size_t column, std::string_view argument,
                              const std::string& what) const;
  [[noreturn]] void refuse_unknown(const std::vector<std::string>& known, const std::string& name,
                                   size_t column, std::string_view what = "") const;
  void declare(const ParsedArgument& given, const std::vector<std::string>& known);
  bool is_used(std::string_view parameter) const;  // by a formula
  const Value& at(std::string_view name) const;

  std::string expression_;
  std::string encoding_;
  std::string path_;
  std::string canonical_;
  size_t column_;
  int64_t n_head_;
  std::map<std::string, Value, std::less<>> values_;
  std::map<std::string, Formula, std::less<>> formulas_;
  std::vector<Declaration> declarations_;
};

}  // namespace farfield::posenc
