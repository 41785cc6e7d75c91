#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor.h"

// Formulas over named tensors; white space is free between tokens:
//
//   formula = product { ( "+" | "-" ) product }
//   product = signed { ( "*" | "/" ) signed }
//   signed  = "-" signed | power
//   power   = atom [ "^" signed ]              a^b^c = a^(b^c), -a^b = -(a^b), a^-b is allowed
//   atom    = number | name | function "(" formula { "," formula } ")" | "(" formula ")"

namespace farfield::posenc {

class Formula {
 public:
  /// Parses text[begin, begin + size). ConfigError, with the column in text and a caret, for
  /// anything that is not by the grammar above, an unknown function or a wrong number of arguments.
  Formula(std::string_view text, size_t begin, size_t size);
  explicit Formula(std::string_view text) : Formula(text, 0, text.size()) {}

  /// Without white space and needless parentheses; parses to the same formula.
  std::string text() const { return text_of(nodes_.size() - 1); }

  struct Name {
    std::string name;
    size_t column;  ///< in the text that the formula was parsed from, from 1
  };
  /// Where a value is looked up, in the order written; pi and e are numbers.
  const std::vector<Name>& names() const { return names_; }

  /// The value with each of names() replaced by a float64 tensor; shapes broadcast. Differentiable:
  /// ops of the engine, with two additions. log(1 + x) is computed as log1p(x). Where x = 0, the
  /// derivatives of sqrt(x), and of x^b for 0 < b < 1, count as 0: they are infinite, but a value
  /// that is 0 at distance 0 stays 0 for every parameter.
  Tensor value(const std::map<std::string, Tensor>& values, const Device& device) const;

 private:
  friend class FormulaParser;
  struct Node {
    enum class Kind { number, name, negate, add, subtract, multiply, divide, power, call };
    Kind kind = Kind::number;
    double number = 0;
    std::string name = {};        // of a name or a function
    std::vector<size_t> of = {};  // operands: earlier nodes
  };
  static int binding(Node::Kind kind);
  std::string text_of(size_t index) const;
  Tensor value_of(size_t index, const std::map<std::string, Tensor>& values,
                  const Device& device) const;
  /// The value less 1 where it is written as a sum with 1, else undefined.
  Tensor less_one(size_t index, const std::map<std::string, Tensor>& values,
                  const Device& device) const;

  std::vector<Node> nodes_;  // operands before what uses them; the last one is the formula
  std::vector<Name> names_;
};

/// |x|; the two sides are equal at 0, so the slope there is 0.
Tensor absolute(const Tensor& x);

/// Names that mean something in every formula: functions, pi and e.
std::vector<std::string> formula_words();

}  // namespace farfield::posenc
