#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/analysis/curve.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

/// The nll of every target of the sequences of n inputs that begin at these tokens, [sequence][n].
/// If a nll is not finite the cell fails, names the sequence and the position (from 1 on), and rows
/// are missing. Throws as read_tokens() does.
std::vector<std::vector<double>> score_sequences(std::string_view protocol, const Subject& subject,
                                                 const CommonOptions& common,
                                                 const std::vector<int64_t>& starts, int64_t n,
                                                 LengthResult& cell);

/// The tokens of such sequences whose nll perplexity_at() averages at position q.
TokenSet tokens_at(const std::vector<int64_t>& starts, int64_t q,
                   int64_t n = analysis::kPositionsAt);

}  // namespace farfield::eval
