#pragma once
// Stands in for the header of the CUDA driver of that name.

#include "tests/support/cuda/driver.h"
