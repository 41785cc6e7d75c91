#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/safetensors.h"
#include "tests/support/golden_attention.h"
#include "tests/support/grad_check.h"
#include "tests/support/temp_folder.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_fire)  // ctest: on_cuda sanitize
namespace {

using namespace golden_attention;
using Tensors = std::vector<std::pair<std::string, Tensor>>;

const Json& fire_case() { return case_named("fire"); }
Tensor tensor_of(const Json& numbers, const Shape& shape) {
  return Tensor::from(golden_numbers(numbers), shape, DType::f64);
}

// The golden parameters, in the names and shapes of the file that `params` takes.
Tensors golden_parameters() {
  const Json& g = fire_case()["config"];
  const auto hidden = static_cast<int64_t>(g["W1"].size());
  return {{"c", tensor_of(Json::array({g["c"]}), {1})},
          {"lmul", tensor_of(Json::array({g["L_mult"]}), {1})},
          {"w1", tensor_of(g["W1"], {hidden})},
          {"b1", tensor_of(g["b1"], {hidden})},
          {"w2", tensor_of(g["W2"], {size("heads"), hidden})},
          {"b2", tensor_of(g["b2"], {size("heads")})}};
}
std::string expression_of(const std::string& path, const std::string& more = "") {
  const Json& g = fire_case()["config"];
  return concat("fire(hidden=", g["W1"].size(), ", eps=", to_text(g["eps"].get<double>()),
                ", l0=", to_text(g["L_init"].get<double>()), ", params=@\"", path, '"', more, ')');
}

// bias[h, m, n] of the pieces, 0 above the diagonal: [H, T, T], differentiable.
Tensor dense(const RowBias& pieces, int64_t n) {
  const int64_t n_head = pieces.slope.dim(0);
  std::vector<int32_t> distance, piece;
  std::vector<double> visible;
  const std::vector<double> feature = pieces.feature.to_vector(),
                            factor = pieces.row_factor.to_vector(),
                            knots = pieces.knots.to_vector();
  for (int64_t m = 0; m < n; ++m)
    for (int64_t k = 0; k < n; ++k) {
      const auto d = static_cast<size_t>(std::max<int64_t>(m - k, 0));
      const double x = feature[d] * factor[static_cast<size_t>(m)];
      distance.push_back(static_cast<int32_t>(d));
      piece.push_back(
          static_cast<int32_t>(std::upper_bound(knots.begin(), knots.end(), x) - knots.begin()));
      visible.push_back(k <= m);
    }
  const DType dtype = pieces.slope.dtype();
  const auto picked = [&](const Tensor& table, const std::vector<int32_t>& ids) {
    return embedding(table, Tensor::from(ids, {n, n}), dtype);  // [T, T, columns]
  };
  const Tensor x = picked(reshape(pieces.feature, {pieces.feature.dim(0), 1}), distance) *
                   reshape(pieces.row_factor, {n, 1, 1});
  const Tensor y = picked(permute(pieces.slope, {1, 0}), piece) * x +
                   picked(permute(pieces.offset, {1, 0}), piece);
  return permute(y, {2, 0, 1}) * reshape(Tensor::from(visible, {n, n}, dtype), {1, n, n}) +
         Tensor::zeros({n_head, n, n}, dtype);
}

Config model(DType dtype = DType::f64) { return golden_model(dtype, size("length")); }

BOOST_AUTO_TEST_CASE(the_pieces_give_the_golden_bias) {
  const TempFolder folder;
  const std::string path = (folder / "fire.safetensors").string();
  write_safetensors(path, golden_parameters());
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Composition c(expression_of(path), model(dtype));
    const RowBias pieces = rule_of(c, size("length"), Phase::train).row_bias;
    BOOST_TEST((pieces.slope.dtype() == dtype));
    BOOST_TEST(all_close(dense(pieces, size("length")).to_vector(),
                         golden_numbers(fire_case()["bias"]),
                         dtype == DType::f64 ? Tolerance(1e-12) : Tolerance(1e-6)));
  }
}

