#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>

#include "engine/autograd.h"
#include "engine/base/random.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_kernel)  // ctest: on_cuda sanitize
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;
using Json = nlohmann::json;

std::string canonical(std::string_view expression, int64_t n_head = 2) {
  return Composition(expression, model_of(n_head)).canonical();
}
// Gradients of both tables, each entry with weight 1 + its index, by parameter.
std::vector<std::vector<double>> gradients(const Composition& c, int64_t n) {
  const ScoreRule rule = rule_of(c, n, Phase::train);
  std::vector<Tensor> tables, seeds;
  for (const Tensor& table : {rule.bias, rule.weight}) {
    if (!table.defined()) continue;
    std::vector<double> seed;
    for (int64_t i = 0; i < table.numel(); ++i) seed.push_back(1 + static_cast<double>(i));
    tables.push_back(table);
    seeds.push_back(Tensor::from(seed, table.shape(), table.dtype()));
  }
  backward(tables, seeds);
  std::vector<std::vector<double>> all;
  for (const Parameter& parameter : c.parameters()) {
    all.push_back(parameter.value.grad().to_vector());
    parameter.value.set_grad({});
  }
  return all;
}

BOOST_AUTO_TEST_CASE(kerple_log_written_down_is_kerple_log_bit_for_bit) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const char* constraint : {"project", "straight_through", "softplus"}) {
      const Config config = model_of(3, dtype);
      const Composition own(concat("kernel(bias=-r1*log(1+r2*d), r1>0=[0.5,1.3,0.01], "
                                   "r2>0=[0.7,0.03,2], constraint=",
                                   constraint, ')'),
                            config);
      const Composition kerple(
          concat("kerple_log(r1=[0.5,1.3,0.01], r2=[0.7,0.03,2], constraint=", constraint, ')'),
          config);
      BOOST_TEST(same_bits(rule_of(own, 300).bias, rule_of(kerple, 300).bias), constraint);
      BOOST_TEST((gradients(own, 300) == gradients(kerple, 300)), constraint);
    }
}

struct Written {
  const char* name;  // in the golden file
  const char* formulas;
};
// The tables of the papers, written down.
const Written kWritten[] = {
    {"kerple_log", "bias=-r1*log(1+r2*d)"},     {"kerple_power", "bias=-r1*d^r2"},
    {"kerple_log3", "bias=-r1*log(1+r2*d^r3)"}, {"bias_wht", "bias=-r1*d^r2, weight=exp(-r3*d^r4)"},
    {"gauss_bias2", "bias=r1*exp(-r2*d^2)"},    {"gauss_bias3", "bias=r1*exp(-r2*d^r3)"},
    {"gauss_wht1", "weight=exp(-r1*d^2)"},      {"gauss_wht2", "weight=exp(-r1*d^r2)"}};
std::string written(const Written& w, const Json& params) {
  std::string text = concat("kernel(", w.formulas);
  for (const auto& [name, values] : params.items())
    text += concat(", ", name, '=', list_text(values));
  return text + ')';
}

