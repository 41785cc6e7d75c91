#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

#include "engine/base/error.h"
#include "tests/support/temp_folder.h"

namespace farfield::test {

/// A folder in memory where there is one: a fuzzer writes some thousand files a second.
inline const std::filesystem::path& scratch() {
  static const TempFolder folder;
  return folder.path();
}

/// A new file each time: ext4 flushes one that is written over.
inline void write(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A reader may read its bytes, or throw an Error; nothing else.
template <class F>
void refuse(const F& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

}  // namespace farfield::test
