#pragma once

#include <cstdint>
#include <string>

#include "apps/run/resolved_config.h"
#include "apps/train/step_shape.h"
#include "engine/dtype.h"
#include "layers/config.h"

namespace farfield::train {

/// About the most bytes that the tensors of a training step take: weights, their gradients and two
/// moments, weights packed for products, and the activations saved for the backward pass. Computed
/// from widths alone, in floating point since a request may be beyond all integers.
///
/// Accuracy  within -15 % and +25 % of the allocator's figure, held by a test; an encoding with
///           large learned tables, or rotations that differ far away, takes more
double training_bytes(const ModelConfig& config, const StepShape& shape, DType compute);

/// A warning for a step that does not fit into the available memory (0: not known): the need, the
/// available bytes, and remedies. Empty if it fits.
std::string memory_warning(const run::ResolvedConfig& config, int64_t vocab_size,
                           int64_t available_bytes);

}  // namespace farfield::train
