#include <boost/test/unit_test.hpp>

#include "engine/base/file.h"
#include "tests/support/golden_tables.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_t5)  // ctest: on_cuda sanitize
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;

// A CSV file of the rows of an array.
std::string csv(const nlohmann::json& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) text += concat(i == 0 ? "" : ",", row[i].dump());
    text += '\n';
  }
  return text;
}

// The bucket of every distance below n: the bias is the number of the bucket.
std::vector<double> buckets(int64_t num_buckets, int64_t max_distance, int64_t n) {
  const TempFolder folder;
  std::string text;
  for (int64_t b = 0; b < num_buckets; ++b) text += concat(b, '\n');
  write_file_atomic(folder / "t.csv", text);
  const Composition c(concat("t5(", num_buckets, ", max_distance=", max_distance,
                             ", bias_scale=1, table=@\"", (folder / "t.csv").string(), "\")"),
                      model_of(1));
  return rule_of(c, n).bias.to_vector();
}

BOOST_AUTO_TEST_CASE(buckets_equal_the_golden_ones) {
  for (const auto& c : golden("t5_buckets.json")["cases"]) {
    const std::vector<double> distances = golden_numbers(c["distances"]);
    const auto n = static_cast<int64_t>(*std::max_element(distances.begin(), distances.end())) + 1;
    const std::vector<double> all = buckets(c["num_buckets"], c["max_distance"], n);
    const std::vector<double> want = golden_numbers(c["bucket"]);
    for (size_t i = 0; i < distances.size(); ++i)
      BOOST_TEST(all[static_cast<size_t>(distances[i])] == want[i],
                 c["num_buckets"] << " buckets at distance " << distances[i]);
  }
}

