#include "apps/eval/evaluator.h"

#include "apps/eval/batch_memory.h"
#include "apps/eval/protocols/draws.h"
#include "apps/run/machine.h"
#include "layers/transformer.h"

namespace farfield::eval {

EvalOptions with_batch_tokens(EvalOptions eval, const Transformer& model, const Device& device) {
  if (eval.common.batch_tokens == 0)
    eval.common.batch_tokens =
        choose_batch_tokens(model.config(), model.compute_dtype(), run::available_bytes(device));
  return eval;
}

ProtocolResult evaluate(const std::string& name, const Subject& subject, const EvalOptions& asked) {
  check(asked);
  const EvalOptions eval =
      subject.model == nullptr ? asked : with_batch_tokens(asked, *subject.model, subject.device);
  const Protocol& protocol = protocol_named(name);
  if (subject.is_truncated()) require_scores_suffice(protocol, subject.baseline);
  if (!subject.is_random || eval.common.draws == 1) return protocol.run(subject, eval);
  std::vector<ProtocolResult> draws;
  for (int64_t draw = 0; draw < eval.common.draws; ++draw) {
    Subject drawn = subject;
    drawn.draw = static_cast<uint64_t>(draw);
    drawn.scorer = subject.make_scorer(drawn.draw);
    draws.push_back(protocol.run(drawn, eval));
  }
  return mean_over_draws(draws);
}

}  // namespace farfield::eval
