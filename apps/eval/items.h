#pragma once

#include <string>

#include "apps/eval/result.h"
#include "apps/eval/text.h"

namespace farfield::eval {

// What the items of a cell stand for. It follows from protocol, parameters and length, which the
// protocol hash names, so it is no part of the hash and finished cells need not hold it.

/// Tokens of a text: `first`, first + every, ... : n of them.
struct ItemTokens {
  int64_t first = 0, n = 0, every = 1;
};

/// The token that items are counted by, in the text as it is read: the documents of the split in
/// the order of --document-order, joined, tokens from 0. last-token, cached: the first of the
/// segment. non-overlapping, position-wise: the first input of the chunk. sliding: the one before
/// the first that the item predicts.
int64_t first_token_of(const ProtocolResult& of, const LengthResult& cell, size_t item);

/// The tokens that an item predicts, in the text as it is read.
using PredictedBy = ItemTokens(const ProtocolResult& of, const LengthResult& cell, size_t item);
/// The last token of the segment.
PredictedBy predicted_by_segment;
/// Those behind first_token, each or with "every=" among the parameters every so many; of the last
/// item those that are left.
PredictedBy predicted_by_chunk;

/// Their places in the `.tokens` file: "1234", or where there are several "1234-1290 88-120", both
/// ends included. "" where the text does not know them.
std::string places_text(const ItemTokens& tokens, const TokenStream& text);

/// Fills in LengthResult::places where they are missing and the text knows them.
void set_places(LengthResult& cell, const ProtocolResult& of, const TokenStream& text,
                PredictedBy* predicted);

/// Inputs of a pass at a length, where last-token's segments are read: L - 1, or L.
int64_t n_inputs_of(const ProtocolResult& of, int64_t length);

// Protocol::conventions of a table for a length, or with L for 0.
std::string conventions_of_segments(const ProtocolResult& of, int64_t length);
std::string conventions_of_chunks(const ProtocolResult& of, int64_t length);
/// "16", or "L" for 0.
std::string length_text(int64_t length);
/// How conventions begin: "first_token: of the segment (from 0, ...)".
std::string first_token_is(const char* what);

}  // namespace farfield::eval
