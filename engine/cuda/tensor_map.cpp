#include "engine/cuda/tensor_map.h"

#include <array>

#include "engine/cuda/check.h"
#include "engine/cuda/swizzle.h"

namespace farfield {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

// A function of the driver. Programs do not link the driver: without one they run on the CPU.
Encode encode_of_driver() {
  static const Encode encode = [] {
    constexpr unsigned kVersion = 12000;  // the first that has it
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result = {};
    cuda_check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, kVersion,
                                                cudaEnableDefault, &result),
               "looking for cuTensorMapEncodeTiled in the driver");
    require<BackendError>(result == cudaDriverEntryPointSuccess, "cuda",
                          "expected a driver of CUDA 12 or later with cuTensorMapEncodeTiled");
    return reinterpret_cast<Encode>(function);
  }();
  return encode;
}

// kRank axes; the stride of the first is one element.
template <size_t kRank>
TensorMap encoded(CUtensorMapDataType type, size_t element_bytes, const void* first,
                  const std::array<TensorAxis, kRank>& axes,
                  const std::array<cuuint32_t, kRank>& box, CUtensorMapSwizzle swizzle) {
  std::array<cuuint64_t, kRank> sizes, strides = {};
  std::array<cuuint32_t, kRank> steps;
  steps.fill(1);
  for (size_t i = 0; i < kRank; ++i) sizes[i] = static_cast<cuuint64_t>(axes[i].size);
  for (size_t i = 1; i < kRank; ++i)
    strides[i - 1] = static_cast<cuuint64_t>(axes[i].stride) * element_bytes;
  TensorMap map;
  const CUresult status =
      encode_of_driver()(&map, type, kRank, const_cast<void*>(first), sizes.data(), strides.data(),
                         box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                         CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  require<BackendError>(status == CUDA_SUCCESS, "cuda",
                        "cuTensorMapEncodeTiled refuses a tensor of ", kRank, " axes at ", first,
                        ", the first of ", sizes[0], " elements in boxes of ", box[0], ": status ",
                        static_cast<int>(status));
  return map;
}

}  // namespace

TensorMap map_of_rows(const BFloat16* first, int64_t n_column, const TensorAxis& row,
                      const TensorAxis& head, const TensorAxis& batch, int n_row) {
  return encoded<4>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, sizeof(BFloat16), first,
                    {TensorAxis{n_column, 1}, row, head, batch},
                    {kSwizzledColumns, static_cast<cuuint32_t>(n_row), 1, 1},
                    CU_TENSOR_MAP_SWIZZLE_128B);
}

TensorMap map_of_floats(const float* first, int64_t n, int size) {
  return encoded<1>(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, sizeof(float), first, {TensorAxis{n, 1}},
                    {static_cast<cuuint32_t>(size)}, CU_TENSOR_MAP_SWIZZLE_NONE);
}

}  // namespace farfield
