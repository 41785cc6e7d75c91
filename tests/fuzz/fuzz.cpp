// A fuzzer of one reader, FARFIELD_FUZZED: built with -DFARFIELD_FUZZ=ON by clang. With
// FARFIELD_SOUND=FILE in the environment it writes a sound file to begin from.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "tests/fuzz/readers.h"

namespace {

using farfield::test::fuzzed_readers;
using farfield::test::FuzzedReader;

const FuzzedReader& fuzzed() {
  static const FuzzedReader& reader =
      *std::find_if(fuzzed_readers().begin(), fuzzed_readers().end(),
                    [](const FuzzedReader& r) { return r.name == FARFIELD_FUZZED; });
  return reader;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (const char* file = std::getenv("FARFIELD_SOUND"))
    std::ofstream(file, std::ios::binary) << fuzzed().sound();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzzed().read({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