BOOST_AUTO_TEST_CASE(attention_and_the_gradients_of_all_parameters_equal_the_golden_ones) {
  const TempFolder folder;
  const std::string path = (folder / "fire.safetensors").string();
  write_safetensors(path, golden_parameters());
  const Json& want = fire_case()["dparams"];
  const std::pair<const char*, Json> parameters[] = {{"fire.c", Json::array({want["c"]})},
                                                     {"fire.lmul", Json::array({want["L_mult"]})},
                                                     {"fire.w1", want["W1"]},
                                                     {"fire.b1", want["b1"]},
                                                     {"fire.w2", want["W2"]},
                                                     {"fire.b2", want["b2"]}};
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Composition c(expression_of(path), model(dtype));
    check_layer("fire", c.plan(size("length"), size("length"), Phase::train).layers[0], dtype);
    BOOST_TEST_REQUIRE(c.parameters().size() == std::size(parameters));
    for (size_t i = 0; i < std::size(parameters); ++i) {
      const Parameter parameter = c.parameters()[i];
      BOOST_TEST(parameter.name == parameters[i].first);
      // Some are 0 as a difference of numbers of size one: softmax does not see a constant.
      const std::vector<double> numbers = golden_numbers(parameters[i].second);
      Tolerance tolerance = tolerance_for(numbers, dtype);
      tolerance.absolute = std::max(tolerance.absolute, dtype == DType::f64 ? 1e-12 : 2e-5);
      BOOST_TEST(all_close(parameter.value.grad().to_vector(), numbers, tolerance),
                 parameter.name << " in " << dtype);
    }
  }
}

// Values into the parameters, as an optimizer would put them.
void store(const Composition& c, const std::vector<Tensor>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    Tensor x = c.parameters()[i].value;
    const std::vector<double> from = values[i].to_vector();
    std::copy(from.begin(), from.end(), x.data<double>());
  }
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  const int64_t n = 9;
  const Composition c("fire(hidden=7, l0=4.3)", model_of(3));
  std::vector<Tensor> start;
  for (const Parameter& parameter : c.parameters()) start.push_back(parameter.value.clone());
  start[0] = Tensor::from({-0.3}, {1}, DType::f64);  // |c|
  start[1] = Tensor::from({-1.2}, {1}, DType::f64);
  const auto bias = [&](const std::vector<Tensor>& xs) {
    store(c, xs);
    const Tensor table = dense(rule_of(c, n, Phase::train).row_bias, n);
    Tensor y = table.clone();
    record("bias", y, xs, [&c, table](const Tensor& dy) {
      for (const Parameter& parameter : c.parameters()) parameter.value.set_grad({});
      backward(table, dy);
      Grads grads;
      for (const Parameter& parameter : c.parameters()) grads.push_back(parameter.value.grad());
      return grads;
    });
    return y;
  };
  BOOST_TEST(gradients_agree(ManyToOne(bias), start));
}

BOOST_AUTO_TEST_CASE(the_pieces_are_the_network) {
  const int64_t n_head = 2, n = 40;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    Config config = model_of(n_head);
    config.seed = seed;
    const Composition c("fire(l0=10)", config);
    const auto value = [&](size_t i) { return c.parameters()[i].value.to_vector(); };
    const std::vector<double> w1 = value(2), b1 = value(3), w2 = value(4), b2 = value(5);
    std::vector<double> want;
    for (size_t h = 0; h < 2; ++h)
      for (int64_t m = 0; m < n; ++m)
        for (int64_t k = 0; k < n; ++k) {
          const double x = std::log1p(0.1 * static_cast<double>(m - k)) /
                           (std::log1p(0.1 * std::max(static_cast<double>(m), 10.0)) + 1e-6);
          double f = b2[h];
          for (size_t i = 0; i < 32; ++i) f += w2[h * 32 + i] * std::max(w1[i] * x + b1[i], 0.0);
          want.push_back(k <= m ? f : 0);
        }
    const RowBias pieces = rule_of(c, n).row_bias;
    const std::vector<double> knots = pieces.knots.to_vector();
    BOOST_TEST(std::is_sorted(knots.begin(), knots.end()));
    BOOST_TEST(std::count_if(knots.begin(), knots.end(), [](double x) { return x < 1; }) > 2);
    BOOST_TEST(all_close(dense(pieces, n).to_vector(), want, Tolerance(1e-13)));
  }
}

