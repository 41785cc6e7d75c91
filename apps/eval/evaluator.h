#pragma once

#include "apps/eval/protocols/registry.h"

namespace farfield::eval {

/// Runs one protocol. Where the encoding of the subject's model draws positions at random, the mean
/// over common.draws draws; the subject's scorer is then made anew for each. common.batch_tokens of
/// 0 becomes what choose_batch_tokens() says for the subject's model and device.
ProtocolResult evaluate(const std::string& protocol, const Subject& subject,
                        const EvalOptions& eval);

/// The options with a number of tokens for a forward pass: where it is 0, choose_batch_tokens().
EvalOptions with_batch_tokens(EvalOptions eval, const Transformer& model, const Device& device);

}  // namespace farfield::eval
