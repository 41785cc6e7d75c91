#pragma once
// Cells of runs as eval keeps them, made by hand to be compared.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "apps/compare/comparison.h"
#include "engine/base/error.h"

namespace farfield::test {

inline compare::RunCell cell(const std::string& name, uint64_t seed, double perplexity,
                             int64_t length = 64) {
  compare::RunCell c;
  c.run = "runs/" + name + "-s" + std::to_string(seed);
  c.name = name;
  c.seed = seed;
  c.train_len = 32;
  c.setting = {{"train-len", "32"}, {"text", "0123456789abcdef/test"}};
  c.result.protocol = "last-token";
  c.result.parameters = "segments=4";
  eval::LengthResult& at = c.result.lengths.emplace_back();
  at.length = length;
  at.tokens = "seed" + std::to_string(seed);
  at.mean_nll = std::log(perplexity);
  for (const double shift : {-0.3, 0.1, 0.0, 0.2}) at.items.push_back(at.mean_nll + shift);
  return c;
}

// Seeds 1 to 5 of a reference and a candidate whose perplexities differ by 1, 2, 3, 4, 5: the
// worked example of paired tests, t = 4.2426, p = 0.01324.
inline std::vector<compare::RunCell> five_seeds() {
  std::vector<compare::RunCell> cells;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    cells.push_back(cell("alibi", seed, 20 + static_cast<double>(seed)));
    cells.push_back(cell("kerple_log", seed, 20));
  }
  return cells;
}

// Words are views: a reference beside a temporary string looks dangling to g++ 14.
inline const compare::ComparedRow& row(const compare::Comparison& in, std::string_view label) {
  for (const compare::ComparedRow& r : in.rows)
    if (r.label == label) return r;
  BOOST_FAIL(concat("no row ", label));
  return in.rows.front();
}

inline bool has_note(const compare::Comparison& in, const std::string& part) {
  for (const std::string& note : in.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

inline compare::CompareOptions with_pairs(const std::string& pairs) {
  compare::CompareOptions options;
  options.pairs = pairs;
  return options;
}

// A cell of effective-length: of head h the number 100 h + more.
inline compare::RunCell heads(const std::string& name, uint64_t seed, int n_head, double more = 0) {
  compare::RunCell c = cell(name, seed, 1, 0);
  c.result.protocol = "effective-length";
  eval::LengthResult& at = c.result.lengths[0];
  at = {};
  for (int h = 1; h <= n_head; ++h)
    at.quantities.push_back({"eff", 100.0 * h + more, "h" + std::to_string(h)});
  return c;
}

inline const compare::ComparedRow& row_of(const compare::Comparison& in, std::string_view label,
                                          std::string_view of) {
  for (const compare::ComparedRow& r : in.rows)
    if (r.label == label && r.of == of) return r;
  BOOST_FAIL(concat("no row ", label, " of ", of));
  return in.rows.front();
}

}  // namespace farfield::test
