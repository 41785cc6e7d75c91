#pragma once

#include "apps/eval/protocol.h"

namespace farfield::eval {

/// Runs one protocol under options that check() accepts. A trained model's scorer is made anew:
/// truncated where the baseline is, with what other protocols asked of it (Session::rows), and,
/// where its encoding draws positions at random, for each of common.draws draws from the subject's
/// on, of which the result is the mean. common.batch_tokens of 0 becomes what choose_batch_tokens()
/// says for the model and its device.
///
/// With Session::sharing every process makes the same calls, of protocols that are not shared
/// (Protocol::is_shared) one alone. Numbers are those of one process.
ProtocolResult evaluate(const std::string& protocol, const Subject& subject, EvalOptions eval);

}  // namespace farfield::eval
