#pragma once

#include "engine/attention_rule.h"
#include "engine/heads.h"
#include "posenc/composition.h"

namespace farfield {

// Attention without a causal mask (ModelConfig::sees_later), made of the causal op: over the keys
// taken twice, the window of T keys that ends at a query holds every token once.

/// Doubles keys and values and sets the window, and gives all queries the row scale of the last,
/// who sees all keys in any case.
void see_later(Heads& heads, AttentionRule& rule);

/// ConfigError for terms that tell keys apart by a distance or a mask: a bias, a weight, a window,
/// far pairs. Positions that are in the input or in q and k (rotary) do not.
void require_no_distances(const posenc::Composition& encoding);

}  // namespace farfield
