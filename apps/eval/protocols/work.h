#pragma once

#include <string>
#include <vector>

#include "apps/eval/protocols/registry.h"

namespace farfield::eval {

/// What the work of a measurement depends on, beside its options.
struct WorkSubject {
  int64_t text_size = 0;    ///< tokens of the split
  int64_t train_len = 0;    ///< tokens of a training sequence
  int64_t step_tokens = 0;  ///< of a training step
  Baseline baseline = {};
  int64_t n_draws = 1;  ///< that are measured; 1 for what draws nothing
};

/// One cell of a table that is to be measured.
struct CellWork {
  int64_t length = 0;
  double tokens = 0;  ///< that Subject::watch will be told of, about
};

/// The cells that a protocol measures, in their order, draw by draw. Tokens are an estimate that
/// time left is judged by: what is not known beforehand counts as nothing.
std::vector<CellWork> work_of(const std::string& protocol, const EvalOptions& eval,
                              const WorkSubject& subject);

}  // namespace farfield::eval
