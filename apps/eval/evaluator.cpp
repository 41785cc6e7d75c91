#include "apps/eval/evaluator.h"

#include <string>

#include "apps/eval/batch_memory.h"
#include "apps/eval/draws.h"
#include "apps/eval/truncated.h"
#include "apps/run/machine.h"
#include "layers/transformer.h"

namespace farfield::eval {
namespace {

Scorer make_scorer(const Subject& subject, const Protocol& protocol, const EvalOptions& eval) {
  const Model& model = subject.model;
  const Session& session = subject.session;
  Scorer scorer = scorer_of(*model.transformer, model.device, model.draw, session.watch);
  if (session.sharing != nullptr && protocol.is_shared)
    scorer = shared(scorer, *session.sharing, session.watch);
  if (model.is_truncated())
    scorer = truncated(scorer, model.baseline.window, eval.common.batch_tokens);
  // Protocols without text share no rows, and speed must run the passes that it times.
  if (session.rows != nullptr && protocol.has_text && !model.is_random())
    scorer = remembering(scorer, *session.rows);
  return scorer;
}

}  // namespace

ProtocolResult evaluate(const std::string& name, const Subject& subject, EvalOptions eval) {
  const Protocol& protocol = protocol_named(name);
  const Transformer* const model = subject.model.transformer;
  if (model == nullptr) return protocol.run(subject, eval);
  const int64_t available = run::available_bytes(subject.model.device);
  if (has_room_for_copies(model->config(), model->compute_dtype(), available))
    model->keep_weight_copies();
  if (eval.common.batch_tokens == 0)
    eval.common.batch_tokens =
        choose_batch_tokens(model->config(), model->compute_dtype(), available);
  Subject drawn = subject;
  if (!protocol.is_shared) drawn.session.sharing = nullptr;
  if (drawn.session.sharing != nullptr) {
    int64_t& tokens = eval.common.batch_tokens;  // the first process decides: memory may differ
    tokens = std::stoll(drawn.session.sharing->processes().broadcast(std::to_string(tokens)));
  }
  std::vector<ProtocolResult> draws;
  for (int64_t n = subject.model.is_random() ? eval.common.draws : 1; n > 0; --n) {
    drawn.model.scorer = make_scorer(drawn, protocol, eval);
    draws.push_back(protocol.run(drawn, eval));
    ++drawn.model.draw;
  }
  return mean_over_draws(draws);
}

}  // namespace farfield::eval
