#pragma once

#include "engine/distributed/group.h"
#include "posenc/composition.h"

namespace farfield {

/// The heads of a model that belong to a process of a group; all processes have equally many.
comm::Range own_heads(int64_t n_head, const Group& group);

/// Reduces a plan's values per head to the heads of this process. Every process has all parameters
/// and computes all tables, which are small. The gradients of the tables are summed over the
/// processes, so the gradients of the parameters are whole and equal in all processes, whatever
/// heads share.
void keep_own_heads(posenc::Composition::Plan& plan, int64_t n_head, const Group& group);

}  // namespace farfield
