#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace farfield::test {

/// A reader of files or texts that come from strangers, for a fuzzer to throw bytes at.
struct FuzzedReader {
  std::string name;
  /// Reads the bytes as the reader's file. Whatever they are, nothing but farfield::Error may come
  /// of it, which is caught here.
  void (*read)(std::string_view bytes);
  /// A sound file to begin from.
  std::string (*sound)();
  /// More of them, for a fuzzer alone.
  std::vector<std::string> (*more)() = nullptr;
  /// Places of the sound file that the test damages: fewer where a read takes milliseconds.
  size_t n_places = 80;
};

// By name: ROOM_readers() are of ROOM_readers.cpp, from which CMake takes the names.

/// Of data/: corpora, tokenizers, text.
const std::vector<FuzzedReader>& data_readers();
/// Of a run: weights, checkpoints, settings, expressions.
const std::vector<FuzzedReader>& run_readers();
/// Of folders of Hugging Face.
const std::vector<FuzzedReader>& hub_readers();
/// Of a sweep's folder.
const std::vector<FuzzedReader>& sweep_readers();

}  // namespace farfield::test
