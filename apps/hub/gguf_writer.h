#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dtype.h"
#include "engine/tensor.h"

namespace farfield::hub {

// GGUF, version 3, the file format of llama.cpp: pairs of a key and a value, the name, shape and
// place of each tensor, then the tensors, each at a multiple of kGgufAlignment. Little-endian.

inline constexpr uint64_t kGgufAlignment = 32;  ///< bytes, the format's default

/// Pairs of a key and a value, in the order in which they are added.
class GgufMetadata {
 public:
  void add_count(std::string_view key, int64_t value);  ///< u32; ConfigError if it does not fit
  void add_number(std::string_view key, double value);  ///< f32
  void add_flag(std::string_view key, bool value);
  void add_text(std::string_view key, std::string_view value);
  void add_texts(std::string_view key, std::span<const std::string> values);
  void add_counts(std::string_view key, std::span<const int32_t> values);  ///< i32

  uint64_t size() const { return n_pair_; }
  const std::string& bytes() const { return bytes_; }  ///< as a file has them

 private:
  void begin(std::string_view key, uint32_t type);
  void begin_array(std::string_view key, uint32_t type, size_t n);

  std::string bytes_;
  uint64_t n_pair_ = 0;
};

struct GgufTensor {
  std::string name;
  Tensor values;
  DType dtype = DType::f32;  ///< in the file: f32 or bf16
};

/// Writes a file, complete or absent (AtomicFile). Values are rounded to their type and let go one
/// tensor at a time.
/// Throws    ConfigError for a name that is too long for llama.cpp or comes twice, for a type that
///           is not f32 or bf16, and for other than 1 to 4 dimensions; IoError
void write_gguf(const std::filesystem::path& path, const GgufMetadata& metadata,
                std::vector<GgufTensor> tensors);

}  // namespace farfield::hub
