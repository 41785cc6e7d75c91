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
/// What they are called elsewhere, for suggestions; aliases are names too, these are not.
std::span<const Synonym> name_synonyms();
/// By name or alias; nullptr when there is none.
const Row* find(std::string_view name);
/// How an argument is written, for parse_expression().
Form form_of(std::string_view encoding, std::string_view argument, char after);
/// An expression of one encoding: its example, or its name and values for what must be given.
std::string example_of(const Row& row);
/// The same, acting in training too where an encoding acts at test time alone unless told
/// otherwise: rerope(at=both).
std::string training_example_of(const Row& row);
/// The table of README.md.
std::string markdown();

}  // namespace farfield::posenc
