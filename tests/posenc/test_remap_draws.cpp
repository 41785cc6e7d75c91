// The random draws of remaps: what they depend on, and their distributions.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <set>

#include "posenc/remap.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_remap_draws)
namespace {

using Sample = std::vector<int64_t>;

Random stream(uint64_t index) { return draws_of(1, "test", "sample", {.index = index}); }

Positions drawn(std::string_view expression, int64_t n, const Draw& draw, uint64_t seed = 1,
                Phase phase = Phase::train) {
  Config config = model_of(2);
  config.seed = seed;
  return encoding_of(expression, config)->positions(Positions::plain(n, n, phase, {}, draw));
}

// Pearson's chi-squared of counts against equal expectations lies within five standard deviations
// of its mean, n - 1.
void check_uniform(const std::vector<double>& counts, double expected, double degrees,
                   const std::string& what) {
  double chi2 = 0;
  for (const double count : counts) chi2 += (count - expected) * (count - expected) / expected;
  BOOST_TEST(std::abs(chi2 - degrees) <= 5 * std::sqrt(2 * degrees), what << ": " << chi2);
}

BOOST_AUTO_TEST_CASE(samples_are_sorted_distinct_and_in_range) {
  for (const auto& [n, limit] : std::map<int64_t, int64_t>{{0, 5}, {1, 1}, {7, 7}, {20, 64}})
    for (uint64_t index = 0; index < 50; ++index) {
      const Sample sample = sorted_sample(stream(index), n, limit);
      BOOST_TEST(static_cast<int64_t>(sample.size()) == n);
      for (size_t i = 0; i < sample.size(); ++i) {
        BOOST_TEST((sample[i] >= 0 && sample[i] < limit));
        if (i > 0) BOOST_TEST(sample[i - 1] < sample[i]);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_sample_of_everything_is_everything) {
  BOOST_TEST((sorted_sample(stream(3), 5, 5) == Sample{0, 1, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(every_subset_is_equally_likely) {
  std::map<Sample, double> n_seen;
  constexpr int kDraws = 40000;
  for (uint64_t index = 0; index < kDraws; ++index) ++n_seen[sorted_sample(stream(index), 3, 6)];
  BOOST_TEST(n_seen.size() == 20u);  // 6 over 3
  std::vector<double> counts;
  for (const auto& [sample, count] : n_seen) counts.push_back(count);
  check_uniform(counts, kDraws / 20.0, 19, "subsets");
}

BOOST_AUTO_TEST_CASE(every_id_is_included_with_probability_n_over_limit) {
  constexpr int64_t kN = 20, kLimit = 64;
  constexpr double kDraws = 20000;
  std::vector<double> counts(kLimit);
  for (uint64_t index = 0; index < kDraws; ++index)
    for (const int64_t id : sorted_sample(stream(index), kN, kLimit))
      ++counts[static_cast<size_t>(id)];
  const double p = static_cast<double>(kN) / kLimit;
  for (const double count : counts)
    BOOST_TEST(std::abs(count - kDraws * p) < 5 * std::sqrt(kDraws * p * (1 - p)));
}

BOOST_AUTO_TEST_CASE(a_sample_of_a_million_takes_all_sixteenths_alike) {
  const Sample sample = sorted_sample(stream(0), 16384, 1000000);
  BOOST_TEST(std::set<int64_t>(sample.begin(), sample.end()).size() == 16384u);
  std::vector<double> counts(16);
  for (const int64_t id : sample) ++counts[static_cast<size_t>(id * 16 / 1000000)];
  check_uniform(counts, 1024, 15, "sixteenths");
}

BOOST_AUTO_TEST_CASE(a_draw_is_a_function_of_seed_term_batch_and_sequence) {
  for (const char* expression : {"randomized(1000)", "shape", "front_padding(1000)", "cape",
                                 "positional_jumps(9, block=2)"}) {
    const Draw draw{.n_sequence = 3, .index = 5};
    const Positions p = drawn(expression, 16, draw);
    BOOST_TEST((p.ids == drawn(expression, 16, draw).ids), expression);
    BOOST_TEST((p.ids != drawn(expression, 16, {.n_sequence = 3, .index = 6}).ids), expression);
    BOOST_TEST((p.ids != drawn(expression, 16, draw, /*seed=*/2).ids), expression);
    const bool is_shared = std::string_view(expression).starts_with("randomized");
    BOOST_TEST(p.n_row() == (is_shared ? 1 : 3), expression);
    // A sequence draws the same in a smaller batch.
    const Positions first = drawn(expression, 16, {.n_sequence = 1, .index = 5});
    BOOST_TEST((std::vector<double>(p.ids.begin(), p.ids.begin() + 16) == first.ids), expression);
    if (is_shared) continue;
    for (int64_t row = 1; row < 3; ++row)
      BOOST_TEST(!std::equal(p.ids.begin(), p.ids.begin() + 16, p.ids.begin() + 16 * row),
                 expression);
  }
}

BOOST_AUTO_TEST_CASE(plans_say_whether_they_are_random) {
  const auto random = [](const char* expression, Phase phase) {
    return Composition(expression, model_of(2)).is_random(phase);
  };
  for (const char* expression : {"shape", "front_padding", "cape", "positional_jumps(5)", "shifted",
                                 "randomized(at=train)"}) {
    BOOST_TEST(random(expression, Phase::train), expression);
    BOOST_TEST(!random(expression, Phase::eval), expression);
  }
  BOOST_TEST(random("randomized", Phase::eval));
  for (const char* expression : {"interpolation(4)", "modulo", "block_repeat", "rope_linear(auto)"})
    BOOST_TEST(!random(expression, Phase::train), expression);
}

BOOST_AUTO_TEST_CASE(randomized_draws_ids_and_distances_apart) {
  const Positions p = drawn("randomized(64)", 20, {.n_sequence = 3, .index = 1});
  BOOST_TEST((p.entry == Positions::Entry::distance));
  BOOST_TEST(p.distance.size() == 20u);
  BOOST_TEST(p.distance[0] == 0);
  const auto check = [](const std::vector<double>& x, double least) {
    for (size_t i = 1; i < x.size(); ++i) BOOST_TEST(x[i - 1] < x[i]);
    BOOST_TEST((x[0] >= least && x.back() < 64));
  };
  check(p.ids, 0);
  check(p.distance, 0);
  BOOST_TEST((p.ids != p.distance));
  // Were the numbers the same, the one distance would follow from one of the two ids.
  int n_equal = 0;
  for (uint64_t index = 0; index < 200; ++index) {
    const Positions two = drawn("randomized(1000)", 2, {.index = index});
    const double d = two.distance[1] - 1;
    if (d == two.ids[0] || d == two.ids[1]) ++n_equal;
  }
  BOOST_TEST(n_equal < 10);
  // Where all positions are taken there is nothing to choose.
  const Positions all = drawn("randomized(20)", 20, {});
  for (size_t i = 0; i < 20; ++i)
    BOOST_TEST((all.ids[i] == static_cast<double>(i) && all.distance[i] == static_cast<double>(i)));
  BOOST_TEST((drawn("randomized(1)", 1, {}).distance == std::vector<double>{0}));
  const Positions test = drawn("randomized(64, at=train)", 20, {}, 1, Phase::eval);
  BOOST_TEST((test.ids == Positions::plain(20, 20, Phase::eval).ids));
}

BOOST_AUTO_TEST_CASE(layers_share_a_draw_unless_asked_for_their_own) {
  const auto rotation = [](const char* expression, size_t layer, uint64_t index = 0) {
    const Composition c(expression, model_of(2));
    return c.plan(9, 9, Phase::train, {.index = index}).layers[layer].rotation.cos;
  };
  const char* const shared = "rope + randomized(1000)";
  const char* const own = "rope + randomized(1000, per_layer=true)";
  BOOST_TEST(same_bits(rotation(shared, 0), rotation(shared, 2)));
  BOOST_TEST(!all_close(rotation(own, 0), rotation(own, 2), Tolerance(1e-3)));
  BOOST_TEST(same_bits(rotation(own, 2), rotation(own, 2)));
  BOOST_TEST(!all_close(rotation(shared, 0), rotation(shared, 0, 1), Tolerance(1e-3)));
}

BOOST_AUTO_TEST_CASE(starts_are_uniform) {
  constexpr double kDraws = 8000;
  const auto starts = [&](const char* expression, size_t n_place) {
    std::vector<double> counts(n_place);
    const Positions p = drawn(expression, 4, {.n_sequence = static_cast<int64_t>(kDraws)});
    for (size_t row = 0; row < static_cast<size_t>(kDraws); ++row) {
      BOOST_TEST(p.ids[4 * row + 3] == p.ids[4 * row] + 3);
      ++counts.at(static_cast<size_t>(p.ids[4 * row]));
    }
    check_uniform(counts, kDraws / static_cast<double>(n_place), static_cast<double>(n_place) - 1,
                  expression);
  };
  starts("shape(10)", 10);
  starts("front_padding(13)", 10);
  starts("front_padding(4)", 1);
}

BOOST_AUTO_TEST_CASE(jumps_are_uniform_and_only_behind_blocks) {
  constexpr double kDraws = 2000;
  const Positions p =
      drawn("positional_jumps(5, block=3)", 10, {.n_sequence = static_cast<int64_t>(kDraws)});
  std::vector<double> counts(5);
  for (size_t row = 0; row < static_cast<size_t>(kDraws); ++row)
    for (size_t m = 1; m < 10; ++m) {
      const double step = p.ids[row * 10 + m] - p.ids[row * 10 + m - 1];
      if (m % 3 == 0)
        ++counts.at(static_cast<size_t>(step - 1));
      else
        BOOST_TEST(step == 1);
    }
  check_uniform(counts, 3 * kDraws / 5, 4, "steps");
  BOOST_TEST(
      (drawn("positional_jumps(1)", 60, {}).ids == Positions::plain(60, 60, Phase::eval).ids));
}

BOOST_AUTO_TEST_CASE(cape_draws_within_its_bounds_and_evenly) {
  constexpr int64_t kN = 6, kSequences = 4000;
  const auto ids = [&](const char* expression) {
    return drawn(expression, kN, {.n_sequence = kSequences}).ids;
  };
  // One source of change at a time: shift, jitter, stretch.
  const auto shifts = ids("cape(d_max=2, e_max=0, l_max=1)");
  const auto jitter = ids("cape(d_max=0, e_max=0.5, l_max=1)");
  const auto stretch = ids("cape(d_max=0, e_max=0, l_max=2)");
  std::vector<double> shift_counts(8), jitter_counts(8), stretch_counts(8);
  const auto count = [](std::vector<double>& counts, double x) {  // x in (-1, 1)
    ++counts.at(static_cast<size_t>((x + 1) * 4));
  };
  for (size_t row = 0; row < kSequences; ++row) {
    const double* const s = &shifts[row * kN];
    BOOST_TEST(std::abs(s[5] - s[0] - 5) < 1e-12);
    count(shift_counts, s[0] / 2);
    for (size_t m = 0; m < kN; ++m)
      count(jitter_counts, (jitter[row * kN + m] - static_cast<double>(m)) / 0.5);
    count(stretch_counts, std::log2(stretch[row * kN + 5] / 5));
    BOOST_TEST(stretch[row * kN] == 0);
  }
  check_uniform(shift_counts, kSequences / 8.0, 7, "shifts");
  check_uniform(jitter_counts, kSequences * kN / 8.0, 7, "jitter");
  check_uniform(stretch_counts, kSequences / 8.0, 7, "stretch");
  BOOST_TEST(std::is_sorted(jitter.begin(), jitter.begin() + kN));

  // The three are drawn apart: no number of a sequence follows from another.
  const auto correlation = [&](const std::vector<double>& x, size_t i, const std::vector<double>& y,
                               size_t j) {
    double xy = 0, xx = 0, yy = 0;
    for (size_t row = 0; row < kSequences; ++row) {
      const double a = x[row * kN + i] - static_cast<double>(i);
      const double b = y[row * kN + j] - static_cast<double>(j);
      xy += a * b;
      xx += a * a;
      yy += b * b;
    }
    return xy / std::sqrt(xx * yy);
  };
  const double limit = 5 / std::sqrt(static_cast<double>(kSequences));
  for (size_t m = 0; m < kN; ++m) {
    BOOST_TEST(std::abs(correlation(shifts, 0, jitter, m)) < limit, m);
    BOOST_TEST(std::abs(correlation(stretch, 5, jitter, m) -
                        correlation(stretch, 5, jitter, (m + 1) % kN)) < 2 * limit,
               m);
    if (m > 0) BOOST_TEST(std::abs(correlation(jitter, 0, jitter, m)) < limit, m);
  }
  BOOST_TEST(std::abs(correlation(shifts, 0, shifts, 5) - 1) < 1e-9);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
