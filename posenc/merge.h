#pragma once

#include "posenc/encoding.h"

namespace farfield::posenc {

/// The combination of two rules: biases add, weights and row scales multiply, a key is visible
/// where both show it. ConfigError for two masks with sinks whose intersection is not of the form
/// "window or sinks". Differentiable in the tables.
ScoreRule merge(const ScoreRule& a, const ScoreRule& b);

}  // namespace farfield::posenc
