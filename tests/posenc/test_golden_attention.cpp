// The small attention problems of golden/attention.json, from the expression of the encoding to the
// gradients of its parameters.
#include <boost/test/unit_test.hpp>

#include "engine/base/file.h"
#include "tests/support/golden_attention.h"
#include "tests/support/random_tensor.h"
#include "tests/support/temp_folder.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_golden_attention)  // ctest: on_cuda arm64
namespace {

using namespace golden_attention;

BOOST_AUTO_TEST_CASE(no_encoding) { check_case("none", "none"); }

BOOST_AUTO_TEST_CASE(alibi_after_and_before_the_scale) {
  check_case("alibi", "alibi");
  check_case("alibi_pre_scale", "alibi(bias_scale=0.35355339059327373)");
}

// `name(r1=[...], ...)` with the parameters of the golden case of that name.
void check_learned(const std::string& name) {
  std::string arguments;
  for (const auto& [parameter, values] : case_named(name)["config"].items())
    arguments += concat(arguments.empty() ? "" : ", ", parameter, '=', list_text(values));
  check_case(name, concat(name, '(', arguments, ')'));
}

BOOST_AUTO_TEST_CASE(learned_slopes_with_their_gradients) {
  check_learned("alibi_learned");
  check_case("alibi_learned", "alibi_learned");
}

BOOST_AUTO_TEST_CASE(kerple_with_the_gradients_of_its_parameters) {
  for (const char* name : {"kerple_log", "kerple_power", "kerple_log3", "bias_wht"})
    check_learned(name);
}

BOOST_AUTO_TEST_CASE(gaussian_kernels_with_the_gradients_of_their_parameters) {
  for (const char* name : {"gauss_bias2", "gauss_bias3", "gauss_wht1", "gauss_wht2"})
    check_learned(name);
}

// The same encodings as formulas of the user's own.
BOOST_AUTO_TEST_CASE(kernels_written_down_with_the_gradients_of_their_parameters) {
  for (const auto& [name, formulas] : {std::pair{"kerple_log", "bias=-r1*log(1+r2*d)"},
                                       {"kerple_log3", "bias=-r1*log(1+r2*d^r3)"},
                                       {"bias_wht", "bias=-r1*d^r2, weight=exp(-r3*d^r4)"},
                                       {"gauss_bias3", "r1*exp(-r2*d^r3)"}}) {
    std::string arguments = formulas;
    for (const auto& [parameter, values] : case_named(name)["config"].items())
      arguments += concat(", ", parameter, '=', list_text(values));
    check_case(name, concat("kernel(", arguments, ')'));
  }
}

BOOST_AUTO_TEST_CASE(sandwich) { check_case("sandwich", "sandwich(8)"); }

BOOST_AUTO_TEST_CASE(sandwich_with_learned_ratios_and_their_gradients) {
  const Json& config = case_named("sandwich_learned")["config"];
  check_case("sandwich_learned",
             concat("sandwich_learned(8, theta=", list_text(config["theta"]), ')'));
  check_case("sandwich_learned", "sandwich_learned(8)");
}

BOOST_AUTO_TEST_CASE(t5_with_the_gradient_of_its_table) {
  const TempFolder folder;
  std::string csv;
  for (const auto& row : case_named("t5")["config"]["table"])
    csv += concat(row[0].dump(), ',', row[1].dump(), '\n');
  write_file_atomic(folder / "t.csv", csv);
  check_case("t5", concat("t5(4, max_distance=6, table=@\"", (folder / "t.csv").string(), "\")"));
}

BOOST_AUTO_TEST_CASE(windows) {
  check_case("window", "window(3)");
  check_case("window_alibi", "window(3) + alibi");
}

// Rotary scores do not change when all positions move: the last rows of a longer sequence equal the
// rows of the same tokens at the start, if a window hides the earlier tokens.
BOOST_AUTO_TEST_CASE(relative_encodings_do_not_see_a_shift) {
  const int64_t shift = 5, length = size("length"), n_head = size("heads");
  for (const char* expression :
       {"rope", "alibi", "kerple_log", "bias_wht", "t5", "sandwich", "rope + alibi"}) {
    const Composition c(expression, {.n_head = n_head, .head_dim = 8, .dtype = DType::f64});
    const auto out = [&](int64_t offset) {  // the same tokens at positions offset ...
      const int64_t n = offset + length;
      const Composition::Layer all = c.plan(n, n, Phase::eval).layers[0];
      const Composition::Layer layer = c.plan(length, length, Phase::eval).layers[0];
      Rotation rotation;
      if (all.rotation.cos.defined())
        rotation = {.cos = slice(all.rotation.cos, 0, offset, n),
                    .sin = slice(all.rotation.sin, 0, offset, n)};
      std::vector<Tensor> parts;
      for (const char* name : {"q", "k", "v"})
        parts.push_back(reshape(rows_of(file()[name], DType::f64), {1, length, n_head, 1, 8}));
      const Heads heads = split_heads(
          reshape(farfield::concat(parts, 3), {1, length, 3 * n_head * 8}), n_head, rotation);
      return attention(heads.q, heads.k, heads.v, layer.rule, heads.far);
    };
    BOOST_TEST(all_close(out(shift), out(0), Tolerance(1e-12)), expression);
  }
}

// A window of one layer is the same as cutting the sequence off before it.
BOOST_AUTO_TEST_CASE(a_window_equals_a_shorter_context) {
  const int64_t n_head = 2, n = 9, w = 4, width = 8;
  for (const char* expression : {"none", "alibi", "sandwich"}) {
    const Config config{.n_head = n_head, .head_dim = width, .dtype = DType::f64};
    const Composition windowed(concat(expression, " + window(", w, ')'), config);
    const Composition plain(expression, config);
    const Tensor q = random_tensor({1, n_head, n, width}, 1), k = random_tensor(q.shape(), 2),
                 v = random_tensor(q.shape(), 3);
    const Tensor all = attention(q, k, v, rule_of(windowed, n));
    const auto tail = [&](const Tensor& x, int64_t count) { return slice(x, 2, n - count, n); };
    const Tensor last =
        attention(tail(q, 1), tail(k, w), tail(v, w), plain.plan(1, w, Phase::eval).layers[0].rule);
    BOOST_TEST(all_close(slice(all, 1, n - 1, n), last, Tolerance(1e-13)), expression);
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
