// The choice among the algorithms that the emulated library proposes: each sums the inner dimension
// in different parts, so that their bits differ.

#include <boost/test/unit_test.hpp>
#include <limits>

#include "engine/cuda/context.h"
#include "tests/engine/cuda/gemm_case.h"
#include "tests/engine/cuda/linear_case.h"
#include "tests/support/cuda/fault_in.h"
#include "tests/support/cuda/other_blas.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_blas_tuning)
namespace {

using emulation::emulated_blas;

const std::vector<double> kThirdIsFastest{3e6, 4e6, 1e6, 2e6};

GemmOperands operands(bool accumulate = false) {
  return {{9, 7, 300, false, true, 0, 0, 2}, DType::f32, DType::f32, accumulate};
}

// As the n-th algorithm alone would make it.
Tensor made_by(int n, const GemmOperands& of) {
  const emulation::Blas before = emulated_blas();
  emulated_blas().times_us.assign(4, 2e6);
  emulated_blas().times_us[static_cast<size_t>(n)] = 1e6;
  emulated_blas().changing = -1;
  Tensor result;
  tune_products(kCuda, [&] { result = of.result(kCuda); });
  emulated_blas() = before;
  return result;
}

BOOST_AUTO_TEST_CASE(the_fastest_algorithm_is_chosen_and_used_again) {
  const OtherBlas several(kThirdIsFastest);
  const GemmOperands of = operands();
  const Tensor first = made_by(0, of), third = made_by(2, of);
  BOOST_TEST(!same_bits(first, third));
  Tensor tuned;
  const ProductChoices choices = tune_products(kCuda, [&] {
    tuned = of.result(kCuda);
    BOOST_TEST(same_bits(of.result(kCuda), tuned));
  });
  BOOST_TEST(same_bits(tuned, third));
  BOOST_TEST(same_bits(of.result(kCuda), third));
  BOOST_TEST(choices.device == device_info(kCuda).name);
  BOOST_TEST(choices.library == "cuBLASLt 130002");
  BOOST_REQUIRE(choices.of.size() == 1u);
  const auto& [product, choice] = *choices.of.begin();
  BOOST_TEST(product ==
             "9 x 300 (ld 300, aligned to 16) by 300 x 7 transposed (ld 300, aligned to 16), "
             "float32 to float32 (ld 9, aligned to 16)");
  BOOST_TEST(choice.n_candidate == 4);
  BOOST_TEST(choice.time_us == 1e6, boost::test_tools::tolerance(0.1));
  BOOST_TEST(choice.first_us == 3e6, boost::test_tools::tolerance(0.1));

  use_product_choices(kCuda, {});
  BOOST_TEST(same_bits(of.result(kCuda), first));
  emulated_blas().n_algorithms = 0;  // what a search would find no longer matters
  use_product_choices(kCuda, parse_product_choices("f", to_text(choices)));
  BOOST_TEST(same_bits(of.result(kCuda), third));
}

BOOST_AUTO_TEST_CASE(a_product_that_is_added_is_added_once) {
  const OtherBlas several(kThirdIsFastest);
  const GemmOperands of = operands(/*accumulate=*/true);
  Tensor tuned;
  tune_products(kCuda, [&] { tuned = of.result(kCuda); });
  BOOST_TEST(same_bits(of.result(kCuda), tuned));
}

BOOST_AUTO_TEST_CASE(an_algorithm_whose_bits_change_is_not_chosen) {
  const OtherBlas several(kThirdIsFastest);
  emulated_blas().changing = 2;
  const GemmOperands of = operands();
  for (const bool accumulate : {false, true}) {
    const GemmOperands one = operands(accumulate);
    Tensor tuned;
    const ProductChoices choices = tune_products(kCuda, [&] { tuned = one.result(kCuda); });
    BOOST_TEST(same_bits(tuned, made_by(3, one)));
    BOOST_TEST(choices.of.begin()->second.time_us == 2e6, boost::test_tools::tolerance(0.1));
  }
}

BOOST_AUTO_TEST_CASE(where_no_algorithm_repeats_the_first_stays_and_is_said_to_change) {
  const OtherBlas several(kThirdIsFastest);
  const GemmOperands of = operands();
  const auto choice = [&] {
    return tune_products(kCuda, [&] { of.result(kCuda); }).of.begin()->second;
  };
  BOOST_TEST(choice().repeats);
  emulated_blas().n_algorithms = 1;
  emulated_blas().changing = 0;
  BOOST_TEST(!choice().repeats);
  BOOST_TEST(choice().time_us == 3e6, boost::test_tools::tolerance(0.1));
}

BOOST_AUTO_TEST_CASE(an_algorithm_that_fails_is_left_out) {
  const OtherBlas several(kThirdIsFastest);
  const GemmOperands of = operands();
  emulated_blas().failing = 2;
  Tensor tuned;
  const ProductChoices choices = tune_products(kCuda, [&] { tuned = of.result(kCuda); });
  BOOST_TEST(choices.of.begin()->second.n_candidate == 3);
  emulated_blas().failing = -1;
  BOOST_TEST(same_bits(tuned, made_by(3, of)));
  emulated_blas().n_algorithms = 1;
  emulated_blas().failing = 0;
  BOOST_CHECK_EXCEPTION(tune_products(kCuda, [&] { of.result(kCuda); }), BackendError,
                        says("[cuda] product of 9 x 300 and 300 x 7", "not supported"));
}

// It is no algorithm's fault then: all that comes afterwards would fail too.
BOOST_AUTO_TEST_CASE(a_trial_that_leaves_the_device_failed_ends_the_search) {
  const OtherBlas several(kThirdIsFastest);
  const GemmOperands of = operands(/*accumulate=*/true);
  for (const bool waits : {false, true}) {
    const WaitsForEach each(waits);
    // if the host waits for each operation, its name is in the message: "product of", "copy of"
    const auto tells = [&](const BackendError& error) {
      const std::string_view text = error.what();
      return text.ends_with(": an illegal memory access was encountered") &&
             (!waits ||
              (text.find(" of ") != text.npos && text.find("work of cuda:") == text.npos));
    };
    bool has_failed = true;
    for (int n = 1; has_failed; ++n) {
      const FaultIn fault(n);
      has_failed = false;
      try {
        tune_products(kCuda, [&] { of.result(kCuda); });
        synchronize(kCuda);
      } catch (const BackendError& error) {
        has_failed = true;
        BOOST_TEST(tells(error), n << ": " << error.what());
      }
    }
  }
}

constexpr WeightGradientCase kWeights{300, 9, 7};
const std::string kWeightsText =
    "7 x 300 transposed (ld 7, aligned to 16) by 300 x 9 (ld 9, aligned to 16), float32 to float32 "
    "(ld 9, aligned to 16)";

bool are_same(const Inputs& a, const Inputs& b) {
  return same_bits(a[0], b[0]) && same_bits(a[1], b[1]);
}
Inputs gradients() { return weight_gradients(kCuda, kWeights, DType::f32); }

BOOST_AUTO_TEST_CASE(dbias_is_given_by_the_fastest_that_has_the_same_sums_each_time) {
  const OtherBlas several(kThirdIsFastest);
  Inputs third;
  const ProductChoices choices = tune_products(kCuda, [&] {
    third = gradients();
    BOOST_TEST(are_same(gradients(), third));
  });
  BOOST_TEST(are_same(gradients(), third));
  BOOST_REQUIRE(choices.of.size() == 2u);  // dw alone was measured on the way
  BOOST_TEST(choices.of.count(kWeightsText) == 1u);
  const ProductChoice& choice = choices.of.at(kWeightsText + ", dbias (aligned to 16)");
  BOOST_TEST(choice.n_candidate == 5);
  BOOST_TEST(!choice.is_none());
  BOOST_TEST(choice.time_us == 0.9e6, boost::test_tools::tolerance(0.05));
  BOOST_TEST(choice.first_us == 2.9e6, boost::test_tools::tolerance(0.05));
  BOOST_TEST(choice.instead_us == 1e6, boost::test_tools::tolerance(0.05));

  for (int emulation::Blas::*mistake :
       {&emulation::Blas::changing_dbias, &emulation::Blas::omitting_dbias}) {
    emulated_blas().*mistake = 2;
    Inputs apart;
    const ProductChoices others = tune_products(kCuda, [&] { apart = gradients(); });
    emulated_blas().*mistake = -1;
    // By a pass and the third, whose dw is right.
    BOOST_TEST(others.of.at(kWeightsText + ", dbias (aligned to 16)").is_none());
    BOOST_TEST(same_bits(apart[0], third[0]));
    BOOST_TEST(!same_bits(apart[1], third[1]));
  }
  emulated_blas().n_algorithms = 0;  // what a search would find no longer matters
  use_product_choices(kCuda, parse_product_choices("f", to_text(choices)));
  BOOST_TEST(are_same(gradients(), third));
}

BOOST_AUTO_TEST_CASE(dbias_is_summed_apart_where_that_is_faster) {
  const OtherBlas several(kThirdIsFastest, /*sums_us=*/1e6);
  Inputs apart;
  const ProductChoices choices = tune_products(kCuda, [&] { apart = gradients(); });
  const ProductChoice& choice = choices.of.at(kWeightsText + ", dbias (aligned to 16)");
  BOOST_TEST(choice.is_none());
  BOOST_TEST(choice.time_us == choice.instead_us);
  BOOST_TEST(choice.first_us == 4e6, boost::test_tools::tolerance(0.05));
  BOOST_TEST(are_same(gradients(), apart));

  use_product_choices(kCuda, {});
  BOOST_TEST(!are_same(gradients(), apart));
  use_product_choices(kCuda, parse_product_choices("f", to_text(choices)));
  BOOST_TEST(are_same(gradients(), apart));
  emulated_blas().sums_factors = false;
  Inputs plain;
  tune_products(kCuda, [&] { plain = gradients(); });
  BOOST_TEST(are_same(plain, apart));
}

BOOST_AUTO_TEST_CASE(choices_of_another_device_or_library_are_refused) {
  const OtherBlas several(kThirdIsFastest);
  const GemmOperands of = operands();
  const ProductChoices choices = tune_products(kCuda, [&] { of.result(kCuda); });
  const auto refused = [](const ProductChoices& other) {
    BOOST_CHECK_EXCEPTION(
        use_product_choices(kCuda, other), ConfigError,
        says("[products] expected choices that were made on ", "whose algorithms are others"));
  };
  ProductChoices other = choices;
  other.device = "another";
  refused(other);
  other = choices;
  other.library = "cuBLASLt 120000";
  refused(other);

  // An algorithm of another problem, where the file was written by hand.
  other = choices;
  auto node = other.of.extract(other.of.begin());
  node.mapped().algorithm[0] ^= 1;
  other.of.insert(std::move(node));
  use_product_choices(kCuda, other);
  BOOST_CHECK_EXCEPTION(of.result(kCuda), BackendError,
                        says("[cuda] the algorithm that was chosen for a product of 9 x 300"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
