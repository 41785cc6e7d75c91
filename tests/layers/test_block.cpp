// The layers that a block is made of (linear, embedding, norm, mlp, attention) and the block
// itself: each is a few lines over tested ops, so here is what those lines decide.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/autograd.h"
#include "layers/block.h"
#include "layers/embedding.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/all_close.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_block)  // ctest: on_cuda
namespace {

const Initializer kInit{.seed = 1, .dtype = DType::f64};

std::vector<std::string> names_of(const auto& layer) {
  std::vector<std::string> names;
  layer.visit("x",
              [&](const Parameter& p) { names.push_back(p.name + (p.decay ? " decays" : "")); });
  return names;
}

using Names = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(linear_multiplies_by_rows_and_adds_the_bias) {
  const Linear linear{.weight = Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2}, DType::f64),
                      .bias = Tensor::from({10, 20, 30}, {3}, DType::f64)};
  const Tensor y = linear(Tensor::from({1, -1}, {1, 1, 2}, DType::f64));
  BOOST_TEST(y.shape() == Shape({1, 1, 3}));
  BOOST_TEST(y.to_vector() == std::vector<double>({9, 19, 29}));
  BOOST_TEST(names_of(linear) == Names({"x.weight decays", "x.bias"}));
  const Linear bare = Linear::make(kInit, "w", 2, 3, 0.02, /*has_bias=*/false);
  BOOST_TEST(names_of(bare) == Names({"x.weight decays"}));
  BOOST_TEST(bare.weight.shape() == Shape({3, 2}));
}

BOOST_AUTO_TEST_CASE(embedding_looks_rows_up) {
  const Embedding embedding{.weight = Tensor::from({1, 2, 3, 4}, {2, 2})};
  const Tensor y = embedding(Tensor::from({1, 0, 1}, {1, 3}, DType::i32), DType::bf16);
  BOOST_TEST(y.dtype() == DType::bf16);
  BOOST_TEST(y.shape() == Shape({1, 3, 2}));
  BOOST_TEST(y.to_vector() == std::vector<double>({3, 4, 1, 2, 3, 4}));
  BOOST_TEST(names_of(embedding) == Names({"x.weight decays"}));
}

BOOST_AUTO_TEST_CASE(a_norm_adds_the_branch_to_the_stream_once) {
  const Norm norm = Norm::make(kInit, {.d_model = 4});
  const Tensor x = Tensor::from({1, 2, 3, 4}, {1, 1, 4}, DType::f64);
  const Tensor branch = Tensor::from({1, 0, 0, 1}, {1, 1, 4}, DType::f64);
  const Tensor added = Tensor::from({2, 2, 3, 5}, {1, 1, 4}, DType::f64);
  const SumAndNorm a = norm({.x = x, .branch = branch}), b = norm({.x = added, .branch = {}});
  BOOST_TEST(same_bits(a.normed, b.normed));
  BOOST_TEST(same_bits(a.sum, added));
  BOOST_TEST(same_bits(b.sum, added));
  BOOST_TEST(std::abs(a.normed.to_vector()[3] - 2 / std::sqrt(1.5 + 1e-5)) < 1e-12);
  BOOST_TEST(names_of(norm) == Names({"x.weight", "x.bias"}));
}

BOOST_AUTO_TEST_CASE(the_mlp_has_the_exact_gelu_between_its_two_products) {
  const auto matrix = [](double value) { return Tensor::full({1, 1}, value, DType::f64); };
  const auto bias = [](double value) { return Tensor::full({1}, value, DType::f64); };
  const Mlp mlp{.up = {.weight = matrix(2), .bias = bias(0.5)},
                .down = {.weight = matrix(3), .bias = bias(-1)}};
  const double u = 2 * 0.7 + 0.5;
  const double want = 3 * (u * 0.5 * std::erfc(-u / std::sqrt(2.0))) - 1;
  BOOST_TEST(std::abs(mlp(Tensor::full({1, 1}, 0.7, DType::f64)).item() - want) < 1e-14);
  BOOST_TEST(names_of(mlp) == Names({"x.dense_h_to_4h.weight decays", "x.dense_h_to_4h.bias",
                                     "x.dense_4h_to_h.weight decays", "x.dense_4h_to_h.bias"}));
}

// One token attends to itself alone, so what comes out is its v, and v is where GPT-NeoX puts it:
// row (h * 3 + 2) * K + c.
BOOST_AUTO_TEST_CASE(attention_of_one_token_is_its_value_out_of_grouped_rows) {
  const int64_t d = 4, n_head = 2, k = 2;
  Attention attention = Attention::make(kInit, "a", {.n_head = n_head, .d_model = d});
  for (int64_t row = 0; row < 3 * d; ++row)
    attention.qkv.bias.data<double>()[row] = static_cast<double>(100 * row);
  Tensor& dense = attention.dense.weight;
  for (int64_t i = 0; i < d * d; ++i) dense.data<double>()[i] = i % (d + 1) == 0 ? 1 : 0;
  const NoGrad no_grad;
  const Tensor y = attention(Tensor::zeros({1, 1, d}, DType::f64), {});
  std::vector<double> want;
  for (int64_t h = 0; h < n_head; ++h)
    for (int64_t c = 0; c < k; ++c)
      want.push_back(static_cast<double>(100 * ((h * 3 + 2) * k + c)));
  BOOST_TEST(y.to_vector() == want);
}

