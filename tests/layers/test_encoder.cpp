// An encoder against the softmax over all keys, written down.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/autograd.h"
#include "engine/ops/split_heads.h"
#include "layers/attention.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_encoder)  // ctest: on_cuda
namespace {

constexpr int64_t kBatch = 2, kTokens = 7;

ModelConfig encoder_config(const std::string& posenc) {
  ModelConfig config = tiny_config(posenc);
  config.sees_later = true;
  return config;
}

Transformer encoder(const std::string& posenc) {
  Transformer model(encoder_config(posenc), 3, DType::f64);
  shake(model);
  return model;
}

posenc::Composition::Layer layer_of(const Transformer& model) {
  return model.encoding().plan(kTokens, kTokens, posenc::Phase::eval).layers[0];
}

// Rows of [B, H, T, K].
struct Rows {
  std::vector<double> all;
  int64_t n_head, width;
  double at(int64_t b, int64_t h, int64_t t, int64_t c) const {
    return all[static_cast<size_t>(((b * n_head + h) * kTokens + t) * width + c)];
  }
};

// softmax(scale q . k / sqrt(K)) v over all keys: [B, T, H K].
std::vector<double> attended_by_hand(const Heads& heads, double scale) {
  const int64_t n_head = heads.q.dim(1), width = heads.q.dim(3);
  const Rows q{heads.q.to_vector(), n_head, width}, k{heads.k.to_vector(), n_head, width},
      v{heads.v.to_vector(), n_head, width};
  std::vector<double> out;
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t m = 0; m < kTokens; ++m)
      for (int64_t h = 0; h < n_head; ++h) {
        std::vector<double> row(static_cast<size_t>(width));
        double sum = 0;
        for (int64_t n = 0; n < kTokens; ++n) {
          double score = 0;
          for (int64_t c = 0; c < width; ++c) score += q.at(b, h, m, c) * k.at(b, h, n, c);
          const double p = std::exp(scale * score / std::sqrt(static_cast<double>(width)));
          sum += p;
          for (int64_t c = 0; c < width; ++c) row[static_cast<size_t>(c)] += p * v.at(b, h, n, c);
        }
        for (const double x : row) out.push_back(x / sum);
      }
  return out;
}

BOOST_AUTO_TEST_CASE(each_query_sees_all_keys) {
  const Tensor x = random_tensor({kBatch, kTokens, 8}, 5);
  const auto check = [&](const char* posenc, double scale) {
    const Initializer init{.seed = 1, .dtype = DType::f64};
    const Transformer model = encoder(posenc);
    Attention layer = Attention::make(init, "x", encoder_config(posenc));
    layer.qkv.weight = random_tensor(layer.qkv.weight.shape(), 6);
    const auto position = layer_of(model);
    const Tensor want = layer.dense(
        Tensor::from(attended_by_hand(split_heads(layer.qkv(x), 2, position.rotation), scale),
                     {kBatch, kTokens, 8}, DType::f64));
    BOOST_TEST(all_close(layer(x, position), want, Tolerance(1e-13)), posenc);
    BOOST_TEST(all_close(layer.last_rows(x, position, 3), slice(want, 1, kTokens - 3, kTokens),
                         Tolerance(1e-13)),
               posenc);
  };
  check("none", 1);
  check("rope", 1);
  check("rope + log_n(mode=raw)", std::log(static_cast<double>(kTokens)));
}

// Without positions nothing tells the tokens apart: the answers move with them.
BOOST_AUTO_TEST_CASE(without_positions_an_encoder_has_no_order) {
  const std::vector<int32_t> ids = {1, 5, 2, 9, 12, 0, 3}, turned = {3, 0, 12, 9, 2, 5, 1};
  const auto logits = [&](const Transformer& model, const std::vector<int32_t>& of) {
    return model.logits(Tensor::from(of, {1, kTokens}));
  };
  const auto is_turned = [&](const Transformer& model) {
    const Tensor a = logits(model, ids), b = logits(model, turned);
    for (int64_t t = 0; t < kTokens; ++t)
      if (!all_close(slice(a, 1, t, t + 1), slice(b, 1, kTokens - 1 - t, kTokens - t),
                     Tolerance(1e-12)))
        return false;
    return true;
  };
  BOOST_TEST(is_turned(encoder("none")));
  BOOST_TEST(!is_turned(encoder("sinusoidal")));
  Transformer decoder(tiny_config("none"), 3, DType::f64);
  shake(decoder);
  BOOST_TEST(!is_turned(decoder));
}

