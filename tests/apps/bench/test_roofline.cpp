#include <boost/test/unit_test.hpp>
#include <map>
#include <sstream>
#include <vector>

#include "apps/bench/commands.h"
#include "apps/bench/roofline_model.h"
#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_roofline)

using namespace farfield;
using namespace farfield::bench;

namespace {

std::string roofline(std::vector<const char*> words) {
  words.insert(words.begin(), {"bench", "roofline"});
  std::ostringstream out;
  BOOST_TEST(bench::bench(static_cast<int>(words.size()), words.data(), out) == cli::kDone);
  return out.str();
}

// One layer of width 64 with one head, an MLP of 256, a vocabulary of 128; 64 tokens.
ModelConfig small_model() {
  ModelConfig config;
  config.n_layer = config.n_head = 1;
  config.d_model = config.train_len = 64;
  config.d_ff = 256;
  config.vocab_size = 128;
  return config;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_part_takes_the_longest_of_its_bounds) {
  const CardSheet card = {"by hand", 10, 1e9, 1e12, 1e9, 64};
  BOOST_TEST(card.issue_per_s() == 1.28e12);
  BOOST_TEST(card.fp32_per_s() == 0.64e12);
  BOOST_TEST(card.shared_per_s() == 1e10);
  StepPart part = {"part", 2e9, 1e12, 1.28e12, 0.64e12};
  const PartTime by_memory = time_of(part, card, 1);
  BOOST_TEST(by_memory.total() == 2);
  BOOST_TEST(by_memory.bound() == "memory");
  const PartTime by_tensor = time_of(part, card, 0.25);
  BOOST_TEST(by_tensor.total() == 4);
  BOOST_TEST(by_tensor.bound() == "tensor");
  part.instructions *= 3;
  BOOST_TEST(time_of(part, card, 1).bound() == "issue");
  part.fp32 *= 5;
  BOOST_TEST(time_of(part, card, 1).bound() == "fp32");
  BOOST_TEST(time_of(part, card, 1).total() == 5);
  part.shared = 6e10;
  BOOST_TEST(time_of(part, card, 1).bound() == "shared");
  BOOST_TEST(time_of(part, card, 1).total() == 6);
}

BOOST_AUTO_TEST_CASE(the_parts_of_a_small_step_are_those_counted_by_hand) {
  const ModelConfig config = small_model();
  std::map<std::string, StepPart> parts;
  const CardSheet& card = card_sheet("H100");
  for (const StepPart& part : step_parts(config, 1, {tile_pairs(64, 0, 0), 1}, card))
    parts[part.name] = part;
  BOOST_TEST(parts.size() == 10u);
  BOOST_TEST(parts["head products"].tensor_flop == 6. * 64 * 64 * 128);
  BOOST_TEST(parts["head products"].bytes == 57344 + 40960 + 57344);
  BOOST_TEST(parts["cross entropy"].bytes == 8192 * 6);
  BOOST_TEST(parts["cross entropy"].instructions == 8192 / 4 * 155);
  BOOST_TEST(parts["layer products"].tensor_flop == 6. * 64 * (4 * 4096 + 2 * 64 * 256));
  BOOST_TEST(parts["layer products"].bytes == 196608 + 81920 + 2 * 253952);
  BOOST_TEST(parts["attention forward"].tensor_flop == 4. * 64 * 4096);
  BOOST_TEST(parts["attention forward"].bytes == 4. * 2 * 4096);
  BOOST_TEST(parts["attention backward"].tensor_flop == 14. * 64 * 4096);
  BOOST_TEST(parts["attention backward"].bytes == 13. * 2 * 4096 + 4 * 3 * 64 * 8);
  BOOST_TEST(parts["attention backward"].instructions ==
             4096 / 32 * (400.5 + 352.25) + 4096 / 16 * 2 * 241);
  BOOST_TEST(parts["attention backward"].shared == 4096 / (32 * 32) * (181 + 136));
  BOOST_TEST(parts["attention forward"].shared == 4096 / (32 * 32) * 84);
  BOOST_TEST(parts["turned heads"].bytes == 8. * 4096);
  BOOST_TEST(parts["GELU"].bytes == 10. * 64 * 256);
  BOOST_TEST(parts["LayerNorm"].bytes == 3. * 16 * 4096);
  BOOST_TEST(parts["AdamW"].bytes == 32. * static_cast<double>(parameter_count(config)) +
                                         2. * (4 * 4096 + 2 * 64 * 256 + 5 * 64 + 256 + 8192));
  BOOST_TEST(parts["embedding"].bytes == 8. * 4096 + 4 * 8192 + 4 * 4096 + 12 * 128);
  for (const StepPart& part :
       step_parts(config, 1, {tile_pairs(64, 0, 0), 1}, card, /*rounds_logits=*/true))
    parts[part.name] = part;
  BOOST_TEST(parts["head products"].bytes == 40960 + 40960 + 57344);
  BOOST_TEST(parts["cross entropy"].bytes == 8192 * 4);
  BOOST_TEST(parts["cross entropy"].instructions == 8192 / 8 * 303);
}

// Rows of up to 512 x 16 logits stay in registers, others in shared memory where it has room: of a
// vocabulary of 50304 that is 196.5 KiB in float32 and 98.25 KiB in bfloat16.
BOOST_AUTO_TEST_CASE(logits_are_read_again_where_the_card_has_no_room_for_a_row) {
  const auto bytes_of_logit = [](const char* card, int64_t vocab_size, bool rounds_logits) {
    ModelConfig config = small_model();
    config.vocab_size = vocab_size;
    const auto parts = step_parts(config, 1, {}, card_sheet(card), rounds_logits);
    BOOST_TEST_REQUIRE(parts[1].name == "cross entropy");
    return parts[1].bytes / static_cast<double>(config.train_len * vocab_size);
  };
  for (const char* card : {"H100", "H200"}) BOOST_TEST(bytes_of_logit(card, 50304, false) == 4 + 2);
  for (const char* card : {"A100", "RTX4090"})
    BOOST_TEST(bytes_of_logit(card, 50304, false) == 4 + 4 + 2);
  for (const CardSheet& card : card_sheets()) {
    BOOST_TEST(bytes_of_logit(card.name.c_str(), 50304, true) == 2 + 2);
    BOOST_TEST(bytes_of_logit(card.name.c_str(), 8192, false) == 4 + 2);
  }
  BOOST_TEST(bytes_of_logit("H100", 58080, false) == 4 + 2);
  BOOST_TEST(bytes_of_logit("H100", 58112, false) == 4 + 4 + 2);
  BOOST_TEST(bytes_of_logit("RTX4090", 51200, true) == 2 + 2 + 2);
}

BOOST_AUTO_TEST_CASE(attention_computes_the_tiles_with_a_visible_pair) {
  constexpr double kTile = 64 * 64;
  BOOST_TEST(tile_pairs(512, 0, 0) == 36 * kTile);
  BOOST_TEST(tile_pairs(100, 0, 0) == 3 * kTile);
  BOOST_TEST(tile_pairs(256, 64, 0) == 7 * kTile);
  BOOST_TEST(tile_pairs(256, 64, 4) == 9 * kTile);
}

// With one knot between the distances 99 and 100 a part has several segments where it has pairs on
// both sides of that.
BOOST_AUTO_TEST_CASE(parts_and_pieces_of_several_segments_are_counted) {
  RowBias bias;
  std::vector<double> feature, factor(256, 1);
  for (int d = 0; d < 256; ++d) feature.push_back(d);
  bias.feature = Tensor::from(feature, {256});
  bias.row_factor = Tensor::from(factor, {256});
  bias.knots = Tensor::from({99.5}, {1});
  const auto is_below = [](int64_t query, int64_t key) { return query - key < 100; };
  // Of the parts of n_query by n_key pairs, those with pairs on both sides.
  const auto on_both_sides = [&](int64_t n_query, int64_t n_key) {
    double pairs = 0;
    for (int64_t query = 0; query < 256; query += n_query)
      for (int64_t key = 0; key <= query / 64 * 64 + 63; key += n_key)
        if (is_below(query, key + n_key - 1) && !is_below(query + n_query - 1, key))
          pairs += static_cast<double>(n_query * n_key);
    return pairs;
  };
  const SegmentLoad load = segment_load(bias, 256, 0, 0);
  const auto check = [&](const PartLoad& part, double several, double first) {
    BOOST_TEST(part.one + part.several == tile_pairs(256, 0, 0));
    BOOST_TEST(part.several == several);
    BOOST_TEST(part.first == first);
    BOOST_TEST(part.further == 0);
  };
  check(load.forward, on_both_sides(32, 64), on_both_sides(32, 8));
  check(load.keys, on_both_sides(16, 32), on_both_sides(8, 32));
  check(load.queries, on_both_sides(32, 32), on_both_sides(32, 8));
  // 8 warps of 32 rows; the first query that reaches the distance of 100 is in the fourth
  BOOST_TEST(load.flushes == 3 + 2 * 5);

  bias.knots = Tensor::from({99.5, 99.6, 99.7}, {3});
  const SegmentLoad with_three = segment_load(bias, 256, 0, 0);
  BOOST_TEST(with_three.forward.several == load.forward.several);
  BOOST_TEST(with_three.forward.first == load.forward.first);
  BOOST_TEST(with_three.forward.further == 2 * load.forward.first);
  BOOST_TEST(with_three.flushes > load.flushes);
}

// By warpgroups on Hopper, and by warps elsewhere, and with heads of other sizes.
BOOST_AUTO_TEST_CASE(attention_costs_what_the_kernels_of_a_card_do) {
  const ModelConfig config = small_model();
  const auto instructions_of = [&](const char* card, size_t part, const AttentionLoad& load) {
    return step_parts(config, 1, load, card_sheet(card))[part].instructions;
  };
  const AttentionLoad bias{4096, 0, 4096}, weight{4096, 0, 0, 1024};
  BOOST_TEST(instructions_of("H200", 4, bias) == 4096 / 32 * (531 + 352.25));
  BOOST_TEST(instructions_of("H200", 4, weight) ==
             3072 / 32 * (400.5 + 352.25) + 1024 / 32 * (723.25 + 433.75));
  BOOST_TEST(instructions_of("H200", 3, weight) == 3072 / 32 * 323.25 + 1024 / 32 * 372.25);
  BOOST_TEST(instructions_of("A100", 4, bias) == 4096 / 32 * (782.5 + 473));
  BOOST_TEST(instructions_of("A100", 4, weight) ==
             3072 / 32 * (617 + 473) + 1024 / 16 * 735.5 + 1024 / 32 * 549);
  BOOST_TEST(instructions_of("A100", 3, weight) == 3072 / 64 * 833 + 1024 / 64 * 917);
  ModelConfig narrow = config;
  narrow.n_head *= 2;
  BOOST_TEST(step_parts(narrow, 1, bias, card_sheet("H200"))[4].instructions ==
             instructions_of("A100", 4, bias));
}

BOOST_AUTO_TEST_CASE(a_row_bias_costs_what_its_segments_do) {
  AttentionLoad load = {.score_pairs = 4096, .pairs_of_row_bias = 1024};
  load.segments = {{512, 512, 256, 128}, {1024, 0, 0, 0}, {1024, 0, 0, 0}, 3};
  const auto parts = step_parts(small_model(), 1, load, card_sheet("A100"));
  BOOST_TEST(parts[3].instructions ==
             3072. / 64 * 833 + 512. / 64 * (950 + 1060) + 256. / 8 * 49 + 128. / 8 * 42);
  BOOST_TEST(parts[4].instructions ==
             3072. / 32 * (617 + 473) + 1024. / 16 * 671 + 1024. / 32 * 686 + 3 * 32 * 76);
}

BOOST_AUTO_TEST_CASE(the_command_prints_parts_formula_and_that_nothing_was_measured) {
  const TempFolder folder;
  const std::string csv = (folder / "roofline.csv").string();
  const std::string text =
      roofline({"--preset", "smoke", "--batch", "2", "--train-len", "64", "--posenc",
                "rope + window(16)", "--card", "A100", "--csv", csv.c_str()});
  for (const char* part : {"a model, not a measurement", "memory = bytes / bandwidth",
                           "shared = accesses of shared memory",
                           "A100: 108 SMs, 1.41 GHz, bf16 peak 312.0 TFLOP/s", "MFU"})
    BOOST_TEST(text.find(part) != std::string::npos, part << " is not in " << text);
  const auto rows = cli::parse_csv(csv, read_file(csv));
  BOOST_TEST_REQUIRE(rows.size() == 11u);
  BOOST_TEST(rows[0][0] == "part");
  BOOST_TEST(rows[1][0] == "head products");
}

BOOST_AUTO_TEST_CASE(what_the_model_does_not_have_is_refused) {
  const auto refused = [](std::vector<const char*> words, const char* why) {
    BOOST_CHECK_EXCEPTION(roofline(std::move(words)), ConfigError, says(why));
  };
  refused({"--card", "H10"}, "--card: expected H100, H200, A100 or RTX4090, got 'H10'");
  refused({"--efficiency", "0"}, "--efficiency: expected a number above 0, at most 1, got 0");
  refused({"--logits", "fp16"}, "--logits: expected fp32 or bf16, got 'fp16'");
  refused({"--batch", "0"}, "expected batch >= 1, got 0");
  refused({"--posenc", "alibo"}, "alibo");
  refused({"--preset", "smoke", "--posenc", "relu_attention"}, "tables by distance");
  refused({"--preset", "smoke", "--posenc", "fire + alibi"}, "a row bias alone");
  refused({"--preset", "baevski-247m"}, "adaptive softmax");
}

BOOST_AUTO_TEST_SUITE_END()
