#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "engine/autograd.h"
#include "engine/base/random.h"
#include "posenc/composition.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_composition)  // ctest: on_cuda sanitize
namespace {

Config model() {
  Config config = model_of(4);
  config.n_layer = 6;
  return config;
}
std::string canonical(std::string_view expression) {
  return Composition(expression, model()).canonical();
}

BOOST_AUTO_TEST_CASE(the_canonical_text_is_sorted_and_free_of_defaults) {
  BOOST_TEST(canonical("window( 16 )+alibi(slopes=interp)") == "alibi + window(w=16)");
  BOOST_TEST(canonical("rope(base=10000, layout=half)") == "rope");
  BOOST_TEST(canonical("none + rope") == "rope");
  BOOST_TEST(canonical("sandwich(bar_d=128.0)") == "sandwich");
  BOOST_TEST(canonical("learned_abs") == "learned_abs(max_positions=16)");
}

BOOST_AUTO_TEST_CASE(layers_in_the_canonical_text_are_counted_from_the_start) {
  BOOST_TEST(canonical("rope@0..-2 + window(16)@0..-2 + alibi@-1") ==
             "alibi@5 + rope@0..4 + window(w=16)@0..4");
  BOOST_TEST(canonical("alibi@0..-1") == "alibi");
  BOOST_TEST(canonical("alibi@-3..4") == "alibi@3..4");
}

BOOST_AUTO_TEST_CASE(the_canonical_text_parses_to_itself) {
  for (const char* expression :
       {"none", "window(16)@0..-2 + rope(rotary_pct=0.25)@1..3 + alibi(slopes=[1,0.1,3e-20,0.25])",
        "kerple_log(r1=0.3, share=layer, constraint=softplus) + kerple_log + sinusoidal",
        "sandwich(64, h=[1,2,3,4], base=500.5, first_index=1)@2", "learned_abs + rope",
        "alibi(bias_scale=-0.35355339059327373)"}) {
    const std::string once = canonical(expression);
    BOOST_TEST(canonical(once) == once);
  }
}

BOOST_AUTO_TEST_CASE(slugs_are_fit_for_file_names_and_tell_expressions_apart) {
  std::set<std::string> slugs;
  for (const char* expression : {"alibi", "alibi(0.5)", "alibi(0.25)", "alibi@1", "rope + alibi",
                                 "window(3) + rope@0..2 + alibi(slopes=[1,0.5,0.25,0.125])"}) {
    const std::string slug = slug_of(Composition(expression, model()).canonical());
    BOOST_TEST(slug.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") ==
               std::string::npos);
    BOOST_TEST(slug.size() <= 50u);
    BOOST_TEST(slugs.insert(slug).second);
  }
  const std::string alibi = slug_of(Composition("alibi", model()).canonical());
  BOOST_TEST(alibi.substr(0, 6) == "alibi-");
  BOOST_TEST(alibi.size() == 14u);
  BOOST_TEST(slug_of(Composition(" alibi( interp )", model()).canonical()) == alibi);
}

BOOST_AUTO_TEST_CASE(the_order_of_terms_changes_no_bit) {
  std::vector<std::string> terms = {"alibi",     "kerple_log", "sandwich",
                                    "rope@1..3", "window(5)",  "kerple_log(r1=0.7)@2"};
  const Composition first(
      "alibi + kerple_log + sandwich + rope@1..3 + window(5) + "
      "kerple_log(r1=0.7)@2",
      model());
  const Composition::Plan want = first.plan(9, 9, Phase::eval);
  std::sort(terms.begin(), terms.end());
  for (int round = 0; round < 5; ++round) {
    std::next_permutation(terms.begin(), terms.end());
    std::string expression;
    for (const std::string& term : terms) expression += (expression.empty() ? "" : "+") + term;
    const Composition c(expression, model());
    BOOST_TEST(c.canonical() == first.canonical());
    const Composition::Plan got = c.plan(9, 9, Phase::eval);
    for (size_t layer = 0; layer < 6; ++layer)
      BOOST_TEST(same_bits(got.layers[layer].rule.bias, want.layers[layer].rule.bias));
  }
}

BOOST_AUTO_TEST_CASE(biases_of_one_layer_add_up) {
  const Tensor both = rule_of(Composition("alibi + sandwich", model()), 9).bias;
  const Tensor want = rule_of(Composition("alibi", model()), 9).bias +
                      rule_of(Composition("sandwich", model()), 9).bias;
  BOOST_TEST(all_close(both, want, Tolerance(1e-14)));
}

BOOST_AUTO_TEST_CASE(windows_of_one_layer_intersect) {
  const auto plan =
      Composition("window(7) + window(5)@1..2 + window(9)@2", model()).plan(4, 4, Phase::eval);
  for (size_t layer = 0; layer < 6; ++layer)
    BOOST_TEST(plan.layers[layer].rule.window == (layer == 1 || layer == 2 ? 5 : 7));
}

BOOST_AUTO_TEST_CASE(a_term_acts_on_its_layers_only_and_equal_layers_share_tables) {
  const auto plan =
      Composition("rope@0..-2 + alibi@-1 + window(16)@0..-2", model()).plan(8, 8, Phase::eval);
  for (size_t layer = 0; layer < 6; ++layer) {
    const auto& [rotation, rule] = plan.layers[layer];
    BOOST_TEST(rotation.cos.defined() == (layer < 5));
    BOOST_TEST(rule.window == (layer < 5 ? 16 : 0));
    BOOST_TEST(rule.bias.defined() == (layer == 5));
    if (layer < 5) BOOST_TEST(rotation.cos.raw_data() == plan.layers[0].rotation.cos.raw_data());
  }
}

BOOST_AUTO_TEST_CASE(fixed_tables_are_kept_between_calls_and_learned_ones_are_not) {
  const Composition fixed("alibi + rope + sinusoidal", model());
  const auto first = fixed.plan(8, 8, Phase::train), second = fixed.plan(8, 8, Phase::train);
  BOOST_TEST(first.layers[0].rule.bias.raw_data() == second.layers[0].rule.bias.raw_data());
  BOOST_TEST(first.layers[0].rotation.cos.raw_data() == second.layers[0].rotation.cos.raw_data());
  BOOST_TEST(first.embedding.raw_data() == second.embedding.raw_data());

  const Composition mixed("alibi + rope + kerple_log", model());
  const auto before = mixed.plan(8, 8, Phase::train);
  Tensor r1 = mixed.parameters()[0].value;
  for (int h = 0; h < 4; ++h) r1.data<double>()[h] += 1;
  const auto after = mixed.plan(8, 8, Phase::train);
  BOOST_TEST(before.layers[0].rotation.cos.raw_data() == after.layers[0].rotation.cos.raw_data());
  BOOST_TEST(!all_close(before.layers[0].rule.bias, after.layers[0].rule.bias, 1e-3));
}

BOOST_AUTO_TEST_CASE(learned_tables_have_no_history_under_no_grad) {
  const Composition c("kerple_log", model());
  BOOST_TEST(c.plan(4, 4, Phase::train).layers[0].rule.bias.needs_grad());
  const NoGrad no_grad;
  BOOST_TEST(!c.plan(4, 4, Phase::eval).layers[0].rule.bias.needs_grad());
}

BOOST_AUTO_TEST_CASE(one_backward_sums_the_gradients_of_all_layers) {
  const Composition c("kerple_log", model());
  const auto grad_of = [&](size_t n_layer) {
    const auto plan = c.plan(4, 4, Phase::train);
    Tensor total = sum(plan.layers[0].rule.bias);
    for (size_t layer = 1; layer < n_layer; ++layer)
      total = total + sum(plan.layers[layer].rule.bias);
    for (const Parameter& parameter : c.parameters()) parameter.value.set_grad({});
    backward(total);
    return c.parameters()[0].value.grad();
  };
  BOOST_TEST(all_close(grad_of(6), grad_of(1) * 6.0, Tolerance(1e-12)));
}

BOOST_AUTO_TEST_CASE(two_terms_of_one_name_have_parameters_of_two_names) {
  const Composition c("kerple_log@3..5 + kerple_log@0..2", model());
  std::vector<std::string> names;
  for (const Parameter& parameter : c.parameters()) names.push_back(parameter.name);
  BOOST_TEST(names == (std::vector<std::string>{"kerple_log.r1", "kerple_log.r2", "kerple_log_2.r1",
                                                "kerple_log_2.r2"}),
             boost::test_tools::per_element());
  BOOST_TEST((c.parameters()[0].value.to_vector() != c.parameters()[2].value.to_vector()));
}

BOOST_AUTO_TEST_CASE(combinations_that_make_no_sense_are_refused_and_both_are_named) {
  BOOST_TEST(error_of_expression("rope + alibi + rope(base=500)", model()) ==
             "[posenc] expected at most one rotation on a layer, got rope and rope(base=500) at "
             "column 16\n"
             "  rope + alibi + rope(base=500)\n"
             "                 ^");
  BOOST_TEST(error_of_expression("sinusoidal + learned_abs", model()) ==
             "[posenc] expected at most one input embedding, got sinusoidal and "
             "learned_abs(max_positions=16) at column 14\n"
             "  sinusoidal + learned_abs\n"
             "               ^");
  BOOST_TEST(error_of_expression("rope@0..3 + rope@3..5", model()).find("at most one rotation") !=
             std::string::npos);
  BOOST_TEST(error_of_expression("rope@0..2 + rope(base=500)@3..5", model()) == "");
}

BOOST_AUTO_TEST_CASE(wrong_layers_and_names_are_refused) {
  BOOST_TEST(error_of_expression("alibi@6", model()) ==
             "[posenc] expected a layer from -6 to 5, got 6 at column 6\n"
             "  alibi@6\n"
             "       ^");
  BOOST_TEST(error_of_expression("alibi@-7..2", model()).find("from -6 to 5, got -7") !=
             std::string::npos);
  BOOST_TEST(error_of_expression("alibi@4..-3", model())
                 .find("expected the first layer before the last, got 4..3 at column 6") !=
             std::string::npos);
  BOOST_TEST(error_of_expression("sinusoidal@1", model()) ==
             "[posenc] sinusoidal is added to the input and cannot be limited to layers at column "
             "11\n"
             "  sinusoidal@1\n"
             "            ^");
  BOOST_TEST(error_of_expression("window(3) + alibbi", model()) ==
             "[posenc] expected an encoding, got 'alibbi'; did you mean 'alibi'? at column 13\n"
             "  window(3) + alibbi\n"
             "              ^");
  BOOST_TEST(
      error_of_expression("log(1 + d)", model()) ==
      "[posenc] expected the name of an encoding (a formula is written kernel(bias=...)), got "
      "'log' at column 1\n"
      "  log(1 + d)\n"
      "  ^");
  BOOST_TEST(error_of_expression("zzzzzzzzz", model()).find("got 'zzzzzzzzz'; there are alibi, ") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_model_without_heads_and_tables_in_bfloat16_are_refused) {
  BOOST_TEST(error_of_expression("alibi", {.n_head = 0})
                 .find("expected positive sizes, got n_head "
                       "0") != std::string::npos);
  BOOST_TEST(error_of_expression("alibi", {.dtype = DType::bf16}) ==
             "[posenc] expected tables in float32 or float64, got bfloat16");
}

// Random expressions of existing names: a value or ConfigError, and every value has a canonical
// text that parses to itself.
BOOST_AUTO_TEST_CASE(any_expression_composes_or_is_refused) {
  const char* const pieces[] = {
      "alibi",       "rope", "window", "kerple_log",  "sandwich", "none", "(",  ")",
      "@",           "..",   "+",      ",",           "=",        "3",    "-1", "0.5",
      "[0.5,1,2,3]", "w",    "slopes", "share=layer", "h=2",      " "};
  const Random random{11, stream_of("fuzz")};
  uint64_t draw = 0;
  const auto below = [&](size_t n) { return static_cast<size_t>(random.below(draw++, n)); };
  int n_made = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string expression = pieces[below(6)];
    for (size_t i = 0, n = below(7); i < n; ++i) expression += pieces[below(std::size(pieces))];
    try {
      const Composition c(expression, model());
      ++n_made;
      BOOST_TEST(canonical(c.canonical()) == c.canonical(), expression);
      if (n_made % 16 == 0) c.plan(3, 3, Phase::train);
    } catch (const ConfigError& error) {
      BOOST_TEST(std::string(error.what()).rfind("[posenc] ", 0) == 0, error.what());
    }
  }
  BOOST_TEST(n_made > 1000);
}

BOOST_AUTO_TEST_CASE(values_go_to_another_expression_and_another_precision) {
  Config narrow = model(), wide = model();
  narrow.dtype = DType::f32;
  const Composition trained("kerple_log + t5", narrow);
  for (Parameter p : trained.parameters())
    p.value.assign(Tensor::full(p.value.shape(), 0.375, p.value.dtype()));
  const Composition other = trained.with("kerple_log + kerple_power + t5(num_buckets=8)", wide);
  const Composition fresh(other.canonical(), wide);
  for (size_t i = 0; i < other.parameters().size(); ++i) {
    const Parameter got = other.parameters()[i], start = fresh.parameters()[i];
    const bool is_taken = got.name.find("kerple_log.") == 0;  // t5 has another shape
    BOOST_TEST((got.value.dtype() == DType::f64));
    BOOST_TEST(got.value.to_vector() ==
                   (is_taken ? std::vector<double>(static_cast<size_t>(wide.n_head), 0.375)
                             : start.value.to_vector()),
               boost::test_tools::per_element());
  }
  BOOST_TEST(trained.widened().canonical() == trained.canonical());
  BOOST_TEST(trained.widened().parameters()[0].value.to_vector()[0] == 0.375);
}

BOOST_AUTO_TEST_CASE(names_in_checkpoints_lead_back_to_those_of_expressions) {
  const std::pair<const char*, const char*> names[] = {
      {"kerple_log.r1", "gpt_neox.position_bias.kerple_log.r1"},
      {"kerple_log_2.layer1.r1_raw", "gpt_neox.position_bias.kerple_log_2.layer1.r1_raw"},
      {"learned_abs.weight", "gpt_neox.embed_positions.weight"}};
  for (const auto& [name, stored] : names) {
    BOOST_TEST(checkpoint_name(name) == stored);
    BOOST_TEST(parameter_of(stored).value() == name);
  }
  BOOST_TEST(!parameter_of("gpt_neox.embed_in.weight").has_value());
  BOOST_TEST(!parameter_of("gpt_neox.position_bias.").has_value());
}

// What training may leave is what project() does not change.
BOOST_AUTO_TEST_CASE(bounds_of_parameters_are_those_that_project_keeps) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const Row& row : registry()) {
      Config config = model();
      config.dtype = dtype;
      Composition c(example_of(row), config);
      for (const double beyond : {-1e30, 1e30}) {
        for (Parameter p : c.parameters())
          p.value.assign(Tensor::full(p.value.shape(), beyond, p.value.dtype()));
        c.project();
        for (const Parameter& p : c.parameters())
          for (const double x : p.value.to_vector())
            BOOST_TEST(
                x == std::clamp(p.value.dtype() == DType::f32 ? double{static_cast<float>(beyond)}
                                                              : beyond,
                                p.bounds.least, p.bounds.most),
                p.name);
      }
    }
}

// The scalar form of a kernel equals its table.
BOOST_AUTO_TEST_CASE(decays_are_tables_in_closed_form_with_their_inverse) {
  for (const char* expression : {"kerple_log", "kerple_power", "kerple_log3"}) {
    Config config = model();
    config.dtype = DType::f64;
    const Composition c(expression, config);
    const Tensor bias = c.plan(9, 9, Phase::eval).layers[0].rule.bias;
    for (int64_t head = 0; head < config.n_head; ++head) {
      const Decay decay = c.decays(0, static_cast<size_t>(head)).at(0);
      for (int64_t d = 0; d < 9; ++d) {
        const double want = bias.to_vector()[static_cast<size_t>(head * 9 + d)];
        const auto at = static_cast<double>(d);
        BOOST_TEST(std::abs(decay.bias(at) - want) <= 1e-14 * std::abs(want), expression);
        BOOST_TEST(std::abs(decay.distance(-decay.bias(at)) - at) <= 1e-9 * at, expression);
      }
    }
  }
  BOOST_TEST(Composition("rope + t5", model()).decays(0, 0).empty());
  BOOST_TEST(Composition("kerple_log@1", model()).decays(0, 0).empty());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
