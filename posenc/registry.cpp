#include "posenc/registry.h"

#include <algorithm>

#include "posenc/rows.h"

namespace farfield::posenc {
namespace {

std::vector<Row> make_rows() {
  std::vector<Row> all;
  for (const auto rows : {input_rows, remap_rows, rotation_rows, rule_rows, table_rows})
    for (Row& row : rows()) all.push_back(std::move(row));
  std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
  return all;
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

std::span<const Synonym> name_synonyms() {
  static constexpr Synonym kSynonyms[] = {
      {"rotary", "rope"},
      {"roformer", "rope"},
      {"linear_scaling", "rope_linear"},
      {"position_interpolation", "interpolation"},
      {"ntk", "rope_ntk"},
      {"ntk_aware", "rope_ntk"},
      {"dynamic_ntk", "rope_dynamic_ntk"},
      {"yarn", "rope_yarn"},
      {"llama3", "rope_llama3"},
      {"linear_bias", "alibi"},
      {"kerple", "kerple_log"},
      {"t5_bias", "t5"},
      {"relative_bias", "t5"},
      {"sin", "sinusoidal"},
      {"sine", "sinusoidal"},
      {"learned", "learned_abs"},
      {"absolute", "learned_abs"},
      {"no_pos", "none"},
      {"identity", "none"},
      {"sliding_window", "window"},
      {"local", "window"},
      {"swa", "window"},
      {"sinks", "streaming"},
      {"attention_sinks", "streaming"},
      {"streaming_llm", "streaming"},
      {"selfextend", "self_extend"},
      {"custom", "kernel"},
  };
  return kSynonyms;
}

const Row* find(std::string_view name) {
  for (const Row& row : registry())
    if (row.name == name ||
        std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end())
      return &row;
  return nullptr;
}

Form form_of(std::string_view encoding, std::string_view argument, char after) {
  const Row* const row = find(encoding);
  if (row == nullptr || row->arguments.empty()) return Form::value;
  const auto& specs = row->arguments;
  const auto spec = std::find_if(specs.begin(), specs.end(), [&](const ArgumentSpec& s) {
    return argument.empty() || (s.name == argument && !s.declares);
  });
  const bool is_value = argument.empty() || after == '=';
  if (spec != specs.end() && is_value) return spec->formula ? Form::formula : Form::value;
  const bool declares =
      std::any_of(specs.begin(), specs.end(), [](const ArgumentSpec& s) { return s.declares; });
  return declares && (after == '=' || after == '>' || after == '<' || after == '~')
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

}  // namespace farfield::posenc
