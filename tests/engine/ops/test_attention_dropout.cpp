// Attention with dropout of its probabilities.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/attention_problem.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_attention_dropout)  // ctest: on_cuda:slow
namespace {

using test::AttentionProblem;
using test::run;
using test::Sizes;
using Kind = Normalizer::Kind;

const DType kFloats[] = {DType::f64, DType::f32, DType::bf16};

AttentionProblem with_dropout(const Sizes& s, DType dtype, double p, uint64_t stream = 5) {
  AttentionProblem problem = test::make_problem(s, dtype);
  problem.rule.dropout = {.p = p, .random = {3, stream}};
  return problem;
}

BOOST_AUTO_TEST_CASE(every_combination_of_options_equals_the_reference) {
  for (const DType dtype : kFloats)
    for (int mask = 0; mask < 32; ++mask) {
      const Sizes s = mask % 3 == 0   ? Sizes{2, 1, 70, 130, 12}
                      : mask % 3 == 1 ? Sizes{1, 2, 211, 211, 8}
                                      : Sizes{2, 2, 37, 37, 128};
      AttentionProblem p = with_dropout(s, dtype, mask % 2 == 0 ? 0.1 : 0.4);
      if (mask & 1) p.add_bias();
      if (mask & 2) p.add_weight();
      if (mask & 4) p.add_row_scale();
      if (mask & 8) {
        p.add_far_heads();
        p.rule.switch_distance = 20;
      }
      if (mask & 16) test::add_row_bias(p, test::kKnots);
      const int64_t windows[] = {0, 50, 99, 120};
      p.rule.window = windows[mask % 4];
      p.rule.sinks = mask % 5 == 0 ? 3 : 0;
      const Normalizer normalizers[] = {{},
                                        {Kind::relu, 0.3, 2.5},
                                        {},
                                        {Kind::clamp_relative, 0.8},
                                        {Kind::relu_seqlen, 1},
                                        {Kind::linear}};
      // Of scores of any sign, the sum of a row may be small; it divides the rounding of out.
      p.rule.normalizer = normalizers[mask % (dtype == DType::bf16 ? 5 : 6)];
      test::compare(p, concat(s, " options ", mask));
    }
}

BOOST_AUTO_TEST_CASE(all_lengths_equal_the_reference) {
  for (const DType dtype : kFloats)
    for (const int64_t keys : {1, 2, 8, 9, 97, 700})
      for (const int64_t queries : {keys, int64_t{1}})
        test::compare(with_dropout({1, 2, queries, keys, 16}, dtype, 0.3),
                      concat(queries, " of ", keys));
}

BOOST_AUTO_TEST_CASE(a_part_of_the_heads_has_its_part_of_the_masks) {
  for (const DType dtype : kFloats)
    for (const int64_t n_head : {2, 5}) {
      AttentionProblem p = with_dropout({3, 2, 37, 45, 16}, dtype, 0.3);
      p.rule.dropout.first_head = 7;
      p.rule.dropout.n_head = n_head;
      test::compare(p, concat("of ", n_head, " heads"));
    }
}

BOOST_AUTO_TEST_CASE(gradients_equal_central_differences) {
  AttentionProblem p = with_dropout({2, 2, 5, 7, 3}, DType::f64, 0.4);
  p.add_bias();
  p.add_weight();
  test::check_differences(p);
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_changes_no_bit) {
  AttentionProblem p = with_dropout({1, 3, 300, 300, 16}, DType::f32, 0.1);
  p.add_bias();
  test::check_threads(p);
}

BOOST_AUTO_TEST_CASE(a_share_of_zero_changes_no_bit_and_the_mask_is_the_streams) {
  const Sizes s{1, 2, 70, 70, 16};
  const auto out = [&](double p, uint64_t stream) {
    return with_dropout(s, DType::f32, p, stream)();
  };
  BOOST_TEST(same_bits(out(0, 5), test::make_problem(s, DType::f32)()));
  BOOST_TEST(same_bits(out(1e-6, 5), out(0, 5)));  // rounded to 0
  BOOST_TEST(same_bits(out(0.1, 5), out(0.1, 5)));
  BOOST_TEST(!same_bits(out(0.1, 5), out(0.1, 6)));
}

// Values of 1: the output is the sum of what stays, whose mean is 1.
BOOST_AUTO_TEST_CASE(the_mean_stays) {
  AttentionProblem p = with_dropout({2, 4, 400, 400, 1}, DType::f64, 0.25);
  p.heads.v = Tensor::full(p.heads.v.shape(), 1, DType::f64);
  double mean = 0, square = 0;
  const std::vector<double> out = p().to_vector();
  for (const double x : out) {
    mean += x / static_cast<double>(out.size());
    square += (x - 1) * (x - 1) / static_cast<double>(out.size());
  }
  BOOST_TEST(std::abs(mean - 1) < 5 * std::sqrt(square / static_cast<double>(out.size())));
  BOOST_TEST(square > 1e-4);
}

BOOST_AUTO_TEST_CASE(a_share_out_of_range_is_refused) {
  for (const double p : {-0.1, 1.0, std::nan("")})
    BOOST_TEST(message_of<ConfigError>([&] {
                 with_dropout({1, 1, 2, 2, 2}, DType::f32, p)();
               }) ==
               concat("[attention] expected a dropout of a share from 0 to below 1, got ", p));
  AttentionProblem p = with_dropout({1, 2, 2, 2, 2}, DType::f32, 0.1);
  p.rule.dropout.n_head = 1;
  BOOST_TEST(message_of<ConfigError>([&] { p(); }) ==
             "[attention] expected a dropout for at least the 2 heads of q, got one for 1");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
