#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "posenc/registry.h"

namespace farfield::posenc {

/// The lengths of a model, against the model that an expression was written for.
struct LengthChange {
  double factor = 1;      ///< new lengths over old ones
  int64_t train_len = 1;  ///< the new training length in tokens
  int64_t n_head = 1;     ///< for default values with one number per head
};

/// An expression for other lengths, so that an encoding does to the new training length what it did
/// to the old one. Numbers follow ArgumentSpec::unit, with f the factor:
///
///   tokens              x f, rounded, at least 1; 0 stays 0
///   per_token           x / f
///   halvings_per_token  x + log2(f)
///   log_per_token       x - ln(f)
///   count, unstated     unchanged
///
/// A default that is a number follows too, and is then written out. A default that depends on the
/// training length follows by itself. Formulas, words and files stay as written. Row::rescale takes
/// the place of these rules. The same text for a factor of 1.
///
/// `row_of` finds the row of a name; terms without a row stay.
/// Throws    ConfigError as parse_expression() does
std::string rescaled(const std::string& expression, const LengthChange& change,
                     const Row* (*row_of)(std::string_view name) = find);

/// The rules above for the arguments of one term, each of which has its name.
void rescale_arguments(ParsedTerm& term, const std::vector<ArgumentSpec>& specs,
                       const LengthChange& change);

}  // namespace farfield::posenc
