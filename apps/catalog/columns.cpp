#include "apps/catalog/columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>
#include <system_error>

#include "apps/cli/size_text.h"
#include "apps/eval/results.h"
#include "apps/run/labels.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::catalog {
namespace {

constexpr std::string_view kPerplexityAt = "ppl@";

SortKey number_key(double value) {
  return std::isnan(value) ? SortKey() : SortKey(value);  // a NaN is neither more nor less
}

SortKey text_key(const std::string& text) { return text.empty() ? SortKey() : SortKey(text); }

const BestPerplexity* best_at(const RunFacts& run, int64_t length) {
  for (const BestPerplexity& one : run.perplexities)
    if (one.length == length) return &one;
  return nullptr;
}

std::vector<Column> make_columns() {
  return {
      {"run", [](const RunFacts& run) { return run.run; },
       [](const RunFacts& run) { return text_key(run.run); }},
      {"state", [](const RunFacts& run) { return name(run.state); },
       [](const RunFacts& run) { return text_key(name(run.state)); }},
      {"name", [](const RunFacts& run) { return run.name.empty() ? "-" : run.name; },
       [](const RunFacts& run) { return text_key(run.name); }},
      {"steps", [](const RunFacts& run) { return concat(run.step, " of ", run.steps); },
       [](const RunFacts& run) { return number_key(static_cast<double>(run.step)); }},
      {"parameters",
       [](const RunFacts& run) { return run.parameters ? std::to_string(*run.parameters) : "-"; },
       [](const RunFacts& run) {
         return run.parameters ? number_key(static_cast<double>(*run.parameters)) : SortKey();
       }},
      {"weights", [](const RunFacts& run) { return cli::size_text(run.weights_bytes); },
       [](const RunFacts& run) { return number_key(static_cast<double>(run.weights_bytes)); }},
      {"encoding", [](const RunFacts& run) { return run::short_posenc(run.posenc); },
       [](const RunFacts& run) { return text_key(run.posenc); }},
      {"train-len", [](const RunFacts& run) { return std::to_string(run.train_len); },
       [](const RunFacts& run) { return number_key(static_cast<double>(run.train_len)); }},
      {"loss", [](const RunFacts& run) { return run.loss ? fixed(*run.loss, 3) : "-"; },
       [](const RunFacts& run) { return run.loss ? number_key(*run.loss) : SortKey(); }},
  };
}

}  // namespace

const std::vector<Column>& fixed_columns() {
  static const std::vector<Column> all = make_columns();
  return all;
}

Column perplexity_column(int64_t length) {
  return {concat(kPerplexityAt, length),
          [length](const RunFacts& run) {
            const BestPerplexity* best = best_at(run, length);
            return best == nullptr ? "-" : eval::short_number(best->perplexity);
          },
          [length](const RunFacts& run) {
            const BestPerplexity* best = best_at(run, length);
            return best == nullptr ? SortKey() : number_key(best->perplexity);
          }};
}

Column column_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Column& column : fixed_columns()) {
    if (column.name == name) return column;
    names.push_back(column.name);
  }
  if (name.starts_with(kPerplexityAt)) {
    int64_t length = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + kPerplexityAt.size(), end, length);
    if (read.ec == std::errc() && read.ptr == end && length >= 0) return perplexity_column(length);
  }
  fail<ConfigError>("model", "--sort: expected ", joined(names), " or ppl@LENGTH, got '", name, "'",
                    did_you_mean(name, names));
}

std::vector<int64_t> lengths_of(const std::vector<RunFacts>& runs) {
  std::set<int64_t> lengths;
  for (const RunFacts& run : runs)
    for (const BestPerplexity& one : run.perplexities) lengths.insert(one.length);
  return {lengths.begin(), lengths.end()};
}

void sort_runs(std::vector<RunFacts>& runs, const Column& by, bool is_reversed) {
  struct Keyed {
    SortKey key;
    RunFacts run;
  };
  std::vector<Keyed> all;
  for (RunFacts& run : runs) {
    // A damaged run has its folder alone.
    const bool has_key = run.state != RunState::damaged || by.name == "run";
    SortKey key = has_key ? by.key(run) : SortKey();
    all.push_back({std::move(key), std::move(run)});
  }
  std::stable_sort(all.begin(), all.end(), [&](const Keyed& a, const Keyed& b) {
    const bool has_a = a.key.index() != 0, has_b = b.key.index() != 0;
    if (!has_a || !has_b) return has_a && !has_b;
    return is_reversed ? b.key < a.key : a.key < b.key;
  });
  for (size_t i = 0; i < all.size(); ++i) runs[i] = std::move(all[i].run);
}

}  // namespace farfield::catalog