BOOST_AUTO_TEST_CASE(tables_are_for_all_keys_and_the_last_queries) {
  const Composition c("fire(l0=4)", model_of(2));
  const RowBias all = c.plan(9, 9, Phase::eval).layers[0].rule.row_bias;
  const RowBias last = c.plan(2, 9, Phase::eval).layers[0].rule.row_bias;
  BOOST_TEST((last.feature.shape() == Shape{9}));
  BOOST_TEST((last.row_factor.shape() == Shape{2}));
  BOOST_TEST(all_close(last.row_factor, slice(all.row_factor, 0, 7, 9), Tolerance(0)));
  const RowBias one = c.plan(1, 1, Phase::eval).layers[0].rule.row_bias;
  BOOST_TEST((one.slope.shape() == all.slope.shape()));
}

// The largest x = feature[d] row_factor[m] of each query.
std::vector<double> farthest(const RowBias& pieces) {
  const std::vector<double> feature = pieces.feature.to_vector();
  std::vector<double> x = pieces.row_factor.to_vector();
  for (size_t m = 0, first = feature.size() - x.size(); m < x.size(); ++m)
    x[m] *= feature[first + m];
  return x;
}

BOOST_AUTO_TEST_CASE(remaps_change_distances_and_the_position_of_the_query) {
  const Config config = model_of(2);
  const auto pieces = [&](const char* remap, int64_t n_query = 9) {
    return Composition(concat("fire(l0=1)", remap), config)
        .plan(n_query, 9, Phase::eval)
        .layers[0]
        .rule.row_bias;
  };
  // Halving distances equals a logarithm that is twice as slow.
  const RowBias half = pieces(" + interpolation(scale=2)");
  for (size_t d = 0; d < 9; ++d)
    BOOST_TEST(std::abs(half.feature.to_vector()[d] - std::log1p(0.05 * static_cast<double>(d))) <
               1e-15);
  const double want = 1 / (std::log1p(0.05 * 8) + 1e-6);
  BOOST_TEST(std::abs(half.row_factor.to_vector()[8] - want) < 1e-12);
  // A shift moves the query, not the distances.
  const RowBias shifted = pieces(" + shape(eval_shift=100)", 2);
  BOOST_TEST(all_close(shifted.feature, pieces("").feature, Tolerance(0)));
  BOOST_TEST(std::abs(shifted.row_factor.to_vector()[1] - 1 / (std::log1p(10.8) + 1e-6)) < 1e-12);
  // Where distances are a draw of their own, no key lies before the first position.
  for (const double x : farthest(pieces(" + randomized(max_positions=64)"))) BOOST_TEST(x < 1);
  for (const double x : farthest(pieces(""))) BOOST_TEST(x < 1);
}

BOOST_AUTO_TEST_CASE(positions_of_their_own_for_each_sequence_are_refused) {
  const Config config = model_of(2);
  const auto refusal = [&](const char* expression) {
    const Composition c(expression, config);
    return error_of([&] { c.plan(9, 9, Phase::train, {.n_sequence = 2}); });
  };
  BOOST_TEST(refusal("fire + shape") ==
             "[posenc] fire expects the positions of all sequences to be the same, got a remap "
             "that draws for each");
  BOOST_TEST(refusal("block_repeat(2) + fire") ==
             "[posenc] expected no row-dependent bias beside block_repeat(repeat=2); got "
             "'block_repeat(repeat=2) + fire'");
}

