#include "posenc/registry.h"

#include <algorithm>

#include "engine/base/markdown.h"
#include "engine/base/text.h"

namespace farfield::posenc {

std::vector<Row> encoding_rows();  // encodings.cpp.in

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

const Row::Conflict* Row::conflict_with(const Row& other) const {
  for (const Conflict& conflict : conflicts)
    for (const std::string& with : conflict.with)
      if (other.name == with || other.is(with)) return &conflict;
  return nullptr;
}

const std::vector<Row>& registry() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all = encoding_rows();
    std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
    return all;
  }();
  return rows;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Row& row : registry()) names.push_back(row.name);
  return names;
}

std::span<const Synonym> name_synonyms() {
  static const std::vector<Synonym> synonyms = [] {
    std::vector<Synonym> all;
    for (const Row& row : registry())
      for (const std::string& said : row.synonyms) all.push_back({said, row.name});
    return all;
  }();
  return synonyms;
}

const Row* find(std::string_view name) {
  for (const Row& row : registry())
    if (row.name == name ||
        std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end())
      return &row;
  return nullptr;
}

Form form_of(std::string_view encoding, std::string_view argument, char after) {
  using Kind = ArgumentSpec::Kind;
  const Row* const row = find(encoding);
  if (row == nullptr) return Form::value;
  bool declares = false;
  for (const ArgumentSpec& spec : row->arguments) {
    const bool is_meant = argument.empty() || (spec.name == argument && after == '=');
    if (spec.kind == Kind::declarations)
      declares = true;
    else if (is_meant)
      return spec.kind == Kind::formula ? Form::formula : Form::value;
  }
  return declares && std::string_view("=><~").find(after) != std::string_view::npos
             ? Form::declaration
             : Form::value;
}

std::string example_of(const Row& row) {
  if (!row.example.empty()) return row.example;
  std::string arguments;
  for (const ArgumentSpec& spec : row.arguments)
    if (spec.default_text.empty())
      arguments += concat(arguments.empty() ? "" : ", ", spec.name, "=5");
  return row.name + (arguments.empty() ? "" : '(' + arguments + ')');
}

std::string training_example_of(const Row& row) {
  const std::string example = example_of(row);
  const auto at = std::find_if(row.arguments.begin(), row.arguments.end(),
                               [](const ArgumentSpec& spec) { return spec.name == "at"; });
  if (at == row.arguments.end() || at->default_text != "eval") return example;
  if (example.back() != ')') return example + "(at=both)";
  return example.substr(0, example.size() - 1) + ", at=both)";
}

Comparison comparison_of(const Row& row) {
  const bool is_added_later = !row.trained_as.empty();
  std::string own = row.compared_as;
  if (own.empty()) own = is_added_later ? example_of(row) : training_example_of(row);
  if (is_added_later) return {.trained = row.trained_as, .measured = std::move(own)};
  return {.trained = std::move(own)};
}

std::string family_of(const Row& row) {
  if (!row.family.empty()) return row.family;
  if (row.is("R")) return "rotary and its rescalings";
  if (row.is("P2") || row.is("LY") || row.is("M")) return "windows and far distances";
  if (row.is("I") || row.is("P")) return "absolute and position maps";
  return "score rules";
}

std::string markdown() {
  const auto default_of = [](const ArgumentSpec& spec) {
    std::vector<std::string> parts = {spec.default_text.empty() ? "must be given"
                                                                : spec.default_text};
    for (const std::string& word : spec.words)
      if (word != spec.default_text) parts.push_back(word);
    if (!spec.words.empty() && spec.kind == ArgumentSpec::Kind::number) parts.push_back("a number");
    if (!spec.words.empty() && spec.kind == ArgumentSpec::Kind::integer)
      parts.push_back("an integer");
    if (spec.or_a_file) parts.push_back("@file");
    return joined(parts, "; ");
  };
  std::string text =
      markdown_head({"name", "class", "what it does", "arguments (default)", "source"});
  for (const Row& row : registry()) {
    std::vector<std::string> names = {row.name}, arguments;
    names.insert(names.end(), row.aliases.begin(), row.aliases.end());
    for (const ArgumentSpec& spec : row.arguments)
      arguments.push_back(concat('`', spec.name, "` (", default_of(spec), ')'));
    text += markdown_row({concat('`', joined(names, "`, `"), '`'), row.classes, row.formula,
                          joined(arguments), row.source});
  }
  return text;
}

}  // namespace farfield::posenc
