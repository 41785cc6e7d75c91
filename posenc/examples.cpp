#include "posenc/examples.h"

#include <algorithm>

namespace farfield::posenc {

std::string training_example_of(const posenc::Row& row) {
  const std::string example = example_of(row);
  const auto at = std::find_if(row.arguments.begin(), row.arguments.end(),
                               [](const posenc::ArgumentSpec& spec) { return spec.name == "at"; });
  if (at == row.arguments.end() || at->default_text != "eval") return example;
  if (example.back() != ')') return example + "(at=both)";
  return example.substr(0, example.size() - 1) + ", at=both)";
}

}  // namespace farfield::posenc