BOOST_AUTO_TEST_CASE(the_last_rows_alone_are_the_last_rows_of_all) {
  const ModelConfig config = tiny_config("none");
  const Block block = Block::make(kInit, "b", config);
  posenc::Composition::Layer position;
  position.rule.row_scale = random_tensor({5}, 3, 0.5, 2);
  position.rule.bias = random_tensor({config.n_head, 5}, 4);
  position.rule.window = 4;
  const Residual in{.x = random_tensor({2, 5, 8}, 1), .branch = random_tensor({2, 5, 8}, 2)};
  const NoGrad no_grad;
  const Residual all = block(in, position);
  for (const int64_t n_row : {1, 3, 5}) {
    const Residual last = block.last_rows(in, position, n_row);
    const auto tail = [n_row](const Tensor& x) {
      const std::vector<double> values = x.to_vector();
      std::vector<double> rows;
      for (const long b : {1, 2})
        rows.insert(rows.end(), values.begin() + b * 40 - n_row * 8, values.begin() + b * 40);
      return rows;
    };
    BOOST_TEST(last.x.shape() == Shape({2, n_row, 8}));
    BOOST_TEST(all_close(last.x.to_vector(), tail(all.x), Tolerance(1e-14)));
    BOOST_TEST(all_close(last.branch.to_vector(), tail(all.branch), Tolerance(1e-14)));
  }
}

BOOST_AUTO_TEST_CASE(each_branch_is_dropped_before_it_is_added) {
  const Block block = Block::make(kInit, "b", tiny_config("none"));
  const LayerDropout drop{.hidden = 0.5, .seed = 1, .draw = 2, .layer = 3};
  const Tensor x = random_tensor({2, 5, 8}, 1);
  const NoGrad no_grad;
  const Tensor a = block.attention(block.attention_norm({.x = x, .branch = {}}).normed, {});
  const Tensor dropped = drop(a, "attention");
  BOOST_TEST(!all_close(dropped, a, Tolerance(1e-3)));
  const SumAndNorm want = block.mlp_norm({.x = x, .branch = dropped});
  const Tensor b = block.mlp(want.normed);
  const Residual got = block({.x = x, .branch = {}}, {}, drop);
  BOOST_TEST(same_bits(got.x, want.sum));
  BOOST_TEST(same_bits(got.branch, drop(b, "mlp")));
  BOOST_TEST(!same_bits(got.branch, b));
}

BOOST_AUTO_TEST_CASE(each_seed_draw_layer_and_place_has_a_mask_of_its_own) {
  const Tensor ones = Tensor::full({64}, 1, DType::f32);
  const auto mask = [&](uint64_t seed, uint64_t draw, int64_t layer, const char* place) {
    const LayerDropout drop{.hidden = 0.5, .seed = seed, .draw = draw, .layer = layer};
    return drop(ones, place).to_vector();
  };
  const std::vector<double> one = mask(1, 12, 3, "mlp");
  BOOST_TEST(mask(1, 12, 3, "mlp") == one);
  for (const auto& other : {mask(2, 12, 3, "mlp"), mask(1, 13, 3, "mlp"), mask(1, 12, 4, "mlp"),
                            mask(1, 12, 3, "attention"), mask(1, 1, 23, "mlp")})
    BOOST_TEST((other != one));
  const Tensor same = LayerDropout{.hidden = 0}(ones, "mlp");
  BOOST_TEST(same.raw_data() == ones.raw_data());
}

// Tables with a history of their own get their gradient through the checkpoint, and dropout draws
// the same masks again.
BOOST_AUTO_TEST_CASE(a_checkpointed_block_has_the_same_outputs_and_gradients) {
  const ModelConfig config = tiny_config("none");
  const Block block = Block::make(kInit, "b", config);
  const LayerDropout drop{.hidden = 0.3, .seed = 5, .draw = 6, .layer = 1};
  std::vector<std::vector<Tensor>> results;
  for (const bool on : {false, true}) {
    Tensor x = random_tensor({2, 5, 8}, 1), bias = random_tensor({config.n_head, 5}, 2),
           weight = random_tensor({config.n_head, 5}, 3);
    for (Tensor* leaf : {&x, &bias, &weight}) leaf->set_requires_grad();
    posenc::Composition::Layer position;
    position.rule.bias = bias;
    position.rule.weight = weight;
    const Residual in{.x = x, .branch = {}};
    const Residual out = on ? block.checkpointed(in, position, drop) : block(in, position, drop);
    backward({out.x, out.branch}, {random_tensor({2, 5, 8}, 4), random_tensor({2, 5, 8}, 5)});
    std::vector<Tensor> result{out.x, out.branch, x.grad(), bias.grad(), weight.grad()};
    block.visit("b", [&](const Parameter& p) {
      result.push_back(p.value.grad());
      p.value.set_grad({});
    });
    results.push_back(result);
  }
  for (size_t i = 0; i < results[0].size(); ++i)
    BOOST_TEST(same_bits(results[1][i], results[0][i]), "result " << i);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
