// Rotations in the small attention problems of golden/attention.json, and what they do not see.
#include <boost/test/unit_test.hpp>

#include "tests/support/golden_attention.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_golden_rotations)  // ctest: on_cuda arm64
namespace {

using namespace golden_attention;

BOOST_AUTO_TEST_CASE(rope) {
  check_case("rope_half", "rope");
  check_case("rope_interleaved", "rope(layout=interleaved)");
  check_case("rope_partial", "rope(rotary_pct=0.5)");
}

BOOST_AUTO_TEST_CASE(scaled_rope) {
  check_case("rope_linear", "rope_linear(4)");
  check_case("rope_linear", "rope + interpolation(4)");
  check_case("rope_yarn", "rope_yarn(4)",
             case_named("rope_yarn")["config"]["original_length"].get<int64_t>());
}

BOOST_AUTO_TEST_CASE(xpos) {
  const Json& config = case_named("xpos")["config"];
  const auto scale_base = config["scale_base"].get<double>();
  check_case("xpos", concat("xpos(scale_base=", scale_base, ')'));
  check_case("xpos", concat("xpos(scale_base=", scale_base, ", centre=", 1.5, ')'));
}

BOOST_AUTO_TEST_CASE(rope_at_the_golden_draw_of_randomized_positions) {
  const int64_t length = size("length");
  for (const DType dtype : {DType::f64, DType::f32}) {
    Positions p = Positions::plain(length, length, Phase::train);
    p.ids = golden_numbers(case_named("rope_randomized")["config"]["positions"]);
    Rotation rotation = encoding_of("rope", golden_model(dtype, length))->rotate(p);
    for (Tensor* table : {&rotation.cos, &rotation.sin}) *table = cast(*table, dtype);
    check_layer("rope_randomized", {rotation, {}}, dtype);
  }
}

// The output for the golden q, k and v, once for each sequence, when batch `index` is drawn.
Tensor output(const std::string& expression, int64_t n_sequence, uint64_t index) {
  const int64_t length = size("length"), n_head = size("heads"), width = size("head_dim");
  const Composition c(expression, golden_model(DType::f64, length));
  const Composition::Layer layer =
      c.plan(length, length, Phase::train, {.n_sequence = n_sequence, .index = index}).layers[0];
  std::vector<Tensor> parts;
  for (const char* name : {"q", "k", "v"})
    parts.push_back(reshape(rows_of(file()[name], DType::f64), {1, length, n_head, 1, width}));
  const Tensor qkv = reshape(farfield::concat(parts, 3), {1, length, 3 * n_head * width});
  const Tensor batch =
      farfield::concat(std::vector<Tensor>(static_cast<size_t>(n_sequence), qkv), 0);
  const Heads heads = split_heads(batch, n_head, layer.rotation);
  return attention(heads.q, heads.k, heads.v, layer.rule, heads.far);
}

BOOST_AUTO_TEST_CASE(relative_encodings_do_not_see_a_remap_that_moves_all_positions) {
  for (const std::string relative :
       {"rope", "xpos(scale_base=16)", "rope_ntk(4)", "rope_yarn(2, original_length=64)",
        "rope_llama3", "alibi", "kerple_log", "sandwich + rope"}) {
    const Tensor still = output(relative, 1, 3);
    for (const std::string remap :
         {"shifted(step=100, span=1000)", "shape", "front_padding(300)"}) {
      const Tensor moved = output(relative + " + " + remap, 2, 3);
      for (const int64_t sequence : {0, 1})
        BOOST_TEST(all_close(slice(moved, 0, sequence, sequence + 1), still, Tolerance(1e-11)),
                   relative << " + " << remap);
    }
  }
}

BOOST_AUTO_TEST_CASE(rotations_see_a_remap_that_changes_distances) {
  const Tensor still = output("rope", 1, 3);
  for (const std::string remap : {"randomized(300)", "cape", "positional_jumps(9, block=2)",
                                  "block_repeat", "modulo(4, at=both)", "interpolation(4)"}) {
    const Tensor moved = output("rope + " + remap, 2, 3);
    const Tensor first = slice(moved, 0, 0, 1), second = slice(moved, 0, 1, 2);
    BOOST_TEST(!all_close(first, still, Tolerance(1e-3)), remap);
    const bool is_own = remap.starts_with("cape") || remap.starts_with("positional_jumps");
    BOOST_TEST(static_cast<bool>(all_close(first, second, Tolerance(1e-12))) != is_own, remap);
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
