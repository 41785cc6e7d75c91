#pragma once

#include <cstdint>
#include <string>

#include "engine/dtype.h"

namespace farfield {

/// C[m, n] = op(A)[m, k] op(B)[k, n] (+ C when accumulate) on raw row-major buffers; op transposes
/// when its flag is set. lda, ldb, ldc: elements from one stored row to the next. A and B share a
/// dtype; C has it too, or float32 when they are bfloat16. Sums in acc. The result does not depend
/// on the number of threads.
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  const void* a = nullptr;
  int64_t lda = 0;
  const void* b = nullptr;
  int64_t ldb = 0;
  void* c = nullptr;
  int64_t ldc = 0;
  DType in = DType::f32, out = DType::f32;
  bool accumulate = false;
};

/// The library of this build's matrix products on the CPU: "oneDNN 2.6.3", "Eigen 3.4.0".
std::string gemm_library();
/// The highest instruction set that it uses in this process: "avx512_core_amx", "avx2".
std::string gemm_instruction_set();
/// How products of bfloat16 are computed in this process: "by oneDNN", "widened to float32: the
/// processor has no AMX".
std::string gemm_bf16();

}  // namespace farfield
