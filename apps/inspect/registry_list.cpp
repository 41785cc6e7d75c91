#include "apps/inspect/registry_list.h"

#include <map>
#include <set>

#include "apps/cli/csv.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/ops/attention.h"
#include "engine/ops/split_heads.h"
#include "posenc/registry.h"

namespace farfield::inspect {
namespace {

constexpr size_t kWidth = 100;

posenc::Config small_model() {
  return {.n_head = 2, .head_dim = 8, .d_model = 16, .n_layer = 4, .train_len = 16, .seed = 1};
}

// For each encoding, the names of encodings that it cannot be combined with.
std::map<std::string, std::vector<std::string>> refused_pairs() {
  const std::vector<posenc::Row>& rows = posenc::registry();
  std::map<std::string, std::vector<std::string>> refused;
  std::set<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = i; j < rows.size(); ++j)
      if (!refusal_of(example_of(rows[i]) + " + " + example_of(rows[j]), small_model()).empty())
        pairs.insert({i, j}), pairs.insert({j, i});
  for (const auto& [i, j] : pairs) refused[rows[i].name].push_back(rows[j].name);
  return refused;
}

// Words after `head`, in lines that are not too long, the later ones indented.
std::string wrapped(const std::string& head, const std::vector<std::string>& words) {
  const std::string indent(4, ' ');
  std::string text = head, line = head;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] + (i + 1 < words.size() ? "," : "");
    if (line.size() + 1 + word.size() > kWidth) {
      text += '\n' + indent + word;
      line = indent + word;
    } else {
      text += ' ' + word;
      line += ' ' + word;
    }
  }
  return text + '\n';
}

}  // namespace

std::string refusal_of(const std::string& expression, const posenc::Config& config) {
  try {
    const posenc::Composition encoding(expression, config);
    const int64_t n = config.train_len;
    const Tensor qkv = Tensor::full({1, n, 3 * config.n_head * config.head_dim}, 0.5, config.dtype);
    for (const auto phase : {posenc::Phase::train, posenc::Phase::eval})
      for (const auto& [rotation, rule] : encoding.plan(n, n, phase).layers) {
        const Heads heads = split_heads(qkv, config.n_head, rotation);
        attention(heads.q, heads.k, heads.v, rule, heads.far);
      }
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string registry_text() {
  const auto refused = refused_pairs();
  std::string text;
  for (const posenc::Row& row : posenc::registry()) {
    text += row.name;
    for (const std::string& alias : row.aliases) text += ", " + alias;
    text += concat("  [", row.classes, "]\n  ", row.meaning, '\n');
    for (const posenc::ArgumentSpec& spec : row.arguments)
      text += concat("    ", spec.name, ": ", spec.type(), "; ", spec.meaning, " (",
                     spec.default_text.empty() ? "must be given" : "default: " + spec.default_text,
                     ")\n");
    if (!row.example.empty()) text += concat("  for example ", row.example, '\n');
    const auto found = refused.find(row.name);
    text += found == refused.end() ? "  combines with every other, and with itself\n"
                                   : wrapped("  combines with all but", found->second);
    text += '\n';
  }
  return text;
}

cli::Table registry_table() {
  const auto refused = refused_pairs();
  cli::Table table = {"encodings",
                      {"name", "aliases", "class", "arguments", "refused_with", "meaning"}};
  for (const posenc::Row& row : posenc::registry()) {
    std::vector<std::string> arguments;
    for (const posenc::ArgumentSpec& spec : row.arguments)
      arguments.push_back(spec.name + '=' + spec.default_text);
    const auto found = refused.find(row.name);
    table.rows.push_back({row.name, joined(row.aliases, " "), row.classes, joined(arguments, "; "),
                          found == refused.end() ? "" : joined(found->second, " "), row.meaning});
  }
  return table;
}

std::string registry_csv() { return cli::csv_of(registry_table()); }

}  // namespace farfield::inspect
