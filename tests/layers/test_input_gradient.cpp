#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/autograd.h"
#include "posenc/registry.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_input_gradient)  // ctest: on_cuda
namespace {

// Distinct tokens, so that a row of the embedding table is one input.
std::vector<int32_t> distinct(int64_t seq_len) {
  std::vector<int32_t> ids;
  for (int32_t t = 0; t < seq_len; ++t) ids.push_back((5 * t + 2) % 13);
  return ids;
}
Tensor row_of(const std::vector<int32_t>& ids) {
  return Tensor::from(ids, {1, static_cast<int64_t>(ids.size())});
}
Tensor target_of(int32_t id) { return Tensor::from(std::vector<int32_t>{id}, {1}); }

Tensor embedding_table(const Transformer& model) { return model.parameters()[0].value; }

// The number itself, from the logits of a forward pass, term by term.
double scalar_by_hand(const Transformer& model, const Tensor& ids, size_t target,
                      InputScalar what) {
  const NoGrad no_grad;
  const std::vector<double> all = model.logits(ids).to_vector();
  const std::vector<double> z(all.end() - 13, all.end());
  double sum = 0, largest = z[0], p_log_p = 0;
  for (const double x : z) {
    sum += std::exp(x);
    largest = std::max(largest, x);
  }
  for (const double x : z) p_log_p += std::exp(x) / sum * (x - std::log(sum));
  switch (what) {
    case InputScalar::nll:
      return std::log(sum) - z[target];
    case InputScalar::target_logit:
      return z[target];
    case InputScalar::max_logit:
      return largest;
    case InputScalar::negative_entropy:
      break;
  }
  return p_log_p;
}

// Each component of each input against central differences through the embedding table.
void check_gradient(const Transformer& model, int64_t seq_len, InputScalar what) {
  const std::vector<int32_t> ids = distinct(seq_len);
  const size_t target = 3;
  const Tensor gradient = model.input_gradient(row_of(ids), target_of(3), what);
  BOOST_TEST_REQUIRE(gradient.shape() == Shape({1, seq_len, 8}));
  const std::vector<double> got = gradient.to_vector();
  Tensor table = embedding_table(model);
  for (size_t t = 0; t < ids.size(); ++t)
    for (size_t i = 0; i < 8; ++i) {
      double& x = table.data<double>()[static_cast<size_t>(ids[t]) * 8 + i];
      const double before = x, step = 1e-5;
      x = before + step;
      const double above = scalar_by_hand(model, row_of(ids), target, what);
      x = before - step;
      const double below = scalar_by_hand(model, row_of(ids), target, what);
      x = before;
      const double want = (above - below) / (2 * step);
      BOOST_TEST(std::abs(got[t * 8 + i] - want) < 1e-9 + 1e-6 * std::abs(want),
                 model.config().posenc << ": input " << t << ", component " << i << ", gradient "
                                       << got[t * 8 + i] << ", central difference " << want);
    }
}

BOOST_AUTO_TEST_CASE(each_scalar_has_the_gradient_of_its_central_differences) {
  const Transformer model(tiny_config("alibi"), 3, DType::f64);
  shake(model);
  for (const InputScalar what : {InputScalar::nll, InputScalar::target_logit,
                                 InputScalar::max_logit, InputScalar::negative_entropy})
    check_gradient(model, 7, what);
}

// Before the position is added and the scale multiplied; through far copies, remaps, row biases,
// masks and normalisers.
BOOST_AUTO_TEST_CASE(every_encoding_has_the_gradient_of_its_central_differences) {
  std::vector<std::string> expressions{"sinusoidal(emb_scale=3)", "window(3, sinks=2) + alibi"};
  for (const posenc::Row& row : posenc::registry()) expressions.push_back(example_of(row));
  for (const std::string& posenc : expressions) {
    const Transformer model(tiny_config(posenc), 3, DType::f64);
    shake(model);
    check_gradient(model, 7, InputScalar::nll);
  }
}

BOOST_AUTO_TEST_CASE(an_input_beyond_the_reach_of_a_window_has_exactly_no_gradient) {
  const int64_t w = 3, seq_len = 13, reach = (w - 1) * 2;
  const Transformer model(tiny_config("alibi + window(3)"), 3);
  shake(model);
  const std::vector<double> gradient =
      model.input_gradient(row_of(distinct(seq_len)), target_of(3)).to_vector();
  for (int64_t t = 0; t < seq_len; ++t) {
    double largest = 0;
    for (int64_t i = 0; i < 8; ++i)
      largest = std::max(largest, std::abs(gradient[static_cast<size_t>(t * 8 + i)]));
    BOOST_TEST((largest > 0) == (seq_len - 1 - t <= reach), "input " << t << ": " << largest);
  }
}

BOOST_AUTO_TEST_CASE(one_token_has_a_gradient) {
  const Transformer model(tiny_config("rope"), 3, DType::f64);
  shake(model);
  check_gradient(model, 1, InputScalar::nll);
}

BOOST_AUTO_TEST_CASE(rows_of_a_batch_do_not_depend_on_each_other) {
  const Transformer model(tiny_config("rope + kerple_log"), 3, DType::f64);
  shake(model);
  const Tensor ids = random_ids({3, 9}, 1, 13), targets = random_ids({3}, 2, 13);
  const Tensor all = model.input_gradient(ids, targets);
  for (int64_t b = 0; b < 3; ++b) {
    const Tensor one = model.input_gradient(ids.view({1, 9}, b * 9), targets.view({1}, b));
    BOOST_TEST(all_close(all.view({1, 9, 8}, b * 72), one, Tolerance(1e-13)), "row " << b);
  }
}

BOOST_AUTO_TEST_CASE(the_gradient_is_that_of_the_draw) {
  const Transformer model(tiny_config("randomized + rope"), 3, DType::f64);
  shake(model);
  const Tensor ids = row_of(distinct(9)), target = target_of(3);
  const Tensor a = model.input_gradient(ids, target, InputScalar::nll, 1);
  BOOST_TEST(same_bits(a, model.input_gradient(ids, target, InputScalar::nll, 1)));
  BOOST_TEST(!same_bits(a, model.input_gradient(ids, target, InputScalar::nll, 2)));
}

BOOST_AUTO_TEST_CASE(no_parameter_gets_a_gradient_and_each_wants_one_again_afterwards) {
  const Transformer model(tiny_config("kerple_log"), 3);
  const auto check = [&] {
    for (const Parameter& p : model.parameters()) {
      BOOST_TEST(!p.value.grad().defined(), p.name);
      BOOST_TEST(p.value.requires_grad(), p.name);
    }
  };
  {
    const NoGrad no_grad;  // of the caller: the gradient was asked for
    BOOST_TEST(model.input_gradient(row_of(distinct(9)), target_of(3)).defined());
  }
  check();
  BOOST_TEST(message_of<ShapeError>([&] {
               model.input_gradient(row_of(distinct(9)), target_of(13));
             }) == "[model] expected targets from 0 to 12, got 13");
  check();
  BOOST_TEST(message_of<ShapeError>([&] {
               model.input_gradient(row_of(distinct(9)), random_ids({1, 9}, 1, 13));
             }) == "[model] expected targets of shape [1], got [1, 9]");
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_returned_as_it_is) {
  const Transformer model(tiny_config("alibi"), 3);
  shake(model);
  embedding_table(model).data<float>()[2 * 8] = INFINITY;  // of the first token
  const std::vector<double> gradient =
      model.input_gradient(row_of(distinct(5)), target_of(3)).to_vector();
  BOOST_TEST(std::isnan(gradient[0]));
}

// So that a caller can tell "no gradient" from rounding noise.
BOOST_AUTO_TEST_CASE(a_saturated_softmax_has_exactly_no_gradient_of_the_nll) {
  const Transformer model(tiny_config("alibi"), 3);
  shake(model);
  for (Parameter p : model.parameters())
    if (p.name == "embed_out.weight")
      for (int64_t i = 0; i < p.value.numel(); ++i) p.value.data<float>()[i] *= 1e4F;
  const Tensor ids = row_of(distinct(5));
  std::vector<double> z;
  {
    const NoGrad no_grad;
    const std::vector<double> all = model.logits(ids).to_vector();
    z.assign(all.end() - 13, all.end());
  }
  const auto top = static_cast<int32_t>(std::max_element(z.begin(), z.end()) - z.begin());
  for (const double x : model.input_gradient(ids, target_of(top)).to_vector()) BOOST_TEST(x == 0);
  double largest = 0;
  for (const double x :
       model.input_gradient(ids, target_of(top), InputScalar::target_logit).to_vector())
    largest = std::max(largest, std::abs(x));
  BOOST_TEST(largest > 0);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
