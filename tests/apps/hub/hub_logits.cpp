// hub_logits RUN OUT: writes token ids and a run's logits for them as expected.safetensors has
// them.

#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include "apps/run/load_run.h"
#include "engine/autograd.h"
#include "engine/safetensors.h"

int main(int argc, char** argv) {
  using namespace farfield;
  if (argc != 3) return 2;
  try {
    const NoGrad no_grad;
    const run::LoadedRun run = run::load_run(argv[1], {.device = "cpu"});
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < 60; ++i)
      ids.push_back(static_cast<int32_t>((i * i * 7 + 3 * i + 1) % run.model.config().vocab_size));
    const Tensor row = Tensor::from(ids, {1, 60});
    const Tensor logits = run.model.logits(row);
    write_safetensors(argv[2], {{"ids", row.view({60})},
                                {"logits", logits.view({60, logits.dim(2)}).to(DType::f32)}});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
