#pragma once
// The device contract: each kernel, one overload per device. Public ops (engine/ops) check and
// allocate; a kernel trusts what it is given: shapes fit, outputs exist, everything is on its
// device. Kernels widen bfloat16 to float32 on load, sum in a fixed order that does not depend on
// the number of threads, and round once, on store.
//
// "acc" below is the accumulation type of the input: float64 for float64, float32 for the rest.
// A tensor named `name?` may be undefined.

#include "engine/dispatch.h"
#include "engine/kernels/attention.h"
#include "engine/kernels/attention_landmark.h"
#include "engine/kernels/cross_entropy.h"
#include "engine/kernels/dropout.h"
#include "engine/kernels/embedding.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/norm.h"
#include "engine/kernels/optim.h"
#include "engine/kernels/pointwise.h"
#include "engine/kernels/reduce.h"
#include "engine/kernels/softmax.h"
#include "engine/kernels/split_heads.h"
#include "engine/kernels/view.h"
