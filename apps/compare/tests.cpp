#include "apps/compare/tests.h"

#include <algorithm>
#include <cmath>

#include "apps/cli/lists.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::compare {
namespace {

// The reference row for `row`: same head and setting, or the only reference row of this head.
const ComparedRow* reference_of(const Comparison& in, const ComparedRow& row) {
  std::vector<const ComparedRow*> all;
  for (const ComparedRow& other : in.rows) {
    if (!other.is_reference || other.of != row.of ||
        (in.pairs == Pairs::segments && other.seed != row.seed))
      continue;
    if (other.setting == row.setting) return &other;
    all.push_back(&other);
  }
  return all.size() == 1 ? all.front() : nullptr;
}

void test_segments(ComparedCell& cell, const SeedValue& reference, const SeedValue& candidate) {
  cell.has_test = reference.items.size() == candidate.items.size() && reference.items.size() >= 2;
  if (cell.has_test) cell.log_test = analysis::paired_t_test(reference.items, candidate.items);
}

void test_cell(Comparison& in, const ComparedRow& reference, ComparedRow& row, size_t at) {
  ComparedCell& cell = row.cells[at];
  const bool is_perplexity = in.quantity == "perplexity";
  const auto name_of = [&](const ComparedRow& r, uint64_t seed) {
    return in.pairs == Pairs::segments ? r.label : concat(r.label, " s", seed);
  };
  std::vector<double> ours, theirs;
  bool is_comparable = true;
  for (const SeedValue& candidate : cell.seeds) {
    for (const SeedValue& other : reference.cells[at].seeds) {
      if (other.seed != candidate.seed) continue;
      if (other.tokens != candidate.tokens) {
        is_comparable = false;
        cli::add_new(in.notes,
                     concat(name_of(row, candidate.seed), " and ", name_of(reference, other.seed),
                            " at ", in.lengths[at], ": other tokens (hash ", candidate.tokens,
                            " and ", other.tokens, "): not compared"));
      } else if (in.pairs == Pairs::segments) {
        if (is_perplexity) test_segments(cell, other, candidate);
      } else {
        ours.push_back(other.value);
        theirs.push_back(candidate.value);
      }
    }
  }
  if (!is_comparable) {
    cell.has_test = false;
  } else if (ours.size() >= 2) {
    cell.has_test = true;
    cell.test = analysis::paired_t_test(ours, theirs);
    if (is_perplexity) cell.log_test = analysis::log_ratio_t_test(ours, theirs);
  } else if (!cell.has_test && !cell.seeds.empty()) {
    if (in.pairs == Pairs::seeds)
      cli::add_new(in.notes,
                   concat(row.label, ": ", ours.size(), ours.size() == 1 ? " seed" : " seeds",
                          " in common with ", reference.label, "; a test takes 2 or more",
                          in.way_out.empty() ? "" : ". ", in.way_out));
    else
      cli::add_new(in.notes, concat(row.label, ": no items in common with ", reference.label));
  }
  if (!cell.has_test) return;
  ++in.n_tests;
  cell.mark = analysis::sandwich_mark(in.deciding(cell));
}

// A number that depends on the machine is compared by its ratio to another number on this machine.
// Seeds are not paired, since a seed does not change the time.
void add_ratios(const ComparedRow& reference, ComparedRow& row) {
  for (size_t at = 0; at < row.cells.size(); ++at) {
    const double own = row.cells[at].spread.mean, other = reference.cells[at].spread.mean;
    if (std::isfinite(own) && other > 0 && std::isfinite(other)) row.cells[at].ratio = own / other;
  }
}

// One note for all heads of an encoding that the reference does not have.
void note_unmatched(Comparison& in) {
  std::vector<std::string> labels, parts;
  for (const ComparedRow& row : in.rows) {
    cli::add_new(labels, row.label);
    if (row.is_reference) cli::add_new(parts, row.of);
  }
  for (const std::string& label : labels) {
    std::vector<std::string> unmatched;
    for (const ComparedRow& row : in.rows)
      if (row.label == label && !cli::has(parts, row.of)) unmatched.push_back(row.of);
    if (!unmatched.empty())
      in.notes.push_back(concat(label, ": ", in.reference_label, " has nothing of ",
                                joined(unmatched), " to hold it against: not compared"));
  }
}

}  // namespace

void test_rows(Comparison& in) {
  for (ComparedRow& row : in.rows) row.is_reference = row.name == in.reference;
  if (in.has_parts()) note_unmatched(in);
  const bool has_ratios = in.protocol == "speed";
  for (ComparedRow& row : in.rows) {
    if (row.is_reference) {
      if (has_ratios) add_ratios(row, row);
      continue;
    }
    if (const ComparedRow* const reference = reference_of(in, row)) {
      if (has_ratios) add_ratios(*reference, row);
      for (size_t at = 0; at < in.lengths.size(); ++at) test_cell(in, *reference, row, at);
    } else if (std::any_of(in.rows.begin(), in.rows.end(), [&](const ComparedRow& other) {
                 return other.is_reference && other.of == row.of;
               })) {
      cli::add_new(in.notes, concat(row.label, ": no single ", in.reference_label,
                                    " to hold it against: not compared"));
    }
  }
}

}  // namespace farfield::compare
