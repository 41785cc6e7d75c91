#pragma once
// Folders of runs as `train` and `eval` leave them, without training.

#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/eval/cells.h"
#include "apps/run/checkpoint.h"
#include "apps/run/config.h"
#include "apps/run/folder.h"
#include "apps/run/resolved_config.h"
#include "engine/base/error.h"
#include "tests/support/temp_folder.h"

namespace farfield::test {

struct MadeRun {
  std::string posenc = "alibi", name = {};
  int64_t step = 8, steps = 8, train_len = 16;
  std::string manifest = R"({"parameters": 1234, "vocab_size": 64,
      "data": {"path": "corpora/a", "hash": "d1", "tokens": {"train": 900, "test": 80}},
      "tokenizer": {"name": "bytes", "hash": "t1"},
      "started": {"time": "2031-02-03T04:05:06Z", "threads": 3,
                  "hardware": {"processor": "a processor", "system": "a system"},
                  "build": {"version": "1.2", "commit": "c0ffee"}},
      "resumed": [{"time": "2031-02-04T00:00:00Z", "step": 4}]})";
  std::string metrics = "step,tokens,loss\n4,64,5.5\n8,128,2.25\n";
};

/// Makes it, and leaves it locked until the object goes, as a process that trains it does.
inline run::RunFolder make_run(const std::filesystem::path& path, const MadeRun& made = {}) {
  run::RunConfig request;
  request.preset = "smoke";
  request.posenc = made.posenc;
  request.name = made.name;
  request.data = {"corpora/a"};
  request.steps = made.steps;
  request.train_len = made.train_len;
  const run::Settings settings = run::resolve(request).settings;
  run::TrainState state;
  state.step = made.step;
  state.optimizer_t = made.step;
  state.data_hash = "00112233445566778899aabbccddeeff";
  state.config = run::identity(settings);
  return run::RunFolder::create(
      path, {settings, made.manifest, made.metrics}, [&](const std::filesystem::path& checkpoints) {
        run::save_checkpoint(checkpoints, state, {{"w", Tensor::full({50}, 1)}}, {}, {});
      });
}

/// Keeps a finished cell of this perplexity, measured with `posenc`.
inline void keep_cell(const std::filesystem::path& run, double perplexity, int64_t length,
                      const std::string& posenc = "alibi",
                      const std::string& protocol = "last-token", uint64_t draw = 0) {
  eval::ProtocolResult of;
  of.protocol = protocol;
  of.parameters = "segments=2";
  eval::LengthResult cell;
  cell.length = length;
  cell.tokens = "same";
  cell.mean_nll = std::log(perplexity);
  cell.items = {cell.mean_nll, cell.mean_nll};
  cell.n_scored = 2;
  const run::Settings subject = {{"model", "m"},        {"step", "8"},     {"posenc", posenc},
                                 {"precision", "fp32"}, {"device", "cpu"}, {"text", "hash/test"},
                                 {"baseline", ""},      {"seed", "1"}};
  eval::CellFiles(run / "eval" / "cells", subject, {}).keep(draw, of, cell);
}

/// What a command said on stdout and stderr.
struct Said {
  std::string out, err;
  bool has(const std::string& part) const { return out.find(part) != std::string::npos; }
};

/// Runs it; its errors pass through.
inline Said run_command(int (*command)(int, const char* const*, std::ostream&),
                        std::vector<std::string> words) {
  words.insert(words.begin(), "command");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out, err;
  std::streambuf* const before = std::cerr.rdbuf(err.rdbuf());
  try {
    command(static_cast<int>(argv.size()), argv.data(), out);
  } catch (...) {
    std::cerr.rdbuf(before);
    throw;
  }
  std::cerr.rdbuf(before);
  return {out.str(), err.str()};
}

}  // namespace farfield::test
