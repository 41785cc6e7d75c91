#pragma once

#include <cstdint>

#include "tests/support/cuda/where.h"

namespace farfield::emulation {

/// ldmatrix.sync.aligned.m8n8.x4(.trans).shared.b16: lane 8 i + j passes row j of matrix i.
void load_matrices(uint32_t (&r)[4], const void* row, bool is_transposed,
                   Where where = Where::here());

}  // namespace farfield::emulation