BOOST_AUTO_TEST_CASE(the_last_scores_and_the_attention_are_those_of_the_whole_pass) {
  const Transformer model = encoder("rope");
  const Tensor ids = random_ids({kBatch, kTokens}, 1, 13);
  const Tensor all = model.logits(ids);
  BOOST_TEST(all_close(model.last_logits(ids),
                       reshape(slice(all, 1, kTokens - 1, kTokens), {kBatch, all.dim(2)}),
                       Tolerance(1e-12)));
  const std::vector<int32_t> one_group(static_cast<size_t>(kBatch * kTokens), 0);
  for (const Tensor& layer : model.attention_to(ids, one_group)) {
    const std::vector<double> weights = layer.to_vector();
    for (size_t i = 0; i < weights.size(); i += 4) BOOST_TEST(std::abs(weights[i] - 1) < 1e-13);
  }
}

// A few entries of each parameter against central differences.
BOOST_AUTO_TEST_CASE(gradients_are_those_of_all_pairs) {
  ModelConfig config = encoder_config("rope + log_n");
  config.attention_dropout = 0.25;
  const Transformer model(config, 3, DType::f64);
  shake(model);
  const Tensor ids = random_ids({kBatch, kTokens}, 1, 13), none = random_ids(ids.shape(), 2, 13);
  BatchPiece piece;
  piece.scored = Tensor::from(std::vector<int32_t>{2, 6, 9}, {3});
  piece.scored_targets = Tensor::from(std::vector<int32_t>{4, 0, 11}, {3});
  piece.scored_per_piece = 3;
  const auto loss = [&] { return model.loss(ids, none, 0, piece); };
  backward(loss());
  const NoGrad no_grad;
  uint64_t draw = 0;
  for (Parameter p : model.parameters()) {
    const std::vector<double> gradient = p.value.grad().to_vector();
    for (int entry = 0; entry < 3; ++entry) {
      const auto i = Random{11, 0}.below(draw++, static_cast<uint64_t>(p.value.numel()));
      double& x = p.value.data<double>()[i];
      const double before = x, step = 1e-5;
      x = before + step;
      const double above = loss().item();
      x = before - step;
      const double below = loss().item();
      x = before;
      const double want = (above - below) / (2 * step);
      BOOST_TEST(std::abs(gradient[i] - want) < 1e-9 + 1e-6 * std::abs(want), p.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_loss_at_some_places_is_that_of_their_logits) {
  const Transformer model = encoder("sinusoidal");
  const Tensor ids = random_ids({kBatch, kTokens}, 1, 13);
  const std::vector<int32_t> places = {9, 2, 13}, targets = {11, 0, 4};
  const std::vector<double>
      logits = model.logits(ids).to_vector(),
      nll = model.nll_at(ids, Tensor::from(places, {3}), Tensor::from(targets, {3})).to_vector();
  for (size_t i = 0; i < places.size(); ++i) {
    const double* const row = logits.data() + places[i] * 13;
    double sum = 0;
    for (int v = 0; v < 13; ++v) sum += std::exp(row[v]);
    BOOST_TEST(std::abs(nll[i] - (std::log(sum) - row[targets[i]])) < 1e-12);
  }
  const Tensor two = Tensor::from(std::vector<int32_t>{1, 2}, {2});
  BOOST_CHECK_EXCEPTION(model.nll_at(ids, two, Tensor::from(targets, {3})), ShapeError,
                        says("expected targets of shape"));
  BOOST_CHECK_EXCEPTION(model.nll_at(ids, ids, ids), ShapeError, says("expected places"));
}

BOOST_AUTO_TEST_CASE(what_has_no_meaning_for_an_encoder_is_refused) {
  for (const char* posenc : {"alibi", "window(4)", "gauss_wht1", "fire", "rerope", "t5",
                             "kerple_log@1 + rope", "rope + only_distances([0, 2])"})
    BOOST_CHECK_EXCEPTION(Transformer(encoder_config(posenc), 3), ConfigError,
                          says("expected absolute or rotary positions, or none, for an encoder"));
  const Transformer model = encoder("sinusoidal");
  const Tensor ids = random_ids({kBatch, kTokens}, 1, 13);
  BOOST_CHECK_EXCEPTION(model.loss(ids, ids), ConfigError,
                        says("expected a causal model for the loss of all next tokens"));
  BOOST_CHECK_EXCEPTION(model.nll(ids, ids), ConfigError, says("expected a causal model"));
  BOOST_CHECK_EXCEPTION(model.make_cache(1, 4), ConfigError, says("for a cache"));
  BOOST_TEST(model.last_nll(ids, random_ids({kBatch}, 2, 13)).numel() == kBatch);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
