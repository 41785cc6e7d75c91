#pragma once

#include <string>
#include <vector>

#include "engine/cpu/instruction_set.h"
#include "engine/kernels/gemm.h"

namespace farfield {

/// A library of matrix products: gemm.cpp cuts a product into panels and gives it one at a time,
/// each to be computed on the calling thread alone.
struct GemmLibrary {
  std::string name;  ///< with its version: "oneDNN 2.6.3"
  bool (*takes)(DType in, DType out);
  void (*product)(const Gemm& panel);
  /// Fastest when the inner dimension is contiguous in both operands (transpose_a false,
  /// transpose_b true), by more than it costs to bring a large operand into that form.
  bool wants_rows = false;
  std::string instruction_set = {};  ///< the highest that it uses
  std::string bf16 = {};             ///< how a product of bfloat16 is computed, for people
};
/// The libraries of this build, the preferred one first.
const std::vector<GemmLibrary>& gemm_libraries();
/// The same as they are on a machine of these features; for tests, which may then ask one for a
/// product. A library is limited once in a process: the first call of the two decides.
std::vector<GemmLibrary> gemm_libraries_for(const CpuFeatures& features);

/// gemm(Cpu, ...) with a library of one's choice. bfloat16 that the library does not take is
/// widened to float32, a slice of a panel at a time.
void gemm_with(const GemmLibrary& library, const Gemm& product);

GemmLibrary eigen_library();  // eigen.cpp
#ifdef FARFIELD_HAS_ONEDNN
GemmLibrary onednn_library(const CpuFeatures& features);  // onednn.cpp
#endif

}  // namespace farfield