BOOST_AUTO_TEST_CASE(the_tables_of_the_papers_written_down_equal_the_golden_ones) {
  for (const int64_t n_head : {12, 8}) {
    const Json& file = golden(concat("tables_h", n_head, ".json"));
    for (const Written& w : kWritten) {
      const Json& entry = file["encodings"][w.name];
      const Composition c(written(w, entry["params"]), model_of(n_head));
      const ScoreRule rule = rule_of(c, 8192);
      const std::vector<double> distances = golden_numbers(file["distances"]);
      BOOST_TEST(rule.bias.defined() == entry.contains("b"), w.name);
      BOOST_TEST(rule.weight.defined() == entry.contains("w"), w.name);
      if (entry.contains("b"))
        BOOST_TEST(all_close(at_distances(rule.bias, distances), golden_numbers(entry["b"]),
                             table_tolerance(DType::f64)),
                   w.name);
      if (entry.contains("w"))
        BOOST_TEST(all_close(at_distances(rule.weight, distances), golden_numbers(entry["w"]),
                             table_tolerance(DType::f64)),
                   w.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(derivatives_of_what_is_written_down_equal_the_golden_ones) {
  const int64_t n_head = 8, n = 8192;
  const Json& file = golden("tables_h8.json");
  const std::vector<double> distances = golden_numbers(file["grad_distances"]);
  for (const Written& w : kWritten) {
    const Json& entry = file["encodings"][w.name];
    const Composition c(written(w, entry["params"]), model_of(n_head));
    for (const char* const field : {"db", "dw"}) {
      if (!entry.contains(field)) continue;
      for (size_t column = 0; column < distances.size(); ++column) {
        const ScoreRule rule = rule_of(c, n, Phase::train);
        const Tensor& table = field == std::string("db") ? rule.bias : rule.weight;
        std::vector<double> seed(static_cast<size_t>(table.numel()));
        for (int64_t h = 0; h < n_head; ++h)
          seed[static_cast<size_t>(h * n) + static_cast<size_t>(distances[column])] = 1;
        backward(table, Tensor::from(seed, table.shape(), DType::f64));
        for (const Parameter& parameter : c.parameters()) {
          const std::string name = parameter.name.substr(7);  // without "kernel."
          const Tensor grad = parameter.value.grad();
          parameter.value.set_grad({});
          if (!entry[field].contains(name)) continue;
          std::vector<double> want;
          for (const Json& row : entry[field][name]) want.push_back(row[column].get<double>());
          BOOST_TEST(all_close(grad.to_vector(), want, table_tolerance(DType::f64)),
                     w.name << ' ' << name << " at distance " << distances[column]);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(heads_are_counted_from_one) {
  const Tensor bias =
      rule_of(Composition("kernel(bias=-2^(-8*h/n_head)*d)", model_of(8)), 300).bias;
  const Tensor alibi = rule_of(Composition("alibi(slopes=geometric)", model_of(8)), 300).bias;
  BOOST_TEST(all_close(bias, alibi, Tolerance(1e-14)));
}

BOOST_AUTO_TEST_CASE(a_formula_without_distance_or_head_fills_its_table) {
  const ScoreRule rule = rule_of(Composition("kernel(bias=-h, weight=1/n_head)", model_of(2)), 3);
  BOOST_TEST((rule.bias.to_vector() == std::vector<double>{-1, -1, -1, -2, -2, -2}));
  BOOST_TEST((rule.weight.to_vector() == std::vector<double>(6, 0.5)));
}

BOOST_AUTO_TEST_CASE(initial_values_are_as_declared) {
  const Composition c(
      "kernel(bias=-a*d-b*d^2-c*d-g*d, a>0=3, b=[-1,4], c~U(2,3), g>=2.5<=2.75~U(0,10))",
      model_of(2));
  std::map<std::string, std::vector<double>> values;
  for (const Parameter& parameter : c.parameters()) {
    values[parameter.name] = parameter.value.to_vector();
    BOOST_TEST(!parameter.decay);
  }
  BOOST_TEST(values.size() == 4u);
  BOOST_TEST((values["kernel.a"] == std::vector<double>{3, 3}));
  BOOST_TEST((values["kernel.b"] == std::vector<double>{-1, 4}));
  for (const double x : values["kernel.c"]) BOOST_TEST((x >= 2 && x < 3));
  BOOST_TEST(values["kernel.c"][0] != values["kernel.c"][1]);
  for (const double x : values["kernel.g"]) BOOST_TEST((x >= 2.5 && x <= 2.75));  // into the bounds
}

BOOST_AUTO_TEST_CASE(bounds_hold_after_a_step) {
  Composition c("kernel(bias=-a*d^p*b, a>0=1, p>=-1<=2=1, b=1)", model_of(2));
  for (const Parameter& parameter : c.parameters()) {
    Tensor x = parameter.value;
    x.data<double>()[0] = -9;
    x.data<double>()[1] = 9;
  }
  c.project();
  std::map<std::string, std::vector<double>> values;
  for (const Parameter& parameter : c.parameters())
    values[parameter.name] = parameter.value.to_vector();
  BOOST_TEST((values["kernel.a"] == std::vector<double>{0.01, 9}));
  BOOST_TEST((values["kernel.p"] == std::vector<double>{-1, 2}));
  BOOST_TEST((values["kernel.b"] == std::vector<double>{-9, 9}));
}

BOOST_AUTO_TEST_CASE(smooth_constraints_hold_for_every_kind_of_bounds) {
  const char* const expression =
      "kernel(bias=-a*d-b*d-c*d-g*d-k*d, a>0=1, b>=-2=-1.5, c<=3=2, g>=-1<=1=0.25, k=-7, "
      "constraint=softplus)";
  const Composition c(expression, model_of(1));
  std::vector<std::string> names;
  for (const Parameter& parameter : c.parameters()) names.push_back(parameter.name);
  BOOST_TEST(names == (std::vector<std::string>{"kernel.a_raw", "kernel.b_raw", "kernel.c_raw",
                                                "kernel.g_raw", "kernel.k"}),
             boost::test_tools::per_element());
  const double start = 1 - 1.5 + 2 + 0.25 - 7;
  BOOST_TEST(all_close(at_distances(rule_of(c, 2).bias, {1}), std::vector<double>{-start},
                       Tolerance(1e-12)));
  for (const double far : {-60.0, 60.0}) {  // where the bounds are all but reached
    for (const Parameter& parameter : c.parameters()) {
      Tensor x = parameter.value;
      x.data<double>()[0] = far;
    }
    // a and b grow without bound, c falls; g stays between its bounds, k is free.
    const double want = far < 0 ? 0.01 - 2 + (3 - 60) - 1 - 60 : 60.01 + 58 + 3 + 1 + 60;
    const double got = -at_distances(rule_of(c, 2).bias, {1})[0];
    BOOST_TEST(std::abs(got - want) < 1e-9, got << " and " << want);
  }
}

BOOST_AUTO_TEST_CASE(without_learning_there_are_no_parameters_and_the_values_are_exact) {
  const Composition c("kernel(bias=-r*d, r>0=0.1, learn=false)", model_of(2, DType::f32));
  BOOST_TEST(c.parameters().empty());
  const auto plan = c.plan(4, 4, Phase::train);
  BOOST_TEST(plan.layers[0].rule.bias.to_vector()[3] ==
             static_cast<double>(static_cast<float>(-0.1 * 3)));
  BOOST_TEST(!plan.layers[0].rule.bias.needs_grad());
}

BOOST_AUTO_TEST_CASE(layers_share_parameters_unless_told_otherwise) {
  const Composition shared("kernel(bias=-r*d, r>0~U(0,1))", model_of(2));
  BOOST_TEST(shared.parameters().size() == 1u);
  const Composition own("kernel(bias=-r*d, r>0~U(0,1), share=layer)@1..2", model_of(2));
  const std::vector<Parameter> parameters = own.parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 2u);
  BOOST_TEST(parameters[0].name == "kernel.layer1.r");
  BOOST_TEST(parameters[1].name == "kernel.layer2.r");
  BOOST_TEST((parameters[0].value.to_vector() != parameters[1].value.to_vector()));
}

BOOST_AUTO_TEST_CASE(bias_scale_is_a_factor_on_the_bias_alone) {
  const ScoreRule rule =
      rule_of(Composition("kernel(bias=-d, weight=1/(1+d), bias_scale=0.5)", model_of(1)), 3);
  BOOST_TEST((rule.bias.to_vector() == std::vector<double>{0, -0.5, -1}));
  BOOST_TEST(all_close(rule.weight.to_vector(), std::vector<double>{1, 0.5, 1.0 / 3}, 1e-15));
}

BOOST_AUTO_TEST_CASE(the_canonical_text_has_one_form_and_parses_to_itself) {
  const std::pair<const char*, const char*> cases[] = {
      {"kernel( -d )", "kernel(bias=-d)"},
      {"kernel(r2 > 0 ~ U(0, 1), bias = -r1 * log( 1 + (r2*d) ), r1>0~U(0,2), share=all)",
       "kernel(bias=-r1*log(1+r2*d), r1>0~U(0,2), r2>0~U(0,1))"},
      {"kernel(learn=false, weight=exp(-(a*d)), a=[1, 2], bias_scale=2, constraint=softplus)",
       "kernel(weight=exp(-(a*d)), a=[1,2], constraint=softplus, learn=false, bias_scale=2)"},
      {"window(4) + kernel(bias=min(0,4-d))@0..1", "kernel(bias=min(0,4-d))@0..1 + window(w=4)"}};
  for (const auto& [expression, want] : cases) {
    BOOST_TEST(canonical(expression) == want);
    BOOST_TEST(canonical(want) == want);
  }
}

BOOST_AUTO_TEST_CASE(an_error_shows_the_whole_expression_with_a_caret) {
  BOOST_TEST(
      error_of_expression("alibi + kernel(bias=-r1*log(1+r3*d), r1>0~U(0,2))", model_of(2)) ==
      "[posenc] kernel(bias): expected d, h, n_head, pi, e or a declared parameter, got "
      "'r3'; did you mean 'r1'?; to declare it, add for example r3>0~U(0,1) at column 31\n"
      "  alibi + kernel(bias=-r1*log(1+r3*d), r1>0~U(0,2))\n"
      "                                ^");
}

BOOST_AUTO_TEST_CASE(each_mistake_is_refused) {
  const std::pair<const char*, const char*> cases[] = {
      {"kernel",
       "kernel(bias): expected a bias, a weight or both, got neither; write for example "
       "kernel(bias=-r1*log(1+r2*d), r1>0~U(0,2), r2>0~U(0,1)) at column 1\n"},
      {"alibi + kernel()", "got neither; write for example"},
      {"kernel(learn=false)", "expected a bias, a weight or both, got neither"},
      {"kernel(bias=)", "expected a number, a name, '-' or '(', got ')' at column 13\n"},
      {"kernel(bias=-d", "expected ',' or ')' after an argument, got the end at column 15\n"},
      {"kernel(bias=-(d)", "expected ',' or ')' after an argument, got the end at column 17\n"},
      {"kernel(bias=-(d", "expected a closing bracket for this one, got '(' at column 14\n"},
      {"kernel(bias=[1,2]*d)", "expected a number, a name, '-' or '(', got '[' at column 13\n"},
      {"kernel(bias=\"d\")", "expected a number, a name, '-' or '(', got '\"' at column 13\n"},
      {"kernel(bias=@file)", "expected a number, a name, '-' or '(', got '@' at column 13\n"},
      {"kernel(bias=-d, bias=-2*d)", "kernel(bias): expected it once, got it again at column 17\n"},
      {"kernel(-d, bias=-2*d)", "kernel(bias): expected it once, got it again at column 12\n"},
      {"kernel(-d, -2*d)", "expected name=value; only the first argument may go without a name"},
      {"kernel(bias=-x*d)",
       "kernel(bias): expected d, h, n_head, pi, e or a declared parameter, got 'x'; did you mean "
       "'d'?; to declare it, add for example x>0~U(0,1) at column 14\n"},
      {"kernel(weight=exp(-some_rate*d))",
       "kernel(weight): expected d, h, n_head, pi, e or a "
       "declared parameter, got 'some_rate'; to declare it, add for example some_rate>0~U(0,1) at "
       "column 20\n"},
      {"kernel(bias=-d, rate>0=1)",
       "kernel takes bias, weight, constraint, learn, share or bias_scale, got 'rate', a parameter "
       "that no formula uses at column 17\n"},
      {"kernel(bias=-d, wieght=1)",
       "got 'wieght', a parameter that no formula uses; did you mean 'weight'? at column 17\n"},
      {"kernel(bais=-2*d)", "got 'bais'; did you mean 'bias'? at column 8\n"},
      {"kernel(bias=-d, constrain=softplus)", "got 'constrain'; did you mean 'constraint'?"},
      {"kernel(bias=-d, constraint=hard)",
       "kernel(constraint): expected project, straight_through or softplus, got hard"},
      {"kernel(bias=-d*d, d>0=1)",
       "kernel(d): means something else in formulas; expected another name for a parameter at "
       "column 19\n"},
      {"kernel(bias=-h*d, h=1)", "kernel(h): means something else in formulas"},
      {"kernel(bias=-n_head*d, n_head=1)", "kernel(n_head): means something else in formulas"},
      {"kernel(bias=-pi*d, pi=3)", "kernel(pi): means something else in formulas"},
      {"kernel(bias=-d, log>0=3)", "kernel(log): means something else in formulas"},
      {"kernel(bias=-d, weight>0=1)",
       "kernel(weight): is an argument; expected another name for a parameter at column 17\n"},
      {"kernel(bias=-r*d, r>0=1, r=2)", "kernel(r): expected it once, got it again at column 26\n"},
      {"kernel(bias=-r*d, r>0)",
       "expected how r starts, ~U(low,high), =number or =[a number per "
       "head], got ')' at column 22\n"},
      {"kernel(bias=-r*d, r)", "expected name=value; only the first argument may go without"},
      {"kernel(bias=-r*d, r>0=[1,2,3])",
       "kernel(r): expected a number per head, got 3 of them; this model has 2 heads at column "
       "23\n"},
      {"kernel(bias=-r*d, r>0=-1)", "parameter r: expected initial values >= 0.01, got -1"},
      {"kernel(bias=-r*r_raw*d, r>0=1, r_raw=1, constraint=softplus)",
       "kernel(r_raw): expected another name: two parameters would be stored as kernel.r_raw"},
  };
  for (const auto& [expression, message] : cases) {
    const std::string error = error_of_expression(expression, model_of(2));
    BOOST_TEST(error.find(message) != std::string::npos, expression << " gave: " << error);
  }
}

BOOST_AUTO_TEST_CASE(a_table_that_is_not_finite_is_refused_with_distance_head_and_parameters) {
  const auto refusal = [](std::string_view expression, DType dtype = DType::f64) {
    const Composition c(expression, model_of(2, dtype));
    return error_of([&] { rule_of(c, 800); });
  };
  BOOST_TEST(refusal("window(4) + kernel(bias=log(d))") ==
             "[posenc] kernel(bias): expected a finite number at every distance, got -inf at "
             "distance 0, head 1 at column 25\n"
             "  window(4) + kernel(bias=log(d))\n"
             "                          ^");
  const std::pair<const char*, const char*> cases[] = {
      {"kernel(weight=1/d)",
       "kernel(weight): expected a finite number at every distance, got inf "
       "at distance 0, head 1"},
      {"kernel(bias=-1/(d-3*h))", "got -inf at distance 3, head 1"},
      {"kernel(bias=-r*d+log(1.5-r), r=[1,2])", "distance 0, head 2, r = 2 at column 13\n"},
      {"kernel(bias=(1-d)^0.5)", "at distance 2, head 1"},
      {"kernel(bias=-exp(d))", "got -inf at distance 710, head 1"},
      {"kernel(bias=0*log(d))", "nan at distance 0"}};
  for (const auto& [expression, message] : cases) {
    const std::string error = refusal(expression);
    BOOST_TEST(error.find(message) != std::string::npos, expression << " gave: " << error);
  }
  // What rounding to float32 would make infinite.
  BOOST_TEST(refusal("kernel(bias=-exp(d))", DType::f32).find("at distance 89, head 1") !=
             std::string::npos);
  BOOST_TEST(refusal("kernel(bias=-1e38*(d-d+1), bias_scale=9)", DType::f32)
                 .find("at distance 0, head 1") != std::string::npos);
  BOOST_TEST(refusal("kernel(bias=-1e38*(d-d+1), bias_scale=2)", DType::f32) == "");
}

// Texts of random kernels, most of them valid.
struct RandomText {
  Random random;
  uint64_t draw = 0;

  size_t below(size_t n) { return static_cast<size_t>(random.below(draw++, n)); }
  template <size_t n>
  std::string one_of(const char* const (&texts)[n]) {
    return texts[below(n)];
  }

  std::string formula(int depth) {
    const size_t kind = depth == 0 ? 0 : below(6);
    if (kind == 0) return one_of({"d", "h", "r1", "r2", "2", "0.5", "n_head", "pi", " 1e-3 "});
    if (kind == 1) return one_of({"-", "(-", "exp(-"}) + formula(depth - 1);
    if (kind == 2) return '(' + formula(depth - 1) + ')';
    if (kind == 3)
      return one_of({"exp", "log", "sqrt", "tanh", "abs", "log1p"}) + '(' + formula(depth - 1) +
             ')';
    return formula(depth - 1) + one_of({"+", "-", "*", "/", "^", " * "}) + formula(depth - 1);
  }

  std::string kernel() {
    std::string text = one_of({"bias=", "weight=", "", "bias = "}) + formula(3);
    if (below(3) == 0) text += ", weight=" + formula(2);
    for (const char* name : {"r1", "r2"})
      if (text.find(name) != std::string::npos)
        text += concat(", ", name, one_of({"", ">0", ">=-1", "<=2", " >= 0.5 <= 2"}),
                       one_of({"~U(0.5,2)", "=1", " = [1,2]", "~U( 1, 1.5 )"}));
    text = concat("kernel(", text, one_of({")", ", learn=false)", ", share=layer)@1", ")"}));
    if (below(2) == 0) {
      const size_t at = below(text.size() + 1);
      text.replace(at, below(3), one_of({"", "(", ")", ",", "r1", "=", "~", "\n", "<", "2", "@"}));
    }
    return text;
  }
};

// A value or ConfigError, and every value has a canonical text that parses to itself.
BOOST_AUTO_TEST_CASE(any_kernel_composes_or_is_refused) {
  RandomText texts{{13, stream_of("fuzz")}};
  int n_made = 0;
  for (int round = 0; round < 10000; ++round) {
    const std::string expression = texts.kernel();
    try {
      const Composition c(expression, model_of(2));
      ++n_made;
      BOOST_TEST(canonical(c.canonical()) == c.canonical(), expression);
      const std::string error = error_of([&] { rule_of(c, 3); });
      if (!error.empty())
        BOOST_TEST(error.find("expected a finite number at every distance") != std::string::npos,
                   expression << " gave: " << error);
    } catch (const ConfigError& error) {
      BOOST_TEST(std::string(error.what()).find(" at column ") != std::string::npos,
                 expression << " gave: " << error.what());
    }
  }
  BOOST_TEST(n_made > 500);
  BOOST_TEST(n_made < 9000);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
