// Evaluation of a published size at a long length, in the memory of a small machine.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "apps/eval/evaluator.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/scorer.h"
#include "apps/run/machine.h"
#include "engine/base/random.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_eval_memory)  // ctest: slow
namespace {

BOOST_AUTO_TEST_CASE(neox_162m_at_16384_tokens_takes_less_than_4_gib) {
  ModelConfig config = preset("neox-162m");
  config.posenc = "kerple_log";
  const Transformer model(config, 1);
  TokenStream text;
  text.size = 16384;
  text.copy = [](int64_t begin, int64_t n, int32_t* out) {
    const Random random{1, 1};
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<int32_t>(random.below(static_cast<uint64_t>(begin + i), 50000));
  };
  EvalOptions eval;
  eval.common.lengths = {16384};
  eval.own<LastTokenOptions>().segments = 1;
  const auto begin = std::chrono::steady_clock::now();
  const LengthResult got =
      evaluate("last-token", subject_of(model, {}, text, 1), eval).lengths.at(0);
  const double time_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  BOOST_TEST(got.failure == "");
  BOOST_TEST_MESSAGE("resident " << run::peak_resident_bytes() / (1 << 20) << " MiB at most, "
                                 << 16383 / time_s << " tokens a second, nll " << got.mean_nll);
  BOOST_TEST(run::peak_resident_bytes() < int64_t{4} << 30);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
