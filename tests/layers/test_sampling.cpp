#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "layers/sampling.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_sampling)
namespace {

using Scores = std::vector<double>;
constexpr double kOut = -std::numeric_limits<double>::infinity();

const Scores kScores{2.0, -1.5, 0.25, 3.5, -0.75, 1.0, -4.0, 3.0, 0.5, -2.25};
const std::vector<int32_t> kSeen{3, 1, 3, 6, 7};

// The ids that are not left out; the others have their old scores.
std::vector<int> kept(const Scores& got, const Scores& before) {
  std::vector<int> ids;
  BOOST_TEST_REQUIRE(got.size() == before.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == kOut) continue;
    BOOST_TEST(got[i] == before[i]);
    ids.push_back(static_cast<int>(i));
  }
  return ids;
}

using Ids = std::vector<int>;

// Expected values here and below: the processors of the same name of Hugging Face's transformers
// 5.24.0 on torch 2.15.0, in float64.
BOOST_AUTO_TEST_CASE(repetition_is_penalized_as_in_transformers) {
  const Scores want{
      2.0,  -1.9500000000000002, 0.25, 2.692307692307692, -0.75, 1.0, -5.2, 2.3076923076923075, 0.5,
      -2.25};
  BOOST_TEST(penalize_repetition(kScores, kSeen, 1.3) == want);
  BOOST_TEST(penalize_repetition(kScores, {}, 1.3) == kScores);
  BOOST_TEST(penalize_repetition(kScores, kSeen, 1) == kScores);
  BOOST_TEST(penalize_repetition(kScores, std::vector<int32_t>{10, 99}, 2) == kScores);
}

BOOST_AUTO_TEST_CASE(top_k_keeps_what_transformers_keeps) {
  BOOST_TEST(kept(keep_top_k(kScores, 1), kScores) == Ids({3}));
  BOOST_TEST(kept(keep_top_k(kScores, 3), kScores) == Ids({0, 3, 7}));
  BOOST_TEST(kept(keep_top_k(kScores, 6), kScores) == Ids({0, 2, 3, 5, 7, 8}));
  for (const int64_t k : {0, 10, 11}) BOOST_TEST(keep_top_k(kScores, k) == kScores);
  BOOST_TEST(kept(keep_top_k(Scores{1, 2, 1, 2}, 1), Scores{1, 2, 1, 2}) == Ids({1, 3}));
}

BOOST_AUTO_TEST_CASE(top_p_keeps_what_transformers_keeps) {
  const auto at = [](double temperature, double p) {
    return kept(keep_top_p(kScores, temperature, p), kScores);
  };
  BOOST_TEST(at(0.7, 0.05) == Ids({3}));
  BOOST_TEST(at(0.7, 0.5) == Ids({3}));
  BOOST_TEST(at(0.7, 0.9) == Ids({0, 3, 7}));
  BOOST_TEST(at(0.7, 0.99) == Ids({0, 3, 5, 7, 8}));
  BOOST_TEST(at(1.6, 0.05) == Ids({3}));
  BOOST_TEST(at(1.6, 0.5) == Ids({3, 7}));
  BOOST_TEST(at(1.6, 0.9) == Ids({0, 2, 3, 5, 7, 8}));
  BOOST_TEST(at(1.6, 0.99) == Ids({0, 1, 2, 3, 4, 5, 7, 8, 9}));
  BOOST_TEST(keep_top_p(kScores, 1.6, 1) == kScores);
  // Of four equal tokens half is two, the lowest ids.
  const Scores equal(4, -3.0);
  BOOST_TEST(kept(keep_top_p(equal, 1, 0.5), equal) == Ids({0, 1}));
  BOOST_TEST(kept(keep_top_p(equal, 1, 0.51), equal) == Ids({0, 1, 2}));
}

BOOST_AUTO_TEST_CASE(min_p_keeps_what_transformers_keeps) {
  const auto at = [](double temperature, double p) {
    return kept(keep_min_p(kScores, temperature, p), kScores);
  };
  BOOST_TEST(at(0.7, 0.02) == Ids({0, 3, 5, 7}));
  BOOST_TEST(at(0.7, 0.3) == Ids({3, 7}));
  BOOST_TEST(at(0.7, 1) == Ids({3}));
  BOOST_TEST(at(1.6, 0.02) == Ids({0, 1, 2, 3, 4, 5, 7, 8, 9}));
  BOOST_TEST(at(1.6, 0.3) == Ids({0, 3, 7}));
  BOOST_TEST(at(1.6, 1) == Ids({3}));
  BOOST_TEST(keep_min_p(kScores, 1, 0) == kScores);
}

