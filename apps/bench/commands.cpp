#include "apps/bench/commands.h"

namespace farfield::bench {

const std::vector<cli::Command>& bench_commands() {
  static const std::vector<cli::Command> all = {
      {"attention", "the attention op by length and encoding: time, memory", bench_attention},
      {"bandwidth", "memory-bound operations against a copy: norms, cross entropy, the optimizer",
       bench_bandwidth},
      {"forward", "a model's forward pass by length and encoding: time, memory", bench_forward},
      {"generate", "tokens one by one from a cache, against the bandwidth for their weights",
       bench_generate},
      {"matmul", "the matrix products of a training step, one by one", bench_matmul},
      {"roofline", "a training step on a card, part by part: predicted from its data sheet",
       bench_roofline},
      {"scaling",
       "a training step of many processes: predicted, and measured with this call's processes",
       bench_scaling},
      {"step", "whole training steps by preset and encoding: time, memory", bench_step},
      {"tokenize", "a tokenizer on text: encoding, decoding, beside another program",
       bench_tokenize},
  };
  return all;
}

int bench(int argc, const char* const* argv, std::ostream& out) {
  return cli::run_command("bench",
                          "Measures this build on this machine. Every figure stands beside a peak "
                          "measured in the same run.",
                          bench_commands(), argc, argv, out);
}

}  // namespace farfield::bench
