#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

  bool is(std::string_view letter) const;  ///< letter is among the classes
  bool takes(std::string_view argument) const;
};

/// Every encoding, sorted by name.
const std::vector<Row>& registry();
/// Their names, without aliases.
std::vector<std::string> names();
/// By name or alias; nullptr when there is none.
const Row* find(std::string_view name);

}  // namespace farfield::posenc
