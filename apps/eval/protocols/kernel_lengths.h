#pragma once

#include "apps/eval/subject.h"

namespace farfield::eval {

/// The effective length of each head by the bias of the model's encoding alone, the number of heads
/// whose length is at most x, and the kernels themselves. Reads no text. The count is given at its
/// steps, each with the distance before it: between two of them it does not change.
///
/// Throws    IoError bad_parameter. The cell fails with nonfinite_kernel, naming the distance
/// Source    Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, appendix A.5, figure
/// 6
ProtocolResult kernel_lengths(const Subject& subject);

}  // namespace farfield::eval
