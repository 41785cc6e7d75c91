#pragma once

#include "engine/attention_rule.h"
#include "engine/heads.h"

namespace farfield {

/// Throws the errors of attention() for arguments that do not fit.
void check_attention(const Heads& heads, const AttentionRule& rule);
/// Of these the ids, once the tables are known to be [H, L].
void check_attention_ids(const Heads& heads, const AttentionRule& rule);

}  // namespace farfield
