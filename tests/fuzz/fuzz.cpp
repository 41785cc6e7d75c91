// A fuzzer of one reader, FARFIELD_FUZZED of the list FARFIELD_FUZZED_LIST: built with
// -DFARFIELD_FUZZ=ON by clang. With FARFIELD_SOUND=FILE in the environment it writes a sound file
// to begin from.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/fuzz/readers.h"

namespace {

using farfield::test::FuzzedReader;

const FuzzedReader& fuzzed() {
  static const std::vector<FuzzedReader>& all = farfield::test::FARFIELD_FUZZED_LIST();
  static const FuzzedReader& reader = *std::find_if(
      all.begin(), all.end(), [](const FuzzedReader& r) { return r.name == FARFIELD_FUZZED; });
  return reader;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const char* file = std::getenv("FARFIELD_SOUND")) {
    std::ofstream(file, std::ios::binary) << fuzzed().sound();
    int n = 1;
    if (fuzzed().more != nullptr)
      for (const std::string& sound : fuzzed().more())
        std::ofstream(file + std::to_string(++n), std::ios::binary) << sound;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzzed().read({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
