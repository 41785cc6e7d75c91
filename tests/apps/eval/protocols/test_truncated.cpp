#include <boost/test/unit_test.hpp>

#include "apps/eval/baseline.h"
#include "apps/eval/truncated.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_truncated)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {

// Depends on every input so far and on its number: what a pass begins with shows.
Scorer long_memory() {
  return model_of([](const int32_t* row, int64_t t, int32_t target) {
    double value = target;
    for (int64_t i = 0; i <= t; ++i) value += row[i] * (0.1 + static_cast<double>(i));
    return value;
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_target_is_predicted_by_a_pass_over_the_last_inputs_alone) {
  constexpr int64_t kBatch = 3, kLength = 12;
  std::vector<int32_t> text(kBatch * kLength + 1);
  toy_text(100).copy(0, kBatch * kLength + 1, text.data());
  const Scorer model = long_memory();
  for (const int64_t window : {1, 4, 11, 12, 50}) {
    for (const int64_t n : {1, 3, 9, 12}) {
      for (const int64_t batch_tokens : {1, 30, 10000}) {
        Scorer::Ids ids(text.begin(), text.end() - 1), targets;
        for (int64_t row = 0; row < kBatch; ++row)
          for (int64_t i = kLength - n; i < kLength; ++i)
            targets.push_back(text[static_cast<size_t>(row * kLength + i + 1)]);
        const auto got = truncated(model, window, batch_tokens).score(ids, targets, kBatch);
        BOOST_TEST_REQUIRE(got.size() == targets.size());
        for (int64_t row = 0; row < kBatch; ++row) {
          for (int64_t i = 0; i < n; ++i) {
            const int64_t end = kLength - n + i + 1, begin = std::max<int64_t>(0, end - window);
            const Scorer::Ids one(ids.begin() + row * kLength + begin,
                                  ids.begin() + row * kLength + end);
            const auto at = static_cast<size_t>(row * n + i);
            BOOST_TEST(got[at] == model.score(one, {targets[at]}, 1)[0]);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_pass_has_as_many_tokens_as_asked_for) {
  size_t most = 0;
  Scorer model = uniform_model();
  model.score = [&](const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t) {
    most = std::max(most, ids.size());
    return std::vector<double>(targets.size(), 1.0);
  };
  const Scorer::Ids row(1000, 1);
  truncated(model, 8, 64).score(row, row, 1);
  BOOST_TEST(most == 64u);
}

BOOST_AUTO_TEST_CASE(names_of_baselines_are_read_and_bad_ones_refused) {
  BOOST_TEST(parse_baseline("none").label() == "");
  BOOST_TEST(parse_baseline("masked@512").label() == "masked@512");
  BOOST_TEST(parse_baseline("truncated@1").label() == "truncated@1");
  BOOST_TEST(parse_baseline("truncated@7").window == 7);
  for (const char* bad : {"masked@0", "masked@-3", "masked@", "masked", "truncated@2x", "mask@4",
                          "none@3", "", "masked@99999999999999999999", "masked@ 4"})
    BOOST_CHECK_EXCEPTION(parse_baseline(bad), ConfigError,
                          says("[eval] bad_argument: --baseline: expected none, masked@W or "
                               "truncated@W with a window of W >= 1 tokens, got '" +
                               std::string(bad) + "'"));
}

BOOST_AUTO_TEST_CASE(a_window_that_hides_nothing_is_said) {
  BOOST_TEST(warning_of(parse_baseline("masked@64"), {128, 65}) == "");
  BOOST_TEST(warning_of(parse_baseline("none"), {1}) == "");
  BOOST_TEST(warning_of(parse_baseline("masked@64"), {128, 64, 32}) ==
             "masked@64 is the model as it is at length 64, 32: the window hides nothing there");
}

BOOST_AUTO_TEST_SUITE_END()
