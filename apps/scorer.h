#pragma once

#include "apps/protocols/protocol.h"
#include "data/token_file.h"
#include "layers/transformer.h"

namespace farfield::apps {

/// A model as protocols see it. The model must outlive the result.
Scorer scorer_of(const Transformer& model, const Device& device);

/// A split as protocols see it.
TokenStream stream_of_split(const data::TokenFile& tokens);

}  // namespace farfield::apps
