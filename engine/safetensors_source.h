#pragma once

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "engine/safetensors_header.h"

namespace farfield {

/// A safetensors file that is read in parts, so that a file larger than memory can be converted.
/// Not for several threads at once.
class SafetensorsSource {
 public:
  /// Reads the header alone. Errors as read_safetensors(), but tensors of any known type may be
  /// there.
  explicit SafetensorsSource(const std::filesystem::path& path);

  const std::string& file() const { return file_; }
  const std::vector<StoredTensor>& tensors() const { return header_.tensors; }
  /// Elements [begin, begin + to.size()) of a tensor of the file, F32, F16 or BF16, as float32.
  /// IoError, naming the tensor, for another type and if the file cannot be read.
  void read(const StoredTensor& tensor, int64_t begin, std::span<float> to);

 private:
  std::string file_;
  std::ifstream in_;
  uint64_t data_begin_ = 0;
  SafetensorsHeader header_;
  std::string buffer_;
};

}  // namespace farfield
