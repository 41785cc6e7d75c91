#pragma once
// The header of a safetensors file, for the readers of such files alone.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor.h"

namespace farfield {

/// Not a tensor of the header.
inline constexpr std::string_view kSafetensorsMetadata = "__metadata__";
inline constexpr uint64_t kSafetensorsLengthBytes = 8, kMaxSafetensorsHeader = 100'000'000;

/// A type in files and its size there. Tensors are written in the first type with their dtype.
struct StoredType {
  std::string_view name;
  uint64_t bytes;
  std::optional<DType> dtype;  ///< in memory; empty: known, and not read
};
std::string_view name_in_file(DType dtype);

/// A tensor of the file: its elements are bytes [begin, end) behind the header.
struct StoredTensor {
  std::string name;
  StoredType type;
  Shape shape;
  uint64_t begin, end;
};

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;            ///< in the order of the header
  std::map<std::string, std::string> metadata;  ///< its __metadata__
};

/// The length of the header, from the first bytes of a file of so many bytes. IoError.
uint64_t safetensors_header_bytes(const std::string& file, std::string_view first,
                                  uint64_t file_bytes);
/// The header, of a file with so many bytes behind it, that cover the tensors exactly once.
/// is_any_type: tensors may have types that are not read. IoError, naming the file and, where one
/// is concerned, the tensor.
SafetensorsHeader read_safetensors_header(const std::string& file, std::string_view header,
                                          uint64_t data_bytes, bool is_any_type);

/// Values of a tensor out of a file, as many as there are bytes; float16 as float32.
void copy_stored_values(std::string_view values, const StoredType& type, void* to);

}  // namespace farfield
