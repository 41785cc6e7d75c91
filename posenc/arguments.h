#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "engine/parameter.h"
#include "posenc/declaration.h"
#include "posenc/encoding.h"
#include "posenc/expression.h"
#include "posenc/formula.h"

namespace farfield::posenc {

class Arguments;

/// Initial values of a parameter, one number per head, unless the expression gives them.
struct Start {
  std::string text = {};  ///< as shown: "U(0,2)"
  /// One number for each head; `random` is a stream of the parameter's own.
  std::function<std::vector<double>(int64_t n_head, const Random& random)> values = {};
};
/// Drawn for each head, uniform in [low, high).
Start uniform(double low, double high);

/// One argument of an encoding, as its row lists it.
struct ArgumentSpec {
  std::string name = {};
  std::string meaning = {};
  std::string default_text = {};  ///< as shown; empty: the argument must be given

  enum class Kind {
    word,          ///< one of `words`, nothing else
    integer,       ///< a number without a fraction
    integers,      ///< a list of them
    number,        //
    numbers,       ///< a number for all, or a list
    per_head,      ///< a number for all heads, or a list with one for each
    formula,       ///< formula.h
    declarations,  ///< any number of declarations, under names of their own: declaration.h
  };
  Kind kind = Kind::word;
  std::vector<std::string> words = {};  ///< accepted too
  bool or_a_file = false;               ///< @ and a path are accepted too
  Bounds bounds = {};                   ///< of numbers
  bool is_least_excluded = false;

  /// The unit of its numbers: it decides how they follow the lengths of a model (rescale.h).
  /// Integers must state `tokens` or `count`.
  enum class Unit {
    unstated,            ///< has no length
    tokens,              ///< a length, a distance or a number of positions
    count,               ///< a number of anything else, or one that is the same at every length
    per_token,           ///< a bias per token
    halvings_per_token,  ///< x of a bias 2^-x per token
    log_per_token,       ///< x of a bias e^x per token
  };
  Unit unit = Unit::unstated;

  /// The default: a value, or a function of the model and of earlier arguments, whose result the
  /// canonical text writes out. With neither, the encoding computes the default (a formula, a
  /// random draw).
  std::optional<Value> fallback = {};
  std::function<Value(const Config&, const Arguments&)> derive = {};
  /// A better default than `fallback`, where there is one.
  std::function<std::optional<Value>(const Config&)> trained = {};

  /// For an argument with the initial values of a HeadParameter: its default initial values, and
  /// its bounds in training. The lower bound may be another argument.
  Start start = {};
  Bounds kept = {};
  std::string kept_above = {};

  ArgumentSpec at_least(double bound) const;
  ArgumentSpec above(double bound) const;
  ArgumentSpec at_most(double bound) const;
  ArgumentSpec or_words(std::vector<std::string> allowed) const;
  ArgumentSpec or_number() const;
  ArgumentSpec or_integer() const;
  ArgumentSpec or_file() const;
  ArgumentSpec derived(std::string text,
                       std::function<Value(const Config&, const Arguments&)> by) const;
  ArgumentSpec or_as_trained(std::function<std::optional<Value>(const Config&)> by) const;
  /// Bounds of what may be given and of what training makes of it.
  ArgumentSpec kept_within(const Bounds& both) const;
  ArgumentSpec kept_above_argument(std::string argument) const;
  ArgumentSpec in(Unit of) const;
  ArgumentSpec tokens() const { return in(Unit::tokens); }
  ArgumentSpec count() const { return in(Unit::count); }

  /// The accepted values, in words: "an integer >= 1", "interp, geometric or a list of numbers, one
  /// per head".
  std::string type() const;
};

ArgumentSpec integer_argument(std::string name, double fallback, std::string meaning);
ArgumentSpec number_argument(std::string name, double fallback, std::string meaning);
/// The first word is the default.
ArgumentSpec word_argument(std::string name, std::vector<std::string> words, std::string meaning);
/// One number per head, or one for all; default_text describes the encoding without it.
ArgumentSpec per_head_argument(std::string name, std::string default_text, std::string meaning);
/// Where a parameter of the model starts, one number per head, or one for all: HeadParameter.
ArgumentSpec start_argument(std::string name, Start start, std::string meaning);
/// A formula; default_text describes the encoding without it.
ArgumentSpec formula_argument(std::string name, std::string default_text, std::string meaning);
/// Parameters that the expression declares; `name` stands for their names in lists.
ArgumentSpec declared_parameters(std::string name, std::string meaning);
ArgumentSpec required_integer(std::string name, std::string meaning);
ArgumentSpec required_integers(std::string name, std::string meaning);
ArgumentSpec required_number(std::string name, std::string meaning);
/// A number for all places, or a list with one for each: Arguments::numbers().
ArgumentSpec required_numbers(std::string name, std::string meaning);
ArgumentSpec numbers_argument(std::string name, double fallback, std::string meaning);
ArgumentSpec required_per_head(std::string name, std::string meaning);

/// The arguments of one term, checked against what its encoding takes, defaults filled in.
class Arguments {
 public:
  /// ConfigError, at its place in `expression`, for an argument that is unknown, given twice,
  /// missing, of another type or out of range, and for a declared parameter that no formula uses.
  /// `specs` must outlive this and its copies.
  Arguments(std::string_view expression, const ParsedTerm& term, std::string_view encoding,
            const std::vector<ArgumentSpec>& specs, const Config& config);

  const std::vector<ArgumentSpec>& specs() const { return *specs_; }

  /// False when the argument was left out and the encoding has to find its default.
  bool has(std::string_view name) const;
  double number(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;
  /// The list, or n times the number. ConfigError for a list of another size than n, whose numbers
  /// are `of`: "pairs of rotated components".
  std::vector<double> numbers(std::string_view name, int64_t n, std::string_view of) const;
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
  /// The column of the term in the expression.
  size_t column() const { return column_; }

  /// The prefix of the names of the term's parameters and random streams: "kerple_log.layer3".
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
  const std::vector<ArgumentSpec>* specs_;
  std::map<std::string, Value, std::less<>> values_;
  std::map<std::string, Formula, std::less<>> formulas_;
  std::vector<Declaration> declarations_;
};

}  // namespace farfield::posenc
