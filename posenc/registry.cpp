#include "posenc/registry.h"

#include <algorithm>

namespace farfield::posenc {

std::unique_ptr<Encoding> make_none(const Arguments&, const Config&);

namespace {

std::vector<Row> make_rows() {
  std::vector<Row> rows = {
      {"none", {"nope", "no_pe"}, "-", "the causal mask alone", make_none, {}},
  };
  return rows;
}

}  // namespace

bool Row::is(std::string_view letter) const {
  for (size_t begin = 0; begin < classes.size();) {
    const size_t end = std::min(classes.find(", ", begin), classes.size());
    if (std::string_view(classes).substr(begin, end - begin) == letter) return true;
    begin = end + 2;
  }
  return false;
}

bool Row::takes(std::string_view argument) const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const ArgumentSpec& spec) { return spec.name == argument; });
}

const std::vector<Row>& registry() {
  static const std::vector<Row> rows = make_rows();
  return rows;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Row& row : registry()) names.push_back(row.name);
  return names;
}

const Row* find(std::string_view name) {
  for (const Row& row : registry())
    if (row.name == name ||
        std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end())
      return &row;
  return nullptr;
}

}  // namespace farfield::posenc
