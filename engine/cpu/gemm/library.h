#pragma once

#include <string>
#include <vector>

#include "engine/cpu/instruction_set.h"
#include "engine/kernels/gemm.h"

namespace farfield {

/// How a library multiplies with B packed. It packs whole columns of B, so many together as
/// `columns`, once for all panels; panels begin at such columns and at such rows.
struct PackedGemm {
  int64_t rows, columns;
  /// Whether a product's panels need nothing packed, but read B where it is stored.
  bool (*reads_b)(const Gemm& product);
  /// Elements of the inner dimension that are summed before they are added to C.
  int64_t (*slice)(const Gemm& product);
  /// Of `columns` packed columns.
  int64_t (*bytes)(const Gemm& product);
  /// Columns [n0, n0 + n) of B to the memory for n0's.
  void (*pack)(const Gemm& product, int64_t n0, int64_t n, void* to);
  /// A panel whose columns of B begin at `packed`; nullptr: as they are stored.
  void (*product)(const Gemm& panel, const void* packed);
};

/// A library of matrix products: CutProduct gives it a product panel by panel, each to be computed
/// on the calling thread alone.
struct GemmLibrary {
  std::string name;  ///< with its version: "oneDNN 2.6.3"
  bool (*takes)(DType in, DType out);
  void (*product)(const Gemm& panel);
  std::string instruction_set = {};    ///< the highest that it uses
  std::string bf16 = {};               ///< how a product of bfloat16 is computed, for people
  bool multiplies_pairs = false;       ///< by VDPBF16PS
  int64_t least_rows = 1;              ///< below, other libraries are faster
  const PackedGemm* packed = nullptr;  ///< null: it takes B as it is stored
};
/// The libraries of this build, the preferred one first.
const std::vector<GemmLibrary>& gemm_libraries();
/// The same as they are on a machine of these features; for tests, which may then ask one for a
/// product. A library is limited once in a process: the first call of the two decides.
std::vector<GemmLibrary> gemm_libraries_for(const CpuFeatures& features);

/// gemm(Cpu, ...) with a library of one's choice. bfloat16 that the library does not take is
/// widened to float32, a slice of a panel at a time.
void gemm_with(const GemmLibrary& library, const Gemm& product);

GemmLibrary own_library(const CpuFeatures& features, bool takes_bf16);  // own.cpp
GemmLibrary eigen_library();                                            // eigen.cpp
#ifdef FARFIELD_HAS_ONEDNN
GemmLibrary onednn_library(const CpuFeatures& features);  // onednn.cpp
#endif

}  // namespace farfield
