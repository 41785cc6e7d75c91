#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/eval/subject.h"

namespace farfield::eval {

/// The nll of every target of the sequences of n inputs that begin at these tokens, [sequence][n].
/// Where one is not finite the cell has failed, with the sequence and the position (from 1 on)
/// named, and rows are missing. Throws as read_tokens() does.
std::vector<std::vector<double>> score_sequences(std::string_view protocol, const Subject& subject,
                                                 const CommonOptions& common,
                                                 const std::vector<int64_t>& starts, int64_t n,
                                                 LengthResult& cell);

/// Of such sequences, the tokens whose nll perplexity_at() averages over at position q.
TokenSet tokens_at(const std::vector<int64_t>& starts, int64_t q);

}  // namespace farfield::eval
