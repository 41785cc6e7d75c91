#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/dtype.h"

namespace farfield {

class PackedCopies;

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
  PackedCopies* packed_b = nullptr;  ///< where B may be kept packed
};

/// The library of large matrix products on the CPU, of operands of this type: "Farfield" (our own),
/// "oneDNN 2.6.3", "Eigen 3.4.0".
std::string gemm_library(DType in = DType::f32);
/// All libraries of this build for products of operands of this type, the preferred one first.
std::vector<std::string> gemm_libraries_for(DType in);
/// A product on the CPU by one of them, whatever its size; for measurements. ConfigError for
/// another name.
void gemm_by(const std::string& library, const Gemm& product);
/// The highest instruction set that it uses in this process: "AVX-512, as compiled", "avx2".
std::string gemm_instruction_set();
/// How products of bfloat16 are computed in this process: "by VDPBF16PS", "by oneDNN", "widened to
/// float32: the processor has no AVX512-BF16".
std::string gemm_bf16();
/// Whether VDPBF16PS computes them.
bool gemm_multiplies_pairs();

}  // namespace farfield
