#pragma once
// A corpus and a configuration small enough to train in a moment.

#include <string>

#include "apps/run/config.h"
#include "data/prepare.h"
#include "engine/base/file.h"
#include "engine/base/random.h"
#include "tests/support/temp_folder.h"

namespace farfield::test {

/// About n words out of thirty.
inline std::string toy_words(int64_t n, uint64_t seed) {
  const Random random{seed, 0};
  std::string text;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t word = random.below(static_cast<uint64_t>(i), 30);
    text += std::string(1 + word % 5, static_cast<char>('a' + word % 26));
    text += word % 7 == 0 ? ".\n" : " ";
  }
  return text;
}

/// A folder with a corpus of about 20 kB and room for runs.
struct ToyRun {
  TempFolder folder;
  std::string data = (folder / "corpus").string();

  explicit ToyRun(uint64_t seed = 1) {
    write_file_atomic(folder / "text.txt", toy_words(6000, seed));
    data::PrepareOptions prepare;
    prepare.source.inputs = {folder / "text.txt"};
    prepare.output = data;
    data::prepare(prepare);
  }

  std::string path(const std::string& name) const { return (folder / name).string(); }

  /// One block of width 16, 8 steps of 4 x 16 tokens, in float32 on every device.
  run::RunConfig config(const std::string& posenc = "kerple_log") const {
    run::RunConfig c;
    c.preset = "smoke";
    c.n_layer = 1;
    c.n_head = 2;
    c.d_model = 16;
    c.posenc = posenc;
    c.data = {data};
    c.train_len = 16;
    c.precision = "fp32";
    c.batch = 4;
    c.steps = 8;
    c.log_every = 2;
    c.valid_every = 4;
    c.valid_windows = 6;
    c.checkpoint_every = 2;
    return c;
  }
};

/// The one of a test program.
inline const ToyRun& toy() {
  static const ToyRun one;
  return one;
}

}  // namespace farfield::test
