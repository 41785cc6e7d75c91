#pragma once

#include <functional>

#include "apps/eval/protocols/subject.h"
#include "layers/transformer.h"

namespace farfield::eval {

/// Rows of ids of one length, one after another: [batch, ids.size() / batch].
Tensor tensor_of(const Scorer::Ids& ids, int64_t batch, const Device& device);

/// A model as protocols see it. The model must outlive the result.
///
/// draw   number of the random draw, for encodings that draw when they are evaluated: every batch
///        takes the same one, so what comes out for an item does not depend on its batch, unless an
///        encoding draws for each sequence
/// watch  Subject::watch, told of each batch
Scorer scorer_of(const Transformer& model, const Device& device, uint64_t draw = 0,
                 const std::function<void(int64_t n_tokens)>& watch = {});

/// A model on a text, with the scorer of draw 0. The model must outlive the result.
Subject subject_of(const Transformer& model, const Device& device, const TokenStream& text,
                   uint64_t seed, const std::function<void(int64_t n_tokens)>& watch = {});

}  // namespace farfield::eval