BOOST_AUTO_TEST_CASE(a_unit_without_slope_is_constant) {
  const TempFolder folder;
  const std::string path = (folder / "fire.safetensors").string();
  Tensors parameters = golden_parameters();
  parameters[2].second = Tensor::from({0, 0, 1, -1, 2}, {5}, DType::f64);
  parameters[3].second = Tensor::from({3, -3, -0.5, 0.5, 0}, {5}, DType::f64);
  write_safetensors(path, parameters);
  const Composition c(expression_of(path), model());
  const RowBias pieces = rule_of(c, 8).row_bias;
  // One kink at 0.5, twice; and that at 0 is not among them. The others have none.
  BOOST_TEST((pieces.knots.to_vector() == std::vector<double>{0.5, 0.5, 1e30, 1e30, 1e30}));
  const std::vector<double> w2 = parameters[4].second.to_vector();
  const std::vector<double> slope = pieces.slope.to_vector(), offset = pieces.offset.to_vector();
  BOOST_TEST(std::abs(slope[0] - (2 * w2[4] - w2[3])) < 1e-15);
  BOOST_TEST(std::abs(slope[2] - (2 * w2[4] + w2[2])) < 1e-15);
  BOOST_TEST(std::abs(offset[0] - (0.1 + 3 * w2[0] + 0.5 * w2[3])) < 1e-15);
}

BOOST_AUTO_TEST_CASE(initial_values_are_those_of_two_linear_layers) {
  const std::vector<Parameter> p = Composition("fire(hidden=400)", model_of(5)).parameters();
  BOOST_TEST_REQUIRE(p.size() == 6u);
  const char* const names[] = {"fire.c", "fire.lmul", "fire.w1", "fire.b1", "fire.w2", "fire.b2"};
  const Shape shapes[] = {{1}, {1}, {400}, {400}, {5, 400}, {5}};
  for (size_t i = 0; i < 6; ++i) {
    BOOST_TEST(p[i].name == names[i]);
    BOOST_TEST((p[i].value.shape() == shapes[i]));
    BOOST_TEST(!p[i].decay);
  }
  BOOST_TEST(p[0].value.item() == 0.1);
  BOOST_TEST(p[1].value.item() == 1);
  for (size_t i = 2; i < 6; ++i) {
    const double bound = i < 4 ? 1 : 0.05;
    double largest = 0, sum = 0;
    const std::vector<double> values = p[i].value.to_vector();
    for (const double x : values) {
      largest = std::max(largest, std::abs(x));
      sum += x / static_cast<double>(values.size());
    }
    BOOST_TEST(largest <= bound, names[i]);
    BOOST_TEST(largest > (i == 5 ? 0.3 : 0.95) * bound, names[i]);
    BOOST_TEST(std::abs(sum) < (i == 5 ? 1 : 0.1) * bound, names[i]);
  }
  BOOST_TEST((p[2].value.to_vector() != p[3].value.to_vector()));
}

BOOST_AUTO_TEST_CASE(layers_share_one_network_unless_told_otherwise) {
  const Composition shared("fire", model_of(2));
  const auto plan = shared.plan(5, 5, Phase::train);
  BOOST_TEST(shared.parameters().size() == 6u);
  BOOST_TEST(plan.layers[0].rule.row_bias.slope.raw_data() ==
             plan.layers[2].rule.row_bias.slope.raw_data());
  const Composition own("fire(share=layer)", model_of(2));
  BOOST_TEST(own.parameters().size() == 18u);
  BOOST_TEST(own.parameters()[6].name == "fire.layer1.c");
  BOOST_TEST((own.parameters()[2].value.to_vector() != own.parameters()[8].value.to_vector()));
}

BOOST_AUTO_TEST_CASE(without_learning_there_are_no_parameters) {
  const Composition c("fire(learn=false)", model_of(2, DType::f32));
  BOOST_TEST(c.parameters().empty());
  const RowBias pieces = rule_of(c, 8, Phase::train).row_bias;
  BOOST_TEST(!pieces.slope.needs_grad());
  BOOST_TEST((pieces.slope.dtype() == DType::f32));
}

BOOST_AUTO_TEST_CASE(what_a_file_said_is_kept_though_not_trained) {
  const TempFolder folder;
  const std::string path = (folder / "fire.safetensors").string();
  write_safetensors(path, golden_parameters());
  const Composition c(expression_of(path, ", learn=false"), model());
  BOOST_TEST_REQUIRE(c.parameters().size() == 6u);
  for (size_t i = 0; i < 6; ++i) {
    BOOST_TEST(!c.parameters()[i].value.requires_grad());
    BOOST_TEST((c.parameters()[i].value.to_vector() == golden_parameters()[i].second.to_vector()));
  }
}

