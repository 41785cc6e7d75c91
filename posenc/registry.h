#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/did_you_mean.h"
#include "posenc/row.h"

namespace farfield::posenc {

/// Every encoding, sorted by name.
const std::vector<Row>& registry();
/// Their names, without aliases.
std::vector<std::string> names();
/// Names in other programs, for suggestions; an expression may use aliases, but not these.
std::span<const Synonym> name_synonyms();
/// By name or alias; nullptr when there is none.
const Row* find(std::string_view name);
/// How an argument is written, for parse_expression().
Form form_of(std::string_view encoding, std::string_view argument, char after);
/// An expression of one encoding: its example, or its name and values for what must be given.
std::string example_of(const Row& row);
/// The same, but acting in training too if an encoding acts only at test time by default:
/// rerope(at=both).
std::string training_example_of(const Row& row);
/// How a comparison of all encodings trains and measures one.
struct Comparison {
  std::string trained = {};
  std::string measured = {};  ///< empty: as it was trained
};
Comparison comparison_of(const Row& row);
/// Row::family, or the family of its classes.
std::string family_of(const Row& row);
/// The table of README.md.
std::string markdown();

}  // namespace farfield::posenc
