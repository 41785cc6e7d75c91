#pragma once

#include <cstdint>

#include "apps/run/resolved_config.h"
#include "apps/sweep/plan.h"

namespace farfield::sweep {

// Multiply-adds of a cell, about. A plan opens no corpus: a split counts as ten million tokens, and
// a vocabulary of `n_vocab` 0 as 600; a task has its own.

double training_work(const run::ResolvedConfig& config, int64_t n_vocab);
double measurement_work(const run::ResolvedConfig& config, int64_t n_vocab, const Measurement& m);

}  // namespace farfield::sweep