BOOST_AUTO_TEST_CASE(the_canonical_text_names_the_file) {
  const TempFolder folder;
  const std::string path = (folder / "fire.safetensors").string();
  write_safetensors(path, golden_parameters());
  const std::string text = Composition(expression_of(path), model()).canonical();
  BOOST_TEST(text == concat("fire(hidden=5, l0=4.5, params=@", path, ')'));
  BOOST_TEST(Composition(text, model()).canonical() == text);
}

BOOST_AUTO_TEST_CASE(a_file_that_does_not_fit_is_refused) {
  const TempFolder folder;
  const std::string path = (folder / "fire.safetensors").string();
  const auto refusal = [&](const Tensors& tensors) {
    write_safetensors(path, tensors);
    return error_of_expression(expression_of(path), model());
  };
  const auto with = [](size_t i, const char* name, const Tensor& x) {
    Tensors tensors = golden_parameters();
    tensors[i] = {name, x};
    return tensors;
  };
  const auto zeros = [](const Shape& shape, DType dtype = DType::f32) {
    return Tensor::zeros(shape, dtype);
  };
  Tensors more = golden_parameters();
  more.emplace_back("w3", zeros({2}));
  const std::pair<Tensors, const char*> cases[] = {
      {more, ": expected tensors c, lmul, w1, b1, w2, b2, got 'w3' too at column 42\n"},
      {Tensors(more.begin(), more.begin() + 4),
       ": expected tensors c, lmul, w1, b1, w2, b2, got no w2"},
      {with(2, "w1", zeros({6})), ": expected w1 of shape [5] (hidden is 5), got [6]"},
      {with(4, "w2", zeros({5, 2})), ": expected w2 of shape [2, 5] (hidden is 5), got [5, 2]"},
      {with(0, "c", zeros({2})), ": expected c of shape [1] (hidden is 5), got [2]"},
      {with(5, "b2", zeros({2}, DType::i32)), ": expected b2 in a floating type, got int32"},
      {with(3, "b1", Tensor::full({5}, NAN)), ": expected finite numbers, got nan in b1"}};
  for (const auto& [tensors, message] : cases) {
    const std::string error = refusal(tensors);
    BOOST_TEST(error.find(concat("[posenc] fire(params): ", path, message)) == 0u, error);
  }
  // A column is a vector, and one number has any shape of one element.
  Tensors columns = golden_parameters();
  columns[0].second = reshape(columns[0].second, {});
  columns[2].second = reshape(columns[2].second, {5, 1});
  BOOST_TEST(refusal(columns) == "");
  BOOST_TEST(error_of_expression("fire(params=@no/such/file)", model_of(2)).find("no/such/file") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(values_out_of_range_are_refused) {
  const std::pair<const char*, const char*> cases[] = {
      {"fire(0)", "fire(hidden): expected an integer >= 1"},
      {"fire(hidden=4096)", "fire(hidden): expected an integer >= 1 and <= 512, got 4096"},
      {"fire(eps=0)", "fire(eps): expected a number > 0"},
      {"fire(l0=0)", "fire(l0): expected a number > 0"},
      {"fire + fire", "expected at most one row-dependent bias on a layer, got fire and fire"}};
  for (const auto& [expression, message] : cases)
    BOOST_TEST(error_of_expression(expression, model_of(2)).find(message) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_network_for_more_heads_than_memory_holds_is_refused) {
  BOOST_TEST(error_of_expression("fire(hidden=512)", model_of(64)) == "");
  BOOST_TEST(
      error_of_expression("fire(hidden=512)", model_of(4096))
          .find("fire(hidden): expected a network whose pieces, n_head x hidden x (hidden + 1) "
                "numbers of 8 bytes, take at most 256 MiB, got 8208 MiB for 4096 heads") !=
      std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
