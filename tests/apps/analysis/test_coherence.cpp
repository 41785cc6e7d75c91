#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "apps/analysis/coherence.h"
#include "engine/base/error.h"
#include "tests/support/all_close.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_coherence)
namespace {

using Text = std::vector<int32_t>;

BOOST_AUTO_TEST_CASE(coherent_is_up_to_a_quarter_above_the_reference) {
  const std::vector<double> perplexity{8, 10, 10.1, 8};
  const Coherence got = coherence(perplexity, 8, 2);
  BOOST_TEST(got.is_coherent == (std::vector<bool>{true, true, false, true}),
             boost::test_tools::per_element());
  BOOST_TEST(got.share == 0.75);
  BOOST_TEST(got.share_beyond == 0.5);
}

BOOST_AUTO_TEST_CASE(without_positions_beyond_there_is_no_share_of_them) {
  const Coherence got = coherence(std::vector<double>{1, 1}, 1, 2);
  BOOST_TEST(got.share == 1);
  BOOST_TEST(std::isnan(got.share_beyond));
  BOOST_TEST(!got.breakdown.has_value());
  BOOST_TEST(std::isnan(coherence(std::vector<double>{1, 1}, 1, 100).share_beyond));
}

// 64 positions of training, perplexity 8; after it 8, with what is above 16 from `first` to `last`.
std::vector<double> broken(size_t first, size_t last, double height = 17) {
  std::vector<double> perplexity(256, 8.0);
  for (size_t t = first; t <= last; ++t) perplexity[t - 1] = height;
  return perplexity;
}

BOOST_AUTO_TEST_CASE(the_breakdown_is_where_the_curve_leaves_for_good_an_eighth) {
  BOOST_TEST(coherence(broken(69, 256), 8, 64).breakdown.value() == 69);
  BOOST_TEST(coherence(broken(69, 76), 8, 64).breakdown.value() == 69);      // 8 = 64 / 8 positions
  BOOST_TEST(!coherence(broken(69, 75), 8, 64).breakdown.has_value());       // 7
  BOOST_TEST(!coherence(broken(69, 256, 16), 8, 64).breakdown.has_value());  // not above 2 x
  BOOST_TEST(coherence(broken(249, 256), 8, 64).breakdown.value() == 249);
  BOOST_TEST(!coherence(broken(250, 256), 8, 64).breakdown.has_value());
  BOOST_TEST(coherence(broken(100, 120, INFINITY), 8, 64).breakdown.value() == 100);
}

BOOST_AUTO_TEST_CASE(a_short_excursion_before_is_passed_over) {
  std::vector<double> perplexity = broken(100, 140);
  for (size_t t = 70; t < 77; ++t) perplexity[t - 1] = 50;
  BOOST_TEST(coherence(perplexity, 8, 64).breakdown.value() == 100);
}

BOOST_AUTO_TEST_CASE(a_breakdown_is_beyond_the_training_length) {
  BOOST_TEST(coherence(broken(20, 256), 8, 64).breakdown.value() == 65);
  BOOST_TEST(!coherence(broken(20, 71), 8, 64).breakdown.has_value());
  // below 8 tokens a single position is enough
  BOOST_TEST(coherence(std::vector<double>{1, 1, 1, 9}, 1, 2).breakdown.value() == 4);
}

BOOST_AUTO_TEST_CASE(residues_collect_what_is_a_block_apart) {
  const std::vector<double> nll{1, 2, 3, 5, 4, 3, 6};  // ids 0 .. 6 in blocks of 3
  const std::vector<double> want{std::exp((1 + 5 + 6) / 3.0), std::exp(3.0), std::exp(3.0)};
  BOOST_TEST(all_close(perplexity_by_residue(nll, 3), want, 1e-14));
  BOOST_TEST(perplexity_by_residue(nll, 7)[6] == std::exp(6.0));
  BOOST_TEST(perplexity_by_residue(std::vector<double>{1000}, 1)[0] == INFINITY);
}

BOOST_AUTO_TEST_CASE(distinct_grams_over_all_grams) {
  BOOST_TEST(distinct_share(Text{1, 2, 3, 4, 5, 6}) == 1);
  BOOST_TEST(distinct_share(Text{1, 1, 1, 1, 1, 1}) == 1.0 / 3);
  BOOST_TEST(distinct_share(Text{1, 2, 1, 2, 1, 2, 1}) == 0.5);  // 1212 and 2121, four in all
  BOOST_TEST(distinct_share(Text{1, 2, 1, 2}, 1) == 0.5);
  BOOST_TEST(distinct_share(Text{1, 2, 3, 4}) == 1);
}

// `head` different tokens, then a cycle of `period` up to 320.
Text cyclic(int head, int period) {
  Text text;
  for (int i = 0; i < head; ++i) text.push_back(1000 + i);
  for (int i = head; i < 320; ++i) text.push_back((i - head) % period);
  return text;
}

BOOST_AUTO_TEST_CASE(a_text_that_ends_in_a_short_cycle_shows_in_both_numbers) {
  const Text text = cyclic(20, 12);
  BOOST_TEST(distinct_share(text) < 0.2);
  BOOST_TEST(cycle_share(text) == 300.0 / 320);
  const Text healthy = cyclic(320, 1);
  BOOST_TEST(distinct_share(healthy) == 1);
  BOOST_TEST(cycle_share(healthy) == 0);
}

BOOST_AUTO_TEST_CASE(a_cycle_needs_two_whole_periods) {
  BOOST_TEST(cycle_share(Text{1, 2, 3, 1, 2, 7, 8, 9}) == 0);
  BOOST_TEST(cycle_share(Text{1, 2, 3, 1, 2, 3}) == 1);
  BOOST_TEST(cycle_share(Text{9, 1, 2, 3, 1, 2, 3, 1, 8, 7}) == 0.7);  // its last period is cut
  BOOST_TEST(cycle_share(Text{5, 5, 1, 2}) == 0.5);
  BOOST_TEST(cycle_share(Text{5, 5, 1, 2, 1, 2, 7, 8}) == 0.5);  // the longer of two
  BOOST_TEST(cycle_share(Text{5}) == 0);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const std::vector<double> one{1};
  BOOST_CHECK_EXCEPTION(coherence({}, 1, 1), ConfigError,
                        says("[eval:coherence] bad_argument: expected positions"));
  BOOST_CHECK_EXCEPTION(coherence(one, 1, 0), ConfigError, says("expected train_len >= 1"));
  for (const double reference :
       {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    BOOST_CHECK_EXCEPTION(coherence(one, reference, 1), ConfigError,
                          says("expected a finite perplexity at train_len"));
  BOOST_CHECK_EXCEPTION(coherence(std::vector<double>{1, NAN}, 1, 1), ConfigError,
                        says("got nan at position 2"));
  BOOST_CHECK_EXCEPTION(perplexity_by_residue(one, 0), ConfigError, says("from 1 to 1, got 0"));
  BOOST_CHECK_EXCEPTION(perplexity_by_residue(one, 2), ConfigError, says("from 1 to 1, got 2"));
  BOOST_CHECK_EXCEPTION(distinct_share(Text{1, 2, 3}), ConfigError,
                        says("expected at least 4 tokens for 4-grams, got 3"));
  BOOST_CHECK_EXCEPTION(distinct_share(Text{1}, 0), ConfigError, says("n >= 1, got 0"));
  BOOST_CHECK_EXCEPTION(cycle_share({}), ConfigError, says("expected tokens, got none"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
