#pragma once

#include <string>

#include "apps/compare/comparison.h"

namespace farfield::compare {

/// Encodings by lengths with marks, or for a quantity of heads encodings and heads. Bits per byte
/// stand beneath perplexities, if all seeds know the bytes of their tokens. Numbers of protocol
/// speed are followed by their ratio to the reference. Then come the meaning of the spread over
/// seeds, each difference to the reference with its interval and the test that decides its mark,
/// and the cells that were not compared. `is_verbose` adds parameters, protocol hash, and which
/// tests decide.
std::string comparison_table(const Comparison& of, bool is_verbose = false);
/// Replaces the table of a quantity of heads that was not asked for by name: one line that names
/// the quantity and the option that shows it.
std::string comparison_remark(const Comparison& of);

}  // namespace farfield::compare
