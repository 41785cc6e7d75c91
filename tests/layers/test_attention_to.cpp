#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/error.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_attention_to)  // ctest: on_cuda
namespace {

constexpr int64_t kBatch = 2, kTokens = 9, kHeads = 2, kGroups = 4;

const Tensor& ids() {
  static const Tensor all =
      Tensor::from(std::vector<int32_t>{1, 5, 2, 9, 12, 0, 3, 3, 7, 4, 4, 8, 11, 6, 2, 10, 1, 0},
                   {kBatch, kTokens});
  return all;
}

// Tokens 0, 4, 8 of each row are in group 0, tokens 1, 5 in group 1, and so on.
std::vector<int32_t> by_turns() {
  std::vector<int32_t> groups;
  for (int64_t i = 0; i < kBatch * kTokens; ++i)
    groups.push_back(static_cast<int32_t>(i % kTokens % kGroups));
  return groups;
}

Transformer model_of(const std::string& posenc) {
  Transformer model(tiny_config(posenc), 3, DType::f64);
  shake(model);
  return model;
}

// Without weights and biases of the projection all scores of content are 0.
void forget_content(const Transformer& model) {
  for (Parameter p : model.parameters())
    if (p.name.find("query_key_value") != std::string::npos)
      std::fill_n(p.value.data<double>(), p.value.numel(), 0.0);
}

// The weights of groups that keys d tokens back have by their distance alone, [B, T, H, G].
std::vector<double> expected(double (*weight)(int64_t head, int64_t d)) {
  std::vector<double> all;
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t t = 0; t < kTokens; ++t)
      for (int64_t h = 0; h < kHeads; ++h) {
        double groups[kGroups] = {}, sum = 0;
        for (int64_t n = 0; n <= t; ++n) {
          groups[n % kGroups] += weight(h, t - n);
          sum += weight(h, t - n);
        }
        for (const double w : groups) all.push_back(w / sum);
      }
  return all;
}

BOOST_AUTO_TEST_CASE(without_content_the_encoding_alone_decides) {
  const auto check = [](const char* posenc, double (*weight)(int64_t, int64_t)) {
    const Transformer model = model_of(posenc);
    forget_content(model);
    const std::vector<Tensor> layers = model.attention_to(ids(), by_turns());
    BOOST_TEST(layers.size() == 2u);
    for (const Tensor& of : layers) {
      BOOST_TEST(of.shape() == Shape({kBatch, kTokens, kHeads, kGroups}));
      BOOST_TEST(all_close(of.to_vector(), expected(weight), Tolerance(1e-13)), posenc);
    }
  };
  check("none", [](int64_t, int64_t) { return 1.0; });
  check("window(3)", [](int64_t, int64_t d) { return d < 3 ? 1.0 : 0.0; });
  check("alibi", [](int64_t h, int64_t d) {  // slopes 1/16 and 1/256
    return std::exp(-static_cast<double>(d) * (h == 0 ? 1.0 / 16 : 1.0 / 256));
  });
}

BOOST_AUTO_TEST_CASE(the_weights_of_all_keys_add_up_to_one) {
  for (const char* posenc : {"rope", "kerple_log", "rerope(w=4)", "window(3) + rope", "fire"}) {
    double least = 1, most = 0;
    for (const Tensor& of : model_of(posenc).attention_to(ids(), by_turns())) {
      const std::vector<double> all = of.to_vector();
      for (size_t i = 0; i < all.size(); i += kGroups) {
        BOOST_TEST(std::abs(all[i] + all[i + 1] + all[i + 2] + all[i + 3] - 1) < 1e-13, posenc);
        least = std::min(least, all[i]);
        most = std::max(most, all[i]);
      }
    }
    BOOST_TEST(most - least > 0.5, posenc);  // groups differ
  }
}

BOOST_AUTO_TEST_CASE(tokens_of_no_group_count_nowhere) {
  const Transformer model = model_of("rope");
  std::vector<int32_t> groups(static_cast<size_t>(kBatch * kTokens), -1);
  groups[2] = 1;
  const std::vector<double> one = model.attention_to(ids(), groups)[1].to_vector(),
                            all = model.attention_to(ids(), by_turns())[1].to_vector();
  double sum = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    const bool is_it = i % kGroups == 1 && i < one.size() / kBatch;
    BOOST_TEST((is_it || one[i] == 0));
    sum += one[i];
  }
  BOOST_TEST((sum > 0.1 && sum < kTokens * kHeads));
  BOOST_TEST(one != all);
}

BOOST_AUTO_TEST_CASE(wrong_groups_are_refused) {
  const Transformer model = model_of("rope");
  BOOST_CHECK_EXCEPTION(model.attention_to(ids(), {0, 1}), ShapeError,
                        says("expected a group of each of 18 tokens, got 2"));
  std::vector<int32_t> groups = by_turns();
  groups[3] = 4;
  BOOST_CHECK_EXCEPTION(model.attention_to(ids(), groups), ConfigError,
                        says("expected groups from -1 to 3, got 4"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
