#pragma once

#include "engine/distributed/group.h"
#include "posenc/composition.h"

namespace farfield {

/// The heads of a model that a process of a group has; all of them have as many.
comm::Range own_heads(int64_t n_head, const Group& group);

/// Cuts what a plan has for each head to the heads of this process. Every process computes all
/// tables, which are small, of parameters that all have; the gradients of the tables are summed, so
/// that those of the parameters are whole and equal in all, whatever heads share.
void keep_own_heads(posenc::Composition::Plan& plan, int64_t n_head, const Group& group);

}  // namespace farfield
