#include <boost/test/unit_test.hpp>
#include <regex>

#include "apps/train/peak.h"
#include "apps/train/step_flop.h"
#include "apps/train/step_time.h"

BOOST_AUTO_TEST_SUITE(test_step_time)

using namespace farfield;
using namespace farfield::train;

BOOST_AUTO_TEST_CASE(the_work_of_a_step_grows_with_its_tokens_and_does_not_overflow) {
  ModelConfig model = preset("tiny");
  model.vocab_size = 257;
  const double one = step_gflop(model, 1);
  BOOST_TEST(one > 0);
  BOOST_TEST(step_gflop(model, 64) == 64 * one, boost::test_tools::tolerance(1e-12));
  model.train_len = (int64_t{1} << 31) - 1;
  BOOST_TEST(step_gflop(model, int64_t{1} << 40) > 1e20);
}

BOOST_AUTO_TEST_CASE(an_encoder_has_twice_the_pairs) {
  ModelConfig decoder = preset("tiny");
  decoder.train_len = 1024;
  ModelConfig encoder = decoder, shorter = decoder;
  encoder.sees_later = true;
  shorter.train_len = 512;
  // Per token: products with weights, and pairs by length.
  const double by_length = step_gflop(decoder, 1) / 1024 - step_gflop(shorter, 1) / 512;
  BOOST_TEST(step_gflop(encoder, 1) / 1024 - step_gflop(decoder, 1) / 1024 == 2 * by_length,
             boost::test_tools::tolerance(1e-9));
}

// The time itself is the machine's.
BOOST_AUTO_TEST_CASE(a_step_of_minutes_is_announced_and_a_short_one_is_not) {
  ModelConfig model = preset("tiny");
  model.vocab_size = 257;
  BOOST_TEST(long_step_text(model, {.batch_size = 32}, 1000, 1) == "");
  const double step_s = step_gflop(model, 1) / fma_peak_gflops();  // at the peak
  const auto batch = static_cast<int64_t>(7200 / step_s);
  const std::string text = long_step_text(model, {.batch_size = batch}, 10, 1);
  BOOST_TEST(
      std::regex_match(text, std::regex("a step takes about [0-9]+ h [0-9]+ min, all 10 "
                                        "about [0-9]+ h [0-9]+ min \\(first one running\\)")),
      text);
  BOOST_TEST(long_step_text(model, {.batch_size = batch}, 10, 100'000) == "");
}

BOOST_AUTO_TEST_SUITE_END()
