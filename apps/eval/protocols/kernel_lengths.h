#pragma once

#include "apps/cli/options.h"
#include "apps/eval/protocols/subject.h"

namespace farfield::eval {

struct KernelLengthsOptions {};

inline void add_options(cli::Options&, KernelLengthsOptions&) {}
inline void check(const KernelLengthsOptions&) {}

/// The effective length of each head by the bias of the model's encoding alone, the number of heads
/// whose length is at most x, and the kernels themselves. Reads no text. The count is given at its
/// steps, each with the distance before it: between two of them it does not change.
///
/// Throws    IoError bad_parameter. The cell fails with nonfinite_kernel, naming the distance
/// Source    Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, appendix A.5, figure
/// 6
ProtocolResult kernel_lengths(const Subject& subject, const CommonOptions& common,
                              const KernelLengthsOptions& own);

}  // namespace farfield::eval