// All filters one after another, and the distribution that is left.
BOOST_AUTO_TEST_CASE(filters_act_in_the_order_of_transformers) {
  struct Case {
    double temperature;
    SamplingFilters filters;
    Scores probabilities;
  };
  const std::vector<Case> cases = {
      {0.7,
       {1.3, 6, 0.95, 0.05},
       {0.18247342651070872, 0, 0, 0.4905933335010691, 0, 0.043729945786373535, 0,
        0.2832032942018488, 0, 0}},
      {1.6,
       {1.3, 8, 0.9, 0.3},
       {0.23317052696065801, 0, 0, 0.35940948633940406, 0, 0.12480718934948754, 0,
        0.2826127973504503, 0, 0}},
      {1.6,
       {0.8, 5, 0.8, 0.1},
       {0.1190808559196708, 0, 0, 0.5254093767085717, 0, 0, 0, 0.3555097673717576, 0, 0}}};
  for (const Case& one : cases) {
    const Scores got = filtered(kScores, kSeen, one.temperature, one.filters);
    double sum = 0, up_to = 0;
    for (const double score : got) sum += std::exp(score / one.temperature);
    for (size_t i = 0; i < got.size(); ++i) {
      const double p = std::exp(got[i] / one.temperature) / sum;
      BOOST_TEST(std::abs(p - one.probabilities[i]) < 1e-14, i << ": " << p);
      if (p == 0) continue;
      // The numbers that choose this token are an interval of that width.
      for (const double u : {up_to + 1e-9, up_to + p - 1e-9})
        BOOST_TEST(choose_token(got, one.temperature, u) == static_cast<int32_t>(i));
      up_to += p;
    }
  }
}

BOOST_AUTO_TEST_CASE(the_most_likely_token_is_never_left_out) {
  for (const double p : {1e-300, 0.3, 1.0})
    for (const SamplingFilters& filters :
         {SamplingFilters{.top_k = 1}, SamplingFilters{.top_p = p}, SamplingFilters{.min_p = p}}) {
      BOOST_TEST(filtered(Scores{7}, {}, 0.5, filters) == Scores{7});
      BOOST_TEST(filtered(kScores, {}, 1e-300, filters)[3] == 3.5);
      BOOST_TEST(filtered(kScores, {}, 1e300, filters)[3] == 3.5);
    }
  // Without a temperature the penalty alone acts.
  BOOST_TEST(filtered(kScores, kSeen, 0, {2, 1, 0.1, 1}) == penalize_repetition(kScores, kSeen, 2));
  BOOST_TEST(filtered(kScores, kSeen, 1, {}) == kScores);
}

BOOST_AUTO_TEST_CASE(a_token_is_chosen_by_inversion) {
  const std::vector<double> logits{0, std::log(2.0), -1e300, 0};
  const auto chosen = [&](double temperature, double u) {
    return choose_token(logits, temperature, u);
  };
  for (const double u : {0.0, 0.5, 1 - 0x1p-53}) BOOST_TEST(chosen(0, u) == 1);
  BOOST_TEST(chosen(1, 0) == 0);  // 1/4, 1/2, 0, 1/4
  BOOST_TEST(chosen(1, 0.249) == 0);
  BOOST_TEST(chosen(1, 0.251) == 1);
  BOOST_TEST(chosen(1, 0.749) == 1);
  BOOST_TEST(chosen(1, 0.751) == 3);
  BOOST_TEST(chosen(1, 1 - 0x1p-53) == 3);
  BOOST_TEST(chosen(0.5, 0.166) == 0);  // 1/6, 4/6, 0, 1/6
  BOOST_TEST(chosen(0.5, 0.167) == 1);
  BOOST_TEST(chosen(0.5, 0.832) == 1);
  BOOST_TEST(chosen(0.5, 0.834) == 3);
  BOOST_TEST(chosen(1e-300, 0.999) == 1);
  BOOST_TEST(choose_token(std::vector<double>{1, 3, 3}, 0, 0.9) == 1);
  BOOST_TEST(choose_token(std::vector<double>{-5}, 1, 0.9) == 0);
  BOOST_TEST(choose_token(std::vector<double>{-1e300, 0}, 1, 0) == 1);  // never without a chance
  for (size_t n = 1; n < 200; ++n)
    BOOST_TEST(choose_token(std::vector<double>(n, 0.1), 0.7, 1 - 0x1p-53) ==
               static_cast<int32_t>(n - 1));
}

BOOST_AUTO_TEST_CASE(filters_out_of_range_are_refused) {
  const auto message = [](double temperature, const SamplingFilters& filters) {
    return message_of<ConfigError>([&] { check_sampling(temperature, filters); });
  };
  BOOST_TEST(message(0, {}) == "");
  BOOST_TEST(message(1, {0.5, 40, 1, 1}) == "");
  for (const double bad : {-1.0, double{NAN}, double{INFINITY}}) {
    BOOST_TEST(message(bad, {}).starts_with("[generate] expected a finite temperature of 0 (the "));
    BOOST_TEST(
        message(1, {.repetition_penalty = bad})
            .starts_with("[generate] expected a repetition penalty above 0 (1: none), got "));
    BOOST_TEST(message(1, {.top_p = bad})
                   .starts_with("[generate] expected a top-p above 0 and up to 1 (all), got "));
    BOOST_TEST(message(1, {.min_p = bad})
                   .starts_with("[generate] expected a min-p from 0 (all) to 1, got "));
  }
  BOOST_TEST(message(1, {.top_p = 0}) ==
             "[generate] expected a top-p above 0 and up to 1 (all), got 0");
  BOOST_TEST(message(1, {.repetition_penalty = 0}) ==
             "[generate] expected a repetition penalty above 0 (1: none), got 0");
  BOOST_TEST(message(1, {.top_k = -1}) == "[generate] expected a top-k of 0 (all) or more, got -1");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
