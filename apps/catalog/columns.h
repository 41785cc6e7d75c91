#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "apps/catalog/run_facts.h"

namespace farfield::catalog {

/// What runs are sorted by; nothing where a run lacks it.
using SortKey = std::variant<std::monostate, double, std::string>;

/// A column of the list.
struct Column {
  std::string name;                                  ///< its heading, for --sort too
  std::function<std::string(const RunFacts&)> text;  ///< a cell of the table
  std::function<SortKey(const RunFacts&)> key;
};

/// The columns that every list has, in order, `run` first and `state` second.
const std::vector<Column>& fixed_columns();
/// ppl@LENGTH.
Column perplexity_column(int64_t length);
/// The column of a name. ConfigError, with the nearest name, for an unknown one.
Column column_named(const std::string& name);

/// The lengths at which some run has a perplexity, ascending.
std::vector<int64_t> lengths_of(const std::vector<RunFacts>& runs);

/// Sorts by a column; equal runs stay in their order. Runs that lack it, damaged ones among them,
/// come last in both directions.
void sort_runs(std::vector<RunFacts>& runs, const Column& by, bool is_reversed);

}  // namespace farfield::catalog
