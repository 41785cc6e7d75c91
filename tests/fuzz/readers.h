#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace farfield::test {

/// A reader of files that come from strangers, for a fuzzer to throw bytes at.
struct FuzzedReader {
  std::string name;
  /// Reads the bytes as the reader's file. Whatever they are, nothing but farfield::Error may come
  /// of it, which is caught here.
  void (*read)(std::string_view bytes);
  /// A sound file to begin from.
  std::string (*sound)();
};

/// All of them, by name.
const std::vector<FuzzedReader>& fuzzed_readers();

}  // namespace farfield::test
