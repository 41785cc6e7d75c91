#pragma once
// Stands in for the header of that name in the CUDA toolkit, as cuda_runtime.h does.

#include "tests/support/cuda/cublas_lt.h"
