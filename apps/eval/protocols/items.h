#pragma once

#include <string>

#include "apps/eval/protocols/protocol.h"
#include "apps/eval/protocols/result.h"

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
ItemTokens predicted_by(const ProtocolResult& of, const LengthResult& cell, size_t item);

/// Their places in the `.tokens` file: "1234", or where there are several "1234-1290 88-120", both
/// ends included. "" where the text does not know them.
std::string places_text(const ItemTokens& tokens, const TokenStream& text);

/// Fills in LengthResult::places where they are missing and the text knows them.
void set_places(LengthResult& cell, const ProtocolResult& of, const TokenStream& text);

/// Inputs of a pass at a length, where last-token's segments are read: L - 1, or L.
int64_t n_inputs_of(const ProtocolResult& of, int64_t length);

/// What a reader has to know, besides the parameters, to compute the numbers again: what
/// first_token counts, and over which t `cached` counts its scores. With numbers for a length, with
/// L for 0; "" for a protocol that needs no such words.
std::string conventions_of(const ProtocolResult& of, int64_t length = 0);

}  // namespace farfield::eval
