#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/tensor.h"

namespace farfield {

// safetensors, the exchange format for weights: u64 header length, a JSON header with name, dtype,
// shape and byte range of each tensor, then the bytes. Dtypes F32, BF16, F64 and I32, and in
// reading F16, which becomes F32; files with others are refused by name.

struct SafetensorsFile {
  std::map<std::string, Tensor> tensors;        ///< on the CPU
  std::map<std::string, std::string> metadata;  ///< the header's __metadata__
};

/// Reads a whole file, which may be hostile: every length is checked before it is used, and any
/// deviation from the format is refused, never repaired.
///
/// expected_hash  as write_safetensors() returned it; another file is refused as damaged. Empty:
/// any. Throws         IoError, naming the file and, where one is concerned, the tensor
SafetensorsFile read_safetensors(const std::filesystem::path& path,
                                 std::string_view expected_hash = {});

/// Writes the tensors, crash-safe (AtomicFile), and returns the hash of the file (Hasher::hex).
/// Tensors of another device pass through host memory one at a time.
///
/// Readers of the `transformers` library want {"format", "pt"} in the metadata.
/// Throws         ConfigError for a name that comes twice, is "__metadata__" or is not UTF-8;
/// IoError
std::string write_safetensors(const std::filesystem::path& path,
                              const std::vector<std::pair<std::string, Tensor>>& tensors,
                              const std::map<std::string, std::string>& metadata = {});

}  // namespace farfield
