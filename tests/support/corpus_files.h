#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/corpus.h"

namespace farfield {

/// The bytes of numbers, one after the other.
template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

/// `size` bytes of a number over those at `at`.
inline std::string with_number(std::string bytes, size_t at, uint64_t value, size_t size) {
  std::memcpy(bytes.data() + at, &value, size);
  return bytes;
}

/// The numbers that readers must stand in a field of 4 or 8 bytes.
inline constexpr uint64_t kExtremes[] = {
    0,         1,          0x7fffffff,        0x80000000,       0xffffffff, uint64_t{1} << 32,
    INT64_MAX, UINT64_MAX, uint64_t{1} << 61, uint64_t{1} << 62};

/// Overwrites without the care of AtomicFile: quicker.
inline void put(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::vector<int32_t> tokens_of(const data::Tokens& tokens) {
  std::vector<int32_t> ids(static_cast<size_t>(tokens.size()));
  tokens.copy(0, tokens.size(), ids.data());
  return ids;
}

/// The ids of a split, none where there is none.
inline std::vector<int32_t> tokens_of(const data::Corpus& corpus, std::string_view split) {
  return corpus.has_split(split) ? tokens_of(corpus.split(split)) : std::vector<int32_t>();
}

/// A Megatron index of one document a sequence.
inline std::string megatron_index(uint8_t code, int64_t width, const std::vector<int32_t>& sizes) {
  std::string idx("MMIDIDX\0\0\1\0\0\0\0\0\0\0", 17);
  idx += static_cast<char>(code);
  std::vector<int64_t> pointers, documents = {0};
  int64_t at = 0;
  for (const int32_t size : sizes) {
    pointers.push_back(at);
    at += size * width;
    documents.push_back(static_cast<int64_t>(documents.size()));
  }
  idx += bytes_of(std::vector<uint64_t>{sizes.size(), documents.size()});
  return idx + bytes_of(sizes) + bytes_of(pointers) + bytes_of(documents);
}

/// A token shard of llm.c with u16 ids.
inline std::string llmc_shard(const std::vector<uint16_t>& ids) {
  std::vector<int32_t> header(256);
  header[0] = 20240520;
  header[1] = 1;
  header[2] = static_cast<int32_t>(ids.size());
  return bytes_of(header) + bytes_of(ids);
}

}  // namespace farfield
