#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/protocol.h"
#include "apps/eval/protocols/masked.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/small_model.h"
#include "tests/support/messages.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_masked)  // ctest: on_cuda
namespace {

constexpr int32_t kMask = test::kToyVocab;

ModelConfig encoder_config() {
  ModelConfig config = tiny_config("sinusoidal");
  config.sees_later = true;
  return config;
}

const test::SmallModel& encoder() {
  static const test::SmallModel one(encoder_config());
  return one;
}

Subject masked_subject(const test::SmallModel& model = encoder()) {
  Subject subject = model.subject();
  subject.model.mask_token = kMask;
  return subject;
}

ProtocolResult measured(const Subject& subject, std::vector<int64_t> lengths,
                        const MaskedOptions& own = {}, int64_t batch_tokens = 0) {
  CommonOptions common;
  common.lengths = std::move(lengths);
  common.max_tokens = 401;
  common.batch_tokens = batch_tokens;
  check(own);
  return masked(subject, common, own);
}

// Each sequence by itself, from its logits.
BOOST_AUTO_TEST_CASE(the_loss_is_that_of_the_logits_at_masked_tokens) {
  const MaskedOptions own{.share = 0.3, .seed = 4};
  const ProtocolResult result = measured(masked_subject(), {7, 20}, own, 64);
  BOOST_TEST_REQUIRE(result.lengths.size() == 2u);
  for (const LengthResult& cell : result.lengths) {
    const int64_t length = cell.length, n = 400 / length, n_each = length == 7 ? 2 : 6;
    BOOST_TEST_REQUIRE(static_cast<int64_t>(cell.items.size()) == n);
    BOOST_TEST(cell.n_scored == n * n_each);
    double all = 0;
    for (int64_t i = 0; i < n; ++i) {
      std::vector<int32_t> ids(static_cast<size_t>(length));
      encoder().text.copy(i * length, length, ids.data());
      const std::vector<int32_t> tokens = ids;
      const std::vector<int64_t> places =
          data::masked_places(length, 0.3, data::masking_random(4, "test", i));
      for (const int64_t place : places) ids[static_cast<size_t>(place)] = kMask;
      const std::vector<double> logits =
          encoder().model.logits(Tensor::from(ids, {1, length})).to_vector();
      double nats = 0;
      for (const int64_t place : places) {
        const double* const row = logits.data() + place * 13;
        double sum = 0;
        for (int v = 0; v < 13; ++v) sum += std::exp(row[v]);
        nats += std::log(sum) - row[tokens[static_cast<size_t>(place)]];
      }
      const double item = nats / static_cast<double>(n_each);
      BOOST_TEST(std::abs(cell.items[static_cast<size_t>(i)] - item) < 1e-10);
      all += item;
    }
    const auto count = static_cast<double>(n);
    BOOST_TEST(std::abs(cell.mean_nll - all / count) < 1e-10);
    double spread = 0;
    for (const double item : cell.items) spread += std::pow(item - cell.mean_nll, 2);
    BOOST_TEST(cell.nll_error == std::sqrt(spread / (count - 1) / count),
               boost::test_tools::tolerance(1e-9));
  }
}

BOOST_AUTO_TEST_CASE(the_choice_follows_from_the_seed_and_not_from_batches) {
  const auto at = [&](const MaskedOptions& own, int64_t batch_tokens) {
    return measured(masked_subject(), {16}, own, batch_tokens);
  };
  const ProtocolResult one = at({}, 16), many = at({}, 400), other = at({.seed = 1}, 400);
  BOOST_TEST(std::abs(one.lengths[0].mean_nll - many.lengths[0].mean_nll) < 1e-12);
  BOOST_TEST(one.lengths[0].tokens == many.lengths[0].tokens);
  BOOST_TEST(one.hash() == many.hash());
  BOOST_TEST(other.lengths[0].tokens != many.lengths[0].tokens);
  BOOST_TEST(other.hash() != many.hash());
  BOOST_TEST(one.parameters == "share=0.15 seed=0 tokens=401");
  BOOST_TEST(conventions_of(one, 16) ==
             "first_token: of the sequence (from 0, documents in document order); its masked "
             "tokens are predicted");
}

BOOST_AUTO_TEST_CASE(a_model_that_fills_in_nothing_and_a_short_text_are_refused) {
  BOOST_CHECK_EXCEPTION(measured(encoder().subject(), {16}), ConfigError,
                        says("[eval:masked] bad_argument: expected an encoder that was trained on "
                             "masked text"));
  BOOST_CHECK_EXCEPTION(measured(masked_subject(), {16, 500}), IoError,
                        says("[eval:masked] not_enough_data: expected at least 501 tokens for one "
                             "sequence of 500, got 401"));
  Subject large = masked_subject();
  large.text.copy = [](int64_t, int64_t n, int32_t* out) { std::fill(out, out + n, 13); };
  BOOST_CHECK_EXCEPTION(measured(large, {16}), IoError, says("bad_token"));
  for (const double share : {0.0, 1.0})
    BOOST_CHECK_EXCEPTION(measured(masked_subject(), {16}, {.share = share}), ConfigError,
                          says("--masked-share: expected a share above 0 and below 1"));
}

BOOST_AUTO_TEST_CASE(scores_that_are_not_finite_fail_the_cell) {
  test::SmallModel broken(encoder_config());
  for (Parameter p : broken.model.parameters())
    if (p.name == "embed_out.weight") p.value.data<double>()[0] = std::nan("");
  const ProtocolResult result = measured(masked_subject(broken), {16});
  BOOST_TEST(result.lengths[0].failure == "nonfinite_logits");
  BOOST_TEST(!result.lengths[0].has_perplexity());
}

BOOST_AUTO_TEST_CASE(its_work_is_the_text) {
  EvalOptions eval;
  eval.common.max_tokens = 401;
  const WorkSubject subject{.text_size = 5000};
  BOOST_TEST(protocol_named("masked").work(eval, subject, 20) == 400);
  BOOST_TEST(protocol_named("masked").work(eval, subject, 7) == 399);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
