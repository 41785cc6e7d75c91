#pragma once

#include <cstdint>

#include "layers/transformer.h"

namespace farfield::bench {

/// Bytes of the parameters that a forward pass reads, however few its tokens are: of an embedding
/// that is no head, one row.
int64_t weight_bytes_read(const Transformer& model);

}  // namespace farfield::bench
