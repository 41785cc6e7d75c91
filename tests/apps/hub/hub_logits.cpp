// hub_logits RUN OUT [TEXT]: writes 60 token ids and a run's logits for them as
// expected.safetensors has them; with a file TEXT, all ids of it by the run's tokenizer, and the
// logits of the first 60.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include "apps/run/corpus.h"
#include "apps/run/load_run.h"
#include "engine/autograd.h"
#include "engine/base/file.h"
#include "engine/safetensors.h"

int main(int argc, char** argv) {
  using namespace farfield;
  if (argc != 3 && argc != 4) return 2;
  try {
    const NoGrad no_grad;
    const run::LoadedRun run = run::load_run(argv[1], {.device = "cpu"});
    constexpr int64_t kIds = 60;
    std::vector<int32_t> ids;
    if (argc == 4) {
      run::tokenizer_of(run::RunFolder::open(argv[1]))->encode(read_file(argv[3]), ids);
    } else {
      for (int64_t i = 0; i < kIds; ++i)
        ids.push_back(
            static_cast<int32_t>((i * i * 7 + 3 * i + 1) % run.model.config().vocab_size));
    }
    const auto n = static_cast<int64_t>(ids.size());
    const Tensor row = Tensor::from(ids, {1, n});
    const Tensor first = row.view({1, std::min(n, kIds)});
    const Tensor logits = run.model.logits(first);
    write_safetensors(argv[2],
                      {{"ids", row.view({n})},
                       {"logits", logits.view({first.dim(1), logits.dim(2)}).to(DType::f32)}});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
