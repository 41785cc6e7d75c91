#include <boost/test/unit_test.hpp>
#include <cmath>
#include <tuple>
#include <vector>

#include "apps/sweep/evidence.h"

using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_evidence)

BOOST_AUTO_TEST_CASE(nothing_to_judge_by_is_not_run) {
  BOOST_TEST((Evidence().verdict() == Verdict::not_run));
}

BOOST_AUTO_TEST_CASE(all_have_to_hold) {
  Evidence e;
  e.at_most("a", 1, 1);
  e.at_least("b", 2, 2);
  e.within("c", 1.01, 1, 0.0100001);
  e.below("d", 0.9, 1);
  e.above("e", 1.1, 1);
  BOOST_TEST((e.verdict() == Verdict::pass));
  e.below("f", 1, 1);
  BOOST_TEST((e.verdict() == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(a_number_that_is_missing_is_no_failure) {
  Evidence e;
  e.at_most("a", std::nan(""), 1);
  e.above("b", 2, std::nan(""));
  e.at_least("c", 2, std::nan(""));
  e.at_most("d", 2, std::nan(""));
  BOOST_TEST((e.verdict() == Verdict::not_run));
  BOOST_TEST(e.items()[1].is_missing);
}

BOOST_AUTO_TEST_CASE(one_that_fails_decides_beside_missing_ones) {
  Evidence e;
  e.missing("a");
  e.at_most("b", 2, 1);
  BOOST_TEST((e.verdict() == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(a_model_that_diverged_is_a_number) {
  Evidence e;
  e.at_least("ratio", INFINITY, 1.3);
  BOOST_TEST((e.verdict() == Verdict::pass));
}

BOOST_AUTO_TEST_CASE(items_say_the_data_set_and_the_threshold) {
  Evidence e;
  e.set_text("latex", true);
  e.at_most("PPL 2 L / PPL L", 1.02, 1.01);
  BOOST_TEST(e.items().front().what == "latex, PPL 2 L / PPL L");
  BOOST_TEST(e.items().front().condition == "at most 1.01");
}

BOOST_AUTO_TEST_CASE(margins_say_how_near_a_number_is_to_its_threshold) {
  Evidence e;
  e.at_most("a", 0.9, 1);
  e.above("b", 1, 2);
  e.within("c", 1.01, 1, 0.03);
  e.at_least("d", INFINITY, INFINITY);
  BOOST_TEST(e.items()[0].margin == 0.1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(e.items()[1].margin == -0.5);
  BOOST_TEST(e.items()[2].margin == 0.02, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(e.items()[3].margin == 0);
}

namespace {

// A number below 1 of each seed, or above it.
Evidence of_seeds(const std::vector<double>& values, const std::string& text = {}) {
  std::vector<Evidence> seeds;
  for (const double value : values) {
    seeds.emplace_back().set_text(text, !text.empty());
    seeds.back().below("a", value, 1);
  }
  return Evidence::pooled(seeds);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_spread_over_seeds_that_reaches_the_threshold_decides_nothing) {
  BOOST_TEST((of_seeds({0.8, 0.81, 0.79}).verdict() == Verdict::pass));
  BOOST_TEST((of_seeds({0.8, 0.95, 0.99}).verdict() == Verdict::undecided));
  BOOST_TEST((of_seeds({1.2, 1.21, 1.19}).verdict() == Verdict::fail));
  BOOST_TEST((of_seeds({0.8, 1.2}).verdict() == Verdict::undecided));
  BOOST_TEST((of_seeds({0.99}).verdict() == Verdict::pass));  // nothing is known of its spread
  BOOST_TEST(of_seeds({0.99}).n_seed() == 1u);
  BOOST_TEST(of_seeds({0.8, 0.81, 0.79}).items()[0].value == 0.8,
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(ratios_spread_by_factors) {
  // 7, 15 and 40 lie far above 1.5 though their standard deviation is large.
  std::vector<Evidence> seeds;
  for (const double value : {7.0, 15.0, 40.0}) seeds.emplace_back().above("a", value, 1.5);
  BOOST_TEST((Evidence::pooled(seeds).verdict() == Verdict::pass));
}

BOOST_AUTO_TEST_CASE(a_number_is_judged_over_the_seeds_that_have_it) {
  std::vector<Evidence> seeds(3);
  const double missing = std::nan("");
  for (const auto& [seed, a, b] :
       {std::tuple(0, 0.9, 0.5), std::tuple(1, missing, 0.51), std::tuple(2, missing, 0.49)}) {
    seeds[static_cast<size_t>(seed)].below("a", a, 1);
    seeds[static_cast<size_t>(seed)].below("b", b, 1);
  }
  const Evidence all = Evidence::pooled(seeds);
  BOOST_TEST((all.verdict() == Verdict::pass));
  BOOST_TEST(all.items()[0].by_seed.size() == 1u);
  BOOST_TEST(all.items()[1].by_seed.size() == 3u);
  BOOST_TEST(all.n_seed() == 1u);  // a pass needs both
}

BOOST_AUTO_TEST_CASE(a_verdict_says_which_texts_have_one_seed) {
  const auto note = [](std::initializer_list<Evidence> parts) {
    Evidence all;
    for (const Evidence& part : parts) all.add(part);
    return all.one_seed_note();
  };
  const Evidence code = of_seeds({0.8, 0.81, 0.79}, "code"), prose = of_seeds({0.8}, "prose"),
                 bad_code = of_seeds({1.2, 1.21, 1.19}, "code"),
                 bad_prose = of_seeds({1.2}, "prose");
  BOOST_TEST(note({code}) == "");
  BOOST_TEST(note({prose}) == "one seed");
  BOOST_TEST(note({code, prose}) == "one seed on prose");
  BOOST_TEST(note({code, bad_prose}) == "one seed on prose");
  BOOST_TEST(note({bad_code, prose}) == "");  // that failure has three seeds
  BOOST_TEST(note({bad_code, bad_prose}) == "");
}

BOOST_AUTO_TEST_CASE(a_seed_that_diverged_stays) {
  const Evidence all = of_seeds({0.8, INFINITY, 0.8});
  BOOST_TEST(std::isinf(all.items()[0].value));
  BOOST_TEST((all.verdict() == Verdict::undecided));
  BOOST_TEST((of_seeds({INFINITY, INFINITY}).verdict() == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(yes_or_no_has_no_mean) {
  const auto verdict = [](std::vector<bool> answers) {
    std::vector<Evidence> seeds;
    for (const bool is_so : answers) seeds.emplace_back().holds("a", is_so, 62, "near 64");
    return Evidence::pooled(seeds).verdict();
  };
  BOOST_TEST((verdict({true, true, true}) == Verdict::pass));
  BOOST_TEST((verdict({false, false}) == Verdict::fail));
  BOOST_TEST((verdict({true, false, true}) == Verdict::undecided));
}

BOOST_AUTO_TEST_CASE(intervals_of_single_numbers_are_pooled_not_averaged) {
  const auto verdict = [](double half_width, size_t n) {
    std::vector<Evidence> seeds(n);
    for (Evidence& seed : seeds) seed.below("slope", -0.05, 0).half_width = half_width;
    return Evidence::pooled(seeds).verdict();
  };
  BOOST_TEST((verdict(0.08, 1) == Verdict::undecided));
  BOOST_TEST((verdict(0.04, 1) == Verdict::pass));
  BOOST_TEST((verdict(0.08, 4) == Verdict::pass));  // 0.08 / sqrt(4)
}

BOOST_AUTO_TEST_CASE(what_decides_nothing_is_undecided_whatever_the_others_say) {
  Evidence e;
  e.below("a", 0, 1);
  e.undecided("b", 2, "apart by a doubling");
  BOOST_TEST((e.verdict() == Verdict::undecided));
  BOOST_TEST((Evidence::pooled({e, e}).verdict() == Verdict::undecided));
  e.below("c", 2, 1);
  BOOST_TEST((e.verdict() == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(seeds_on_both_sides_of_a_target_are_not_near_it_for_sure) {
  const auto verdict = [](const std::vector<double>& values) {
    std::vector<Evidence> seeds;
    for (const double value : values) seeds.emplace_back().within("a", value, 1, 0.01);
    return Evidence::pooled(seeds).verdict();
  };
  BOOST_TEST((verdict({0.994, 1.006}) == Verdict::undecided));
  BOOST_TEST((verdict({0.9999, 1.0001}) == Verdict::pass));
  BOOST_TEST((verdict({1.02, 1.0201, 1.0199}) == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(a_number_that_is_zero_for_one_seed_is_judged_by_differences) {
  std::vector<Evidence> seeds;
  for (const double share : {0.09, 0.03, 0.0}) seeds.emplace_back().above("a", share, 0.95);
  BOOST_TEST((Evidence::pooled(seeds).verdict() == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(a_number_that_cannot_tell_for_one_seed_cannot_for_all) {
  std::vector<Evidence> seeds(2);
  seeds[0].above("a", 2, 1);
  seeds[1].undecided("a", 2, "apart by a doubling");
  const Evidence all = Evidence::pooled(seeds);
  BOOST_TEST((all.verdict() == Verdict::undecided));
  BOOST_TEST(all.items()[0].condition == "apart by a doubling");
}

BOOST_AUTO_TEST_CASE(what_is_missing_in_a_seed_without_data_does_not_hide_the_others) {
  std::vector<Evidence> seeds(2);
  seeds[0].within("w = 4: ratio", 1, 1, 0.01);
  seeds[1].missing("w = 4: ERF");  // asked before the ratio, only where it is not there
  BOOST_TEST((Evidence::pooled(seeds).verdict() == Verdict::pass));
  std::vector<Evidence> none(2);
  for (Evidence& seed : none) seed.missing("w = 4: ERF");
  BOOST_TEST((Evidence::pooled(none).verdict() == Verdict::not_run));
}

BOOST_AUTO_TEST_CASE(an_interval_that_the_seeds_share_does_not_shrink_with_them) {
  std::vector<Evidence> seeds(4);
  for (Evidence& seed : seeds) {
    Evidence::Item& item = seed.above("correlation", 0.8, 0.7);
    item.half_width = 0.15;
    item.is_same_in_all_seeds = true;
  }
  BOOST_TEST((Evidence::pooled(seeds).verdict() == Verdict::undecided));
}

BOOST_AUTO_TEST_SUITE_END()
