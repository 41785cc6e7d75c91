#pragma once
// Common parts of tests of encodings: one small model and the tables that an expression gives it.

#include <memory>
#include <string_view>

#include "engine/ops.h"
#include "posenc/composition.h"
#include "posenc/expression.h"
#include "posenc/registry.h"
#include "tests/support/golden.h"
#include "tests/support/tolerances.h"

namespace farfield::posenc {

inline Config model_of(int64_t n_head, DType dtype = DType::f64) {
  return {.n_head = n_head,
          .head_dim = 8,
          .d_model = 8 * n_head,
          .n_layer = 3,
          .train_len = 16,
          .seed = 1,
          .dtype = dtype};
}

/// Tables rounded once to float32, and those kept in float64.
inline Tolerance table_tolerance(DType dtype) {
  return dtype == DType::f32 ? Tolerance{1e-7, 4e-7} : Tolerance{1e-11, 1e-12};
}

/// The rule of the first layer, for n queries and keys.
inline ScoreRule rule_of(const Composition& c, int64_t n, Phase phase = Phase::eval) {
  return c.plan(n, n, phase).layers[0].rule;
}

/// The encoding of an expression of one term, on its own.
inline std::unique_ptr<Encoding> encoding_of(std::string_view expression, const Config& config) {
  const ParsedTerm term = parse_expression(expression).at(0);
  const Row* const row = find(term.name);
  require<ConfigError>(row != nullptr, "test", "expected an encoding, got ", term.name);
  return row->make(Arguments(expression, term, row->name, row->arguments, config), config);
}

/// Columns of a table [H, S] at the given distances, in a row: [H][distances].
inline std::vector<double> at_distances(const Tensor& table, const std::vector<double>& distances) {
  const std::vector<double> all = table.to_vector();
  std::vector<double> picked;
  for (int64_t h = 0; h < table.dim(0); ++h)
    for (const double d : distances)
      picked.push_back(all[static_cast<size_t>(h * table.dim(1)) + static_cast<size_t>(d)]);
  return picked;
}

/// Text of a list argument: "[0.5,0.25]".
inline std::string list_text(const nlohmann::json& numbers) {
  Value value;
  value.kind = Value::Kind::list;
  value.list = farfield::test::golden_numbers(numbers);
  return to_text(value);
}

/// A message of ConfigError (or another Error) that f() throws; "" when it does not.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}
inline std::string error_of_expression(std::string_view expression, const Config& config) {
  return error_of([&] { Composition(expression, config); });
}

}  // namespace farfield::posenc
