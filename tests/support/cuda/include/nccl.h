#pragma once
// Stands in for NCCL's header of that name, as cuda_runtime.h does for the toolkit's.

#include "tests/support/cuda/nccl.h"
