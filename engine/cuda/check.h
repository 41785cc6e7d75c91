#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>

#include "engine/base/error.h"

namespace farfield {

/// BackendError "[cuda] what: the runtime's own words" unless all went well.
template <class... Parts>
void cuda_check(cudaError_t status, const Parts&... what) {
  if (status != cudaSuccess) [[unlikely]]
    fail<BackendError>("cuda", what..., ": ", cudaGetErrorString(status));
}

/// The same of the library of matrix products.
template <class... Parts>
void cublas_check(cublasStatus_t status, const Parts&... what) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    fail<BackendError>("cuda", what..., ": cuBLASLt: ", cublasLtGetStatusString(status));
}

}  // namespace farfield
