// What the write-up on extending context cites of large models, whose training or data are not
// here: listed with the results that it retells.

#include "apps/sweep/arms.h"

namespace farfield::sweep {
namespace {

Experiment cited(int place, const std::string& name, const std::string& title,
                 const std::string& paper, const std::string& why_not) {
  return {.place = place,
          .id = "context/" + name,
          .title = title,
          .source = std::string(kContextWriteUp) + ", citing " + paper,
          .datasets = {},
          .not_run = why_not};
}

}  // namespace

std::vector<Experiment> context_cited_rows() {
  return {
      cited(860, "scan-eos", "does a model without an end-of-sequence token reach further on SCAN?",
            "Newman et al. 2020 (arXiv:2010.07174)",
            "of SCAN, a data set that is not here; cited: with the length given, models without "
            "EOS are better in all length splits. context/eos asks it of copy and reverse"),
      cited(861, "markers", "do marker tokens in few-shot prompts extrapolate?",
            "Bueno et al. 2022 (arXiv:2208.11445)",
            "of large pre-trained models; cited: few-shot prompts with marker tokens extrapolate"),
      cited(862, "scratchpad-icl", "does a scratchpad in few-shot prompts extrapolate?",
            "Anil et al. 2022 (arXiv:2207.04901)",
            "of large pre-trained models; cited: in-context learning with a scratchpad alleviates "
            "the decay on longer problems. context/parity trains with scratchpads"),
      cited(863, "verifiers", "do verifiers of each token or step help?",
            "Cobbe et al. 2021 (arXiv:2110.14168), Lightman et al. 2023 (arXiv:2305.20050)",
            "of large pre-trained models; cited: token-level verifiers end above solution-level "
            "ones on GSM8K, and process supervision solves 78 percent of a part of MATH"),
      cited(864, "translation-logn", "does log n scaling help translation of longer sentences?",
            "Chiang and Cholak 2022 (arXiv:2202.12172)",
            "of translation, whose data are not here; cited: log n scaling improves length "
            "generalisation. context/first asks it of FIRST")};
}

}  // namespace farfield::sweep
