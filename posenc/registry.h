#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/did_you_mean.h"
#include "posenc/arguments.h"
#include "posenc/encoding.h"

namespace farfield::posenc {

/// One encoding: what it is called, what it does and how it is made.
struct Row {
  std::string name;
  std::vector<std::string> aliases;
  std::string classes;  ///< letters as in README.md, comma separated: "T-b", "P2, M"; "-": nothing
  std::string meaning;
  std::unique_ptr<Encoding> (*make)(const Arguments&, const Config&) = nullptr;
  std::vector<ArgumentSpec> arguments;  ///< the first may be given without its name
  /// Class LY, a shorthand: the expression that it stands for, without `make`.
  std::string (*expand)(const Arguments&, const Config&) = nullptr;
  /// A term to begin with, where name and required arguments alone make none.
  std::string example = {};

  bool is(std::string_view letter) const;  ///< letter is among the classes
  bool takes(std::string_view argument) const;
};

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

}  // namespace farfield::posenc
