#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "apps/bench/card.h"
#include "apps/bench/commands.h"
#include "apps/bench/encodings.h"
#include "apps/bench/products.h"
#include "apps/bench/random_tensor.h"
#include "apps/bench/report.h"
#include "apps/bench/step_parts.h"
#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "apps/train/peak.h"
#include "engine/base/file.h"
#include "engine/ops/cross_entropy.h"
#include "posenc/registry.h"
#include "tests/support/messages.h"
#include "tests/support/on_cuda.h"
#include "tests/support/temp_folder.h"

namespace farfield::bench {
BOOST_AUTO_TEST_SUITE(test_bench)  // ctest: on_cuda:slow
namespace {

std::string run(std::vector<const char*> words) {
  words.insert(words.begin(), "bench");
  std::ostringstream out;
  BOOST_TEST(bench(static_cast<int>(words.size()), words.data(), out) == cli::kDone);
  return out.str();
}

BOOST_AUTO_TEST_CASE(help_names_every_command_and_every_command_has_help) {
  const std::string help = run({"--help"});
  for (const cli::Command& command : bench_commands()) {
    BOOST_TEST(help.find(command.name + " ") != std::string::npos);
    const std::string own = run({command.name.c_str(), "--help"});
    BOOST_TEST(own.find("usage: bench " + command.name) != std::string::npos);
    if (command.name != "roofline")  // which measures nothing
      BOOST_TEST(own.find("--rounds") != std::string::npos);
    BOOST_TEST(own.find("--csv FILE") != std::string::npos);
    BOOST_TEST(own.find("--markdown") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_step_is_measured_for_each_encoding_beside_none) {
  const TempFolder folder;
  const std::string csv = (folder / "step.csv").string();
  const std::string text =
      run({"step", "--preset", "smoke", "--train-len", "16", "--batch", "2", "--rounds", "1",
           "--posenc", "none, kerple_log", "--checkpoint", "--csv", csv.c_str()});
  BOOST_TEST(text.find("its matrix products alone") != std::string::npos);
  const auto rows = cli::parse_csv(csv, read_file(csv));
  BOOST_TEST_REQUIRE(rows.size() == 3u);
  BOOST_TEST(rows[1][0] == "none");
  BOOST_TEST(rows[1][8] == "1.000");
  BOOST_TEST(rows[2][0] == "kerple_log");
  for (size_t row = 1; row < rows.size(); ++row) {
    BOOST_TEST(std::stod(rows[row][1]) > 0);
    BOOST_TEST(std::stod(rows[row][9]) > 0);
  }
  BOOST_TEST(text.find("kerple_log: forward ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_step_is_taken_apart_into_kernels_by_kind) {
  if (test::is_on_cuda()) return;  // the clock knows kernels of the CPU alone
  const std::string printed =
      run({"step", "--preset", "smoke", "--train-len", "16", "--batch", "2", "--posenc", "rope",
           "--rounds", "2", "--device", "cpu", "--parts"});
  for (const char* part : {"products, bias, GELU", "attention", "norms", "head, cross entropy",
                           "optimizer", "embedding", "nodes, allocation"})
    BOOST_TEST(printed.find(part) != std::string::npos, part << " in\n" << printed);
  BOOST_TEST(printed.find("of the step is work for all of them") != std::string::npos, printed);
}

BOOST_AUTO_TEST_CASE(the_least_time_of_a_part_is_by_its_flop_or_its_bytes) {
  ModelConfig config = preset("small");
  config.train_len = 128;
  const auto least = [&](const char* part, double peak, double copy) {
    return least_time_of(part, config, 16, DType::f32, 100, peak, copy);
  };
  constexpr double kNone = 1e300;
  const double n = 16 * 128, d = static_cast<double>(config.d_model),
               head = 6e-9 * n * d * static_cast<double>(config.vocab_size),
               layers = static_cast<double>(config.n_layer);
  const auto tolerance = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(least("products, bias, GELU", 50, kNone) == (100 - head) / 50, tolerance);
  BOOST_TEST(least("head, cross entropy", 50, kNone) == head / 50, tolerance);
  BOOST_TEST(least("attention", 1, kNone) == 1e-9 * layers * 14 * d * n * 64.5, tolerance);
  BOOST_TEST(least("attention", kNone, 1) == layers * n * d * 12 * 4, tolerance);
  BOOST_TEST(least("norms", 1, 1) == (2 * layers + 1) * n * d * 8 * 4, tolerance);
  BOOST_TEST(least("optimizer", 1, 1e6) == 32e-6 * static_cast<double>(parameter_count(config)),
             tolerance);
  BOOST_TEST(least("embedding", 1, 1) == 0);
}

BOOST_AUTO_TEST_CASE(attention_is_measured_in_both_precisions_with_and_without_gradients) {
  for (const char* precision : {"fp32", "bf16"})
    for (const bool forward : {false, true}) {
      std::vector<const char*> words = {"attention", "--lengths",   "7,40",   "--heads",
                                        "2",         "--head-dim",  "8",      "--rounds",
                                        "1",         "--precision", precision};
      if (forward) words.push_back("--forward");
      const TempFolder folder;
      const std::string csv = (folder / "attention.csv").string();
      words.insert(words.end(), {"--csv", csv.c_str()});
      const std::string text = run(words);
      BOOST_TEST(text.find("kerple_log") != std::string::npos);
      BOOST_TEST(text.find(forward ? ", forward; " : ", forward and backward; ") !=
                 std::string::npos);
      const auto rows = cli::parse_csv(csv, read_file(csv));
      BOOST_TEST((rows[0][5] == "forward" && rows[0][6] == "backward"));
      for (size_t row = 1; row < rows.size(); ++row) {
        BOOST_TEST(std::stod(rows[row][5]) > 0);
        BOOST_TEST(rows[row][6].empty() == forward);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_forward_pass_is_measured_at_each_length) {
  const TempFolder folder;
  const std::string csv = (folder / "forward.csv").string();
  run({"forward", "--preset", "smoke", "--lengths", "16,200", "--batch", "2", "--rounds", "1",
       "--posenc", "none, alibi", "--csv", csv.c_str()});
  const auto rows = cli::parse_csv(csv, read_file(csv));
  BOOST_TEST_REQUIRE(rows.size() == 5u);
  BOOST_TEST((rows[1][0] == "none" && rows[1][1] == "16"));
  BOOST_TEST((rows[4][0] == "alibi" && rows[4][1] == "200"));
  for (size_t row = 1; row < rows.size(); ++row) BOOST_TEST(std::stod(rows[row][5]) > 0);
  BOOST_TEST(std::stod(rows[3].back()) > std::stod(rows[1].back()));  // memory
  BOOST_CHECK_EXCEPTION(run({"forward", "--lengths", "0"}), ConfigError,
                        says_exactly("[bench] expected lengths from 1 on, got 0"));
}

BOOST_AUTO_TEST_CASE(all_encodings_are_measured_against_none_and_what_cannot_be_is_said) {
  const TempFolder folder;
  const std::string csv = (folder / "all.csv").string();
  const auto all = bench_encodings({"alibi", "all", "none"});
  BOOST_TEST(all[0].posenc == "none");
  BOOST_TEST(all[1].posenc == "alibi");
  BOOST_TEST(all[1].is_asked_for);
  BOOST_TEST(!all[2].is_asked_for);
  BOOST_TEST(all.size() == posenc::registry().size());  // each once
  BOOST_TEST(bench_encodings({"rope(base=2)"}).size() == 1u);

  const std::string text = run({"attention", "--lengths", "6", "--heads", "2", "--head-dim", "8",
                                "--rounds", "1", "--posenc", "all", "--csv", csv.c_str()});
  const auto rows = cli::parse_csv(csv, read_file(csv));
  size_t n_left_out = 0;
  for (size_t at = text.find("left out at 6: "); at != std::string::npos;
       at = text.find("left out at 6: ", at + 1))
    ++n_left_out;
  BOOST_TEST(rows.size() - 1 + n_left_out == all.size(), text);
  BOOST_TEST(rows[1][0] == "none");
  for (size_t row = 2; row < rows.size(); ++row) BOOST_TEST(std::stod(rows[row][9]) > 0);

  const std::string steps = run({"step", "--preset", "smoke", "--train-len", "16", "--batch", "1",
                                 "--rounds", "1", "--posenc", "all"});
  BOOST_TEST(steps.find("sandwich") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_encoding_that_was_asked_for_is_not_left_out) {
  BOOST_CHECK_THROW(run({"attention", "--lengths", "64", "--posenc", "learned_abs(max_positions=8)",
                         "--rounds", "1"}),
                    ConfigError);
}

BOOST_AUTO_TEST_CASE(one_that_was_asked_for_and_is_refused_does_not_cancel_the_others) {
  const char* const words[] = {"bench", "forward",  "--preset", "smoke",    "--lengths",
                               "16",    "--rounds", "1",        "--posenc", "alib,none,alibi"};
  std::ostringstream out;
  BOOST_CHECK_EXCEPTION(bench(10, words, out), ConfigError, says("'alib'; did you mean 'alibi'?"));
  for (const char* part : {"\nnone ", "\nalibi ", "left out at 16: alib: "})
    BOOST_TEST(out.str().find(part) != std::string::npos, out.str());
}

BOOST_AUTO_TEST_CASE(what_memory_limits_is_held_against_a_copy) {
  for (const char* precision : {"fp32", "bf16"}) {
    const std::string text = run({"bandwidth", "--rows", "8", "--width", "16", "--vocab-size", "11",
                                  "--weights", "100", "--rounds", "1", "--precision", precision});
    for (const char* work : {"copy", "layer norm", "cross entropy", "AdamW", "of copy"})
      BOOST_TEST(text.find(work) != std::string::npos, work);
  }
}

BOOST_AUTO_TEST_CASE(generation_is_held_against_a_copy_and_a_peer) {
  for (const char* precision : {"fp32", "bf16"}) {
    const TempFolder folder;
    const std::string csv = (folder / "generate.csv").string();
    run({"generate", "--preset", "smoke", "--prompt", "9", "--tokens", "4", "--rounds", "1",
         "--precision", precision, "--csv", csv.c_str(), "--peer", "echo 0.5 0.25 #"});
    const auto rows = cli::parse_csv(csv, read_file(csv));
    BOOST_TEST_REQUIRE(rows.size() == 6u);
    BOOST_TEST(rows[2][0] == "prompt");
    BOOST_TEST(rows[2][1] == "9");
    BOOST_TEST(rows[3][0] == "new");
    BOOST_TEST(std::stod(rows[3][2]) > 0);
    BOOST_TEST(rows[3][6].ends_with("%"), rows[3][6]);
    BOOST_TEST(std::stod(rows[3][7]) > 0);
    BOOST_TEST(rows[5][2] == "12.0");  // 3 tokens in 0.25 s
  }
}

BOOST_AUTO_TEST_CASE(a_table_is_kept_row_by_row) {
  const TempFolder folder;
  const std::string csv = (folder / "table.csv").string();
  std::ostringstream out;
  cli::Printout page(out, "bench", /*is_json=*/false);
  Report report(page, {"a", "b"}, 4, {.csv = csv});
  report.add({"1", "2"});
  BOOST_TEST(read_file(csv) == "a,b\n1,2\n");
  report.add({"3", "4"});
  BOOST_TEST(read_file(csv) == "a,b\n1,2\n3,4\n");
}

BOOST_AUTO_TEST_CASE(the_peak_of_a_card_is_that_of_its_data_sheet) {
  BOOST_TEST(card_tflops("NVIDIA H200", DType::bf16) == 989.4);
  BOOST_TEST(card_tflops("NVIDIA H100 PCIe", DType::bf16) == 756);
  BOOST_TEST(card_tflops("NVIDIA A100-SXM4-80GB", DType::f32) == 19.5);
  BOOST_TEST(card_tflops("another", DType::bf16) == 0);
}

BOOST_AUTO_TEST_CASE(products_are_listed_with_a_total) {
  const std::string text = run({"matmul", "--preset", "smoke", "--batch", "1", "--rounds", "2"});
  BOOST_TEST(text.find("mlp out dw") != std::string::npos);
  BOOST_TEST(text.find("all of a step") != std::string::npos);
}

// 6 flop for each weight of a matrix and token.
BOOST_AUTO_TEST_CASE(the_products_of_a_step_are_six_flop_for_each_weight_and_token) {
  const ModelConfig config = preset("mini");
  const int64_t n_token = 4096, d = config.d_model;
  const auto products = step_products(config, n_token, false, DType::f32, Device::Kind::cpu);
  const int64_t weights =
      config.n_layer * (4 * d * d + 2 * d * config.d_ff) + config.vocab_size * d;
  const double want = 6e-9 * static_cast<double>(weights * n_token);
  BOOST_TEST(std::abs(ProductRunner(products).gflop() - want) < 1e-9 * want);
}

// As `linear` and `linear_cross_entropy` make them.
BOOST_AUTO_TEST_CASE(the_products_of_a_step_have_the_types_and_rows_of_training) {
  const ModelConfig config = preset("neox-162m");
  constexpr int64_t kTokens = 32 * 512;
  for (const auto kind : {Device::Kind::cpu, Device::Kind::cuda})
    for (const ProductShape& p : step_products(config, kTokens, false, DType::bf16, kind)) {
      const bool is_wide = p.kind == ProductShape::Kind::weight_gradient || p.name == "head y";
      BOOST_TEST(p.in == DType::bf16);
      BOOST_TEST(p.out == (is_wide ? DType::f32 : DType::bf16), p.name);
      if (p.name == "head y")
        BOOST_TEST(p.m == cross_entropy_chunk(kTokens, config.vocab_size, kind));
    }
}

BOOST_AUTO_TEST_CASE(operands_are_random_and_do_not_repeat_by_row) {
  constexpr int64_t kRows = 2100, kWidth = 512;  // more than what is drawn
  const auto x = random_tensor({kRows, kWidth}, "x", DType::f32, {}).to_vector();
  double sum = 0, squares = 0;
  for (const double value : x) {
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(x.size());
  BOOST_TEST(std::abs(sum / n) < 5e-3);
  BOOST_TEST(std::abs(squares / n - 1) < 5e-3);
  for (size_t row = 1; row < kRows; ++row) BOOST_TEST_REQUIRE(x[row * kWidth] != x[0], row);
  BOOST_TEST(random_tensor({1}, "x", DType::f32, {}).item() == x[0]);
  BOOST_TEST(random_tensor({1}, "y", DType::f32, {}).item() != x[0]);
}

BOOST_AUTO_TEST_CASE(the_peak_is_a_number_that_a_processor_can_have) {
  const double peak = train::fma_peak_gflops();
  BOOST_TEST(peak > 0.1);
  BOOST_TEST(peak < 1e6);
}

BOOST_AUTO_TEST_CASE(medians_and_ratios_are_those_of_the_middle) {
  analysis::Samples a, b;
  for (const double value : {3.0, 1.0, 100.0}) a.add(value);
  for (const double value : {1.0, 1.0, 50.0}) b.add(value);
  BOOST_TEST(a.median() == 3);
  BOOST_TEST(a.min() == 1);
  BOOST_TEST(a.max() == 100);
  BOOST_TEST(analysis::median_ratio(a, b) == 2);
  a.add(5);
  BOOST_TEST(a.median() == 4);
}

BOOST_AUTO_TEST_CASE(scaling_is_predicted_for_numbers_that_are_given) {
  std::ostringstream out;
  const std::vector<const char*> words = {"bench",        "scaling", "--preset",    "neox-162m",
                                          "--compute-ms", "43",      "--batch",     "32",
                                          "--processes",  "1,8,64",  "--bandwidth", "50"};
  BOOST_TEST(bench(static_cast<int>(words.size()), words.data(), out) == cli::kDone);
  for (const char* part : {"162.3M parameters in 20 buckets", "reduce = gather = buckets",
                           "left out: 64 processes and others that cannot share a batch of 32"})
    BOOST_TEST(out.str().find(part) != std::string::npos, part << " in\n" << out.str());
}

BOOST_AUTO_TEST_CASE(requests_that_make_no_sense_are_refused) {
  const auto refused = [](std::vector<const char*> words, const std::string& message) {
    words.insert(words.begin(), "bench");
    std::ostringstream out;
    BOOST_CHECK_EXCEPTION(bench(static_cast<int>(words.size()), words.data(), out), ConfigError,
                          says(message));
  };
  refused({"scaling", "--bandwidth", "0"}, "--bandwidth: expected a number above 0, got 0");
  refused({"matmull"},
          "[bench] expected a command out of attention, bandwidth, forward, generate, matmul, "
          "roofline, scaling, step, tokenize, got 'matmull'; did you mean 'matmul'?");
  refused({}, "[bench] expected a command");
  refused({"step", "--precision", "fp16"}, "[bench] expected precision fp32 or bf16, got 'fp16'");
  refused({"generate", "--tokens", "1"}, "2 new ones or more, got 512 and 1");
  refused({"step", "--rounds", "0"}, "[bench] expected rounds >= 1, got 0");
  refused({"step", "--batch", "0"}, "[bench] expected batch >= 1, got 0");
  refused({"matmul", "--threads", "0"}, "[threads] expected 1 to 1024 threads, got 0");
  refused({"attention", "--lengths", "0"}, "[bench] expected lengths from 1 on, got 0");
  refused({"attention", "--lenghts", "8"}, "'--lengths'");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::bench
