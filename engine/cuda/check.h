#pragma once

#include <cuda_runtime.h>

#include "engine/base/error.h"

namespace farfield {

/// BackendError "[cuda] what: the runtime's own words" unless all went well.
template <class... Parts>
void cuda_check(cudaError_t status, const Parts&... what) {
  if (status != cudaSuccess) [[unlikely]]
    fail<BackendError>("cuda", what..., ": ", cudaGetErrorString(status));
}

}  // namespace farfield
