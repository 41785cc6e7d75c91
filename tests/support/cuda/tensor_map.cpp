#include "tests/support/cuda/tensor_map.h"

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"

namespace farfield::emulation {
namespace {

constexpr cuuint64_t kMark = 0x70616d726f736e74;  // that a map was encoded

// Refuses the same arguments as the driver: see "Tensor Map Object Management" of its API.
CUresult encode(CUtensorMap& map, int element_bytes, cuuint32_t rank, const void* first,
                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                const cuuint32_t* steps, bool is_swizzled) {
  if (reinterpret_cast<uintptr_t>(&map) % 64 != 0 || reinterpret_cast<uintptr_t>(first) % 16 != 0 ||
      rank < 1 || rank > TensorBoxes::kMostAxes)
    return CUDA_ERROR_INVALID_VALUE;
  TensorBoxes boxes = {};
  boxes.first = static_cast<const unsigned char*>(first);
  boxes.n_axis = static_cast<int>(rank);
  boxes.element_bytes = element_bytes;
  boxes.is_swizzled = is_swizzled;
  const auto bytes = static_cast<cuuint64_t>(element_bytes);
  for (cuuint32_t i = 0; i < rank; ++i) {
    const cuuint64_t stride = i == 0 ? bytes : strides[i - 1];
    const bool has_stride = i == 0 || (stride % 16 == 0 && stride < cuuint64_t{1} << 40);
    const bool has_size = sizes[i] >= 1 && sizes[i] <= cuuint64_t{1} << 32;
    if (!has_stride || !has_size || box[i] < 1 || box[i] > 256 || steps[i] != 1)
      return CUDA_ERROR_INVALID_VALUE;
    boxes.sizes[i] = sizes[i];
    boxes.strides[i] = stride;
    boxes.box[i] = box[i];
  }
  const cuuint64_t row_bytes = box[0] * bytes;
  if (row_bytes % 16 != 0 || (is_swizzled && row_bytes > 128)) return CUDA_ERROR_INVALID_VALUE;
  map.opaque[0] = kMark;
  std::memcpy(map.opaque + 1, &boxes, sizeof boxes);
  return CUDA_SUCCESS;
}

}  // namespace

TensorBoxes TensorBoxes::of(const CUtensorMap& map) {
  static_assert(sizeof(kMark) + sizeof(TensorBoxes) <= sizeof(CUtensorMap));
  require<BackendError>(map.opaque[0] == kMark, "cuda", "expected a tensor map that was encoded");
  TensorBoxes boxes;
  std::memcpy(&boxes, map.opaque + 1, sizeof boxes);
  return boxes;
}

size_t TensorBoxes::box_bytes() const {
  size_t n = static_cast<size_t>(element_bytes);
  for (int i = 0; i < n_axis; ++i) n *= box[i];
  return n;
}

void TensorBoxes::copy(void* to, std::span<const int> coordinates) const {
  const size_t n_element = box_bytes() / static_cast<size_t>(element_bytes);
  const auto bytes = static_cast<size_t>(element_bytes);
  for (size_t i = 0; i < n_element; ++i) {
    bool is_there = true;
    const unsigned char* from = first;
    size_t rest = i;
    for (size_t axis = 0; axis < coordinates.size(); ++axis) {
      const int64_t x = coordinates[axis] + static_cast<int64_t>(rest % box[axis]);
      rest /= box[axis];
      is_there = is_there && x >= 0 && x < static_cast<int64_t>(sizes[axis]);
      from += x * static_cast<int64_t>(strides[axis]);
    }
    // PTX ISA, "Swizzling modes": of an address, bits 7 to 9 are added to bits 4 to 6 without
    // carry.
    auto at = reinterpret_cast<uintptr_t>(to) + i * bytes;
    if (is_swizzled) at ^= (at >> 7 & 7) << 4;
    if (is_there)
      std::memcpy(reinterpret_cast<void*>(at), from, bytes);
    else
      std::memset(reinterpret_cast<void*>(at), 0, bytes);
  }
}

}  // namespace farfield::emulation

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* first, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return farfield::emulation::encode(*map, type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 4 : 2, rank,
                                     first, sizes, strides, box, steps,
                                     swizzle == CU_TENSOR_MAP_SWIZZLE_128B);
}
