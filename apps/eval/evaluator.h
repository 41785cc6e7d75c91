#pragma once

#include "apps/eval/protocol.h"

namespace farfield::eval {

/// Runs one protocol under options that check() accepts. A trained model gets a new scorer,
/// truncated if the baseline is, with the rows that other protocols have scored (Session::rows). If
/// its encoding draws positions at random, there is a scorer for each of common.draws draws from
/// the subject's draw on, and the result is their mean. common.batch_tokens of 0 becomes
/// choose_batch_tokens() for the model and its device.
///
/// With Session::sharing every process makes the same calls, but only one process calls a protocol
/// that is not shared (Protocol::is_shared). Numbers equal the numbers of one process.
ProtocolResult evaluate(const std::string& protocol, const Subject& subject, EvalOptions eval);

}  // namespace farfield::eval