// b is reached when (d/E)^(B-E) >= (M/E)^(b-E), which are integers once multiplied out.
BOOST_AUTO_TEST_CASE(buckets_of_other_sizes_agree_with_exact_arithmetic) {
  __extension__ using Wide = unsigned __int128;
  const auto power = [](int64_t x, int64_t n) {
    Wide product = 1;
    for (int64_t i = 0; i < n; ++i) product *= static_cast<Wide>(x);
    return product;
  };
  for (const int64_t num_buckets : {2, 4, 6, 8, 12, 16}) {
    const int64_t exact = num_buckets / 2, wide = num_buckets - exact;
    for (const int64_t max_distance : {9, 16, 27, 32, 64, 81, 100, 128, 256}) {
      if (max_distance <= exact) continue;
      const std::vector<double> got = buckets(num_buckets, max_distance, 300);
      for (int64_t d = 0; d < 300; ++d) {
        int64_t want = d;
        if (d >= exact)
          for (want = exact; want + 1 < num_buckets; ++want) {
            const int64_t k = want + 1 - exact;
            if (power(d, wide) * power(exact, k) < power(max_distance, k) * power(exact, wide))
              break;
          }
        BOOST_TEST_REQUIRE(got[static_cast<size_t>(d)] == static_cast<double>(want),
                           num_buckets << " buckets up to " << max_distance << " at " << d);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_last_of_the_default_buckets_starts_at_113) {
  const std::vector<double> all = buckets(32, 128, 200);
  BOOST_TEST(all[112] == 30);
  BOOST_TEST(all[113] == 31);
  BOOST_TEST(all[199] == 31);
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones_in_both_precisions) {
  for (const int64_t n_head : {12, 8}) {
    const TempFolder folder;
    const auto& file = golden_tables(n_head);
    const auto& entry = file["encodings"]["t5"];
    write_file_atomic(folder / "t.csv", csv(entry["params"]["table"]));
    const std::vector<double> distances = golden_numbers(file["distances"]);
    for (const DType dtype : {DType::f64, DType::f32}) {
      const Composition c(concat("t5(bias_scale=8, table=@\"", (folder / "t.csv").string(), "\")"),
                          model_of(n_head, dtype));
      BOOST_TEST(all_close(at_distances(rule_of(c, 8192).bias, distances),
                           golden_numbers(entry["b"]), table_tolerance(dtype)));
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  BOOST_TEST(parameter_gradients_agree(Composition("t5(6, max_distance=9)", model_of(3)), 14));
}

BOOST_AUTO_TEST_CASE(the_gain_is_the_root_of_head_dim_and_written_out) {
  Config config = model_of(2);
  config.head_dim = 64;
  BOOST_TEST(Composition("t5", config).canonical() == "t5(bias_scale=8)");
  BOOST_TEST(Composition("t5(bias_scale=1)", config).canonical() == "t5(bias_scale=1)");
  const Tensor bias = rule_of(Composition("t5(table=[0.5,-1])", config), 3).bias;
  BOOST_TEST(bias.to_vector() == (std::vector<double>{4, 4, 4, -8, -8, -8}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(initial_values_are_xavier_normal) {
  const auto parameters = Composition("t5(num_buckets=64)", model_of(200)).parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 1u);
  BOOST_TEST(parameters[0].name == "t5.table");
  BOOST_TEST((parameters[0].value.shape() == Shape{64, 200}));
  double sum = 0, squares = 0, fourth = 0;
  for (const double x : parameters[0].value.to_vector()) {
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  const double n = 64 * 200, variance = 2.0 / 264;
  BOOST_TEST(std::abs(sum / n) < 4 * std::sqrt(variance / n));
  BOOST_TEST(std::abs(squares / n / variance - 1) < 4 * std::sqrt(2 / n));
  BOOST_TEST(std::abs(fourth / n / (variance * variance) - 3) < 4 * std::sqrt(96 / n));
}

BOOST_AUTO_TEST_CASE(all_layers_share_one_table_unless_told_otherwise) {
  BOOST_TEST(Composition("t5", model_of(2)).parameters().size() == 1u);
  const auto own = Composition("t5(share=layer)", model_of(2)).parameters();
  BOOST_TEST_REQUIRE(own.size() == 3u);
  BOOST_TEST(own[1].name == "t5.layer1.table");
  BOOST_TEST((own[0].value.to_vector() != own[1].value.to_vector()));
}

BOOST_AUTO_TEST_CASE(without_learning_the_table_stays_as_it_starts) {
  const Composition fixed("t5(learn=false)", model_of(2)), learned("t5", model_of(2));
  BOOST_TEST(fixed.parameters().empty());
  BOOST_TEST(same_bits(rule_of(fixed, 50).bias, rule_of(learned, 50).bias));
  BOOST_TEST(!rule_of(fixed, 50, Phase::train).bias.needs_grad());
}

// A file may change after training: what it said goes into the checkpoint.
BOOST_AUTO_TEST_CASE(a_fixed_table_from_a_file_is_kept_with_the_weights) {
  const TempFolder folder;
  write_file_atomic(folder / "t.csv", "1,2\n3,4\n");
  const Composition c(concat("t5(2, learn=false, table=@\"", (folder / "t.csv").string(), "\")"),
                      model_of(2));
  BOOST_TEST_REQUIRE(c.parameters().size() == 1u);
  BOOST_TEST(!c.parameters()[0].value.requires_grad());
  BOOST_TEST(!rule_of(c, 5, Phase::train).bias.needs_grad());
}

BOOST_AUTO_TEST_CASE(a_file_of_another_size_is_refused) {
  const TempFolder folder;
  write_file_atomic(folder / "t.csv", "1,2\n3,4\n");
  const std::string path = (folder / "t.csv").string();
  const auto refusal = [&](const std::string& more, int64_t n_head) {
    return message_of<IoError>(
        [&] { Composition(concat("t5(", more, "table=@", path, ")"), model_of(n_head)); });
  };
  BOOST_TEST(refusal("2, ", 2) == "");
  BOOST_TEST(refusal("2, ", 3) ==
             "[posenc] t5(table): " + path + ", line 1: expected 3 numbers, got 2");
  BOOST_TEST(refusal("", 2) ==
             "[posenc] t5(table): " + path + ": expected 32 lines of 2 numbers, got 2 lines");
}

BOOST_AUTO_TEST_CASE(wrong_sizes_and_values_are_refused) {
  BOOST_TEST(error_of_expression("t5(7)", model_of(2)) ==
             "[posenc] t5(num_buckets): expected an even number, got 7 at column 4\n"
             "  t5(7)\n"
             "     ^");
  BOOST_TEST(
      error_of_expression("t5(max_distance=16)", model_of(2)) ==
      "[posenc] t5(max_distance): expected more than the 16 distances with a bucket of their "
      "own, got 16 at column 17\n"
      "  t5(max_distance=16)\n"
      "                  ^");
  BOOST_TEST(error_of_expression("t5(table=xavier)", model_of(2))
                 .find("t5(table): expected a number or a list of them, one per head or @file, got "
                       "xavier at column 10") != std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
