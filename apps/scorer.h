#pragma once

#include "apps/protocols/protocol.h"
#include "data/token_file.h"
#include "layers/transformer.h"

namespace farfield::apps {

/// A model as protocols see it. The model must outlive the result.
///
/// draw  number of the random draw, for encodings that draw when they are evaluated: every batch
///       takes the same one, so what comes out for an item does not depend on its batch, unless an
///       encoding draws for each sequence
Scorer scorer_of(const Transformer& model, const Device& device, uint64_t draw = 0);

/// A split as protocols see it.
TokenStream stream_of_split(const data::TokenFile& tokens);

}  // namespace farfield::apps
