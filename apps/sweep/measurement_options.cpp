#include "apps/sweep/measurement_options.h"

#include "apps/eval/protocol.h"
#include "engine/base/error.h"

namespace farfield::sweep {

eval::EvalOptions options_of(const Measurement& m) {
  cli::Options options("eval", "");
  eval::EvalOptions eval;
  eval::add_options(options, eval);
  options.read_config(m.protocol, run::without(m.options, {"document-order", "split"}));
  eval.common.are_lengths_given = options.given("lengths");
  eval::check(eval);
  require<ConfigError>(eval.baselines.size() == 1, "sweep", m.protocol,
                       ": --baseline: expected one in a measurement, got ", eval.baselines.size());
  return eval;
}

std::string split_of(const Measurement& m) {
  const std::string split = run::value_of(m.options, "split");
  return split.empty() ? "test" : split;
}

}  // namespace farfield::sweep
