#pragma once

#include <string>

#include "apps/eval/result.h"
#include "apps/eval/text.h"

namespace farfield::eval {

// The tokens behind the items of a cell. They follow from protocol, parameters and length. The
// protocol hash covers these already, so the tokens are no part of the hash and finished cells need
// not hold them.

/// Tokens of a text: `first`, first + every, ... : n of them.
struct ItemTokens {
  int64_t first = 0, n = 0, every = 1;
};

/// The token that items are counted by, in the text as it is read: the documents of the split in
/// the order of --document-order, joined, tokens from 0. last-token, cached: the first of the
/// segment. non-overlapping, position-wise: the first input of the chunk. sliding: the token before
/// the item's first predicted token.
int64_t first_token_of(const ProtocolResult& of, const LengthResult& cell, size_t item);

/// The tokens that an item predicts, in the text as it is read.
using PredictedBy = ItemTokens(const ProtocolResult& of, const LengthResult& cell, size_t item);
/// The last token of the segment.
PredictedBy predicted_by_segment;
/// The tokens behind first_token, or with "every=N" among the parameters each N-th of them; the
/// last item has the remaining tokens.
PredictedBy predicted_by_chunk;

/// Their places in the `.tokens` file: "1234", or for several tokens "1234-1290 88-120", both ends
/// included. "" if the text does not know them.
std::string places_text(const ItemTokens& tokens, const TokenStream& text);

/// Fills in missing LengthResult::places that the text knows.
void set_places(LengthResult& cell, const ProtocolResult& of, const TokenStream& text,
                PredictedBy* predicted);

/// Inputs of a pass over last-token's segments at length L: L - 1, or L.
int64_t n_inputs_of(const ProtocolResult& of, int64_t length);

// Protocol::conventions of a table for a length, or with L for 0.
std::string conventions_of_segments(const ProtocolResult& of, int64_t length);
std::string conventions_of_chunks(const ProtocolResult& of, int64_t length);
/// "16", or "L" for 0.
std::string length_text(int64_t length);
/// The beginning of conventions: "first_token: of the segment (from 0, ...)".
std::string first_token_is(const char* what);

}  // namespace farfield::eval
