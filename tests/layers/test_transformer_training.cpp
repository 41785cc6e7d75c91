#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/autograd.h"
#include "engine/base/parallel.h"
#include "engine/optim.h"
#include "layers/transformer.h"
#include "tests/support/all_close.h"
#include "tests/support/clipped_step.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_transformer_training)  // ctest: on_cuda:slow
namespace {

ModelConfig smoke(const std::string& posenc) {
  ModelConfig config = preset("smoke");
  config.posenc = posenc;
  return config;
}

struct Result {
  std::vector<double> losses;
  std::vector<Tensor> weights;
};

// Updates on a fixed batch of pseudo-random tokens that repeat with a period, so there is something
// to learn.
Result train(Transformer model, int steps, double lr) {
  const int64_t batch_size = 4, seq_len = 48;
  std::vector<int32_t> ids, targets;
  for (uint64_t b = 0; b < 4; ++b)
    for (uint64_t t = 0; t < 48; ++t)
      for (auto* out : {&ids, &targets})
        out->push_back(static_cast<int32_t>(Random{5, b}.below((t + (out == &targets)) % 7, 257)));
  const Tensor in = Tensor::from(ids, {batch_size, seq_len});
  const Tensor out = Tensor::from(targets, {batch_size, seq_len});
  AdamW optimizer(model.parameters());
  Result result;
  for (int step = 0; step < steps; ++step) {
    const Tensor loss = model.loss(in, out);
    result.losses.push_back(loss.item());
    backward(loss);
    test::clipped_step(optimizer, lr, 1);
    optimizer.zero_grad();
    model.project();
  }
  for (const Parameter& p : model.parameters()) result.weights.push_back(p.value.clone());
  return result;
}

void check_equal(const Result& got, const Result& want) {
  BOOST_TEST(got.losses == want.losses);
  BOOST_REQUIRE_EQUAL(got.weights.size(), want.weights.size());
  for (size_t i = 0; i < want.weights.size(); ++i)
    BOOST_TEST(same_bits(got.weights[i], want.weights[i]), "parameter " << i);
}

BOOST_AUTO_TEST_CASE(training_has_the_same_bits_on_one_two_and_three_threads) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const char* posenc : {"kerple_log", "rope", "learned_abs"}) {
      std::vector<Result> results;
      ModelConfig config = smoke(posenc);
      config.hidden_dropout = 0.1;
      for (const int threads : {1, 2, 3}) {
        set_thread_count(threads);
        results.push_back(train(Transformer(config, 1, dtype), 3, 1e-2));
      }
      set_thread_count(2);
      check_equal(results[1], results[0]);
      check_equal(results[2], results[0]);
    }
}

BOOST_AUTO_TEST_CASE(checkpointing_changes_no_bit) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const char* posenc : {"kerple_log", "rope", "sinusoidal", "rope@0 + kerple_log@1"}) {
      ModelConfig config = smoke(posenc);
      config.hidden_dropout = 0.1;
      Transformer model(config, 1, dtype), other(config, 1, dtype);
      other.set_checkpointing(true);
      check_equal(train(std::move(other), 3, 1e-2), train(std::move(model), 3, 1e-2));
    }
}

BOOST_AUTO_TEST_CASE(checkpointing_keeps_less) {
  const auto peak = [](bool on) {
    ModelConfig config = smoke("alibi");
    config.n_layer = 8;
    Transformer model(config, 1);
    model.set_checkpointing(on);
    const Tensor ids = random_ids({4, 128}, 1, 257);
    reset_peak_memory(Device{});
    const int64_t before = memory_stats(Device{}).current_bytes;
    backward(model.loss(ids, ids));
    return memory_stats(Device{}).peak_bytes - before;
  };
  BOOST_TEST(peak(true) < 0.5 * static_cast<double>(peak(false)));
}

BOOST_AUTO_TEST_CASE(a_repeated_sequence_is_learned) {
  for (const char* posenc : {"alibi", "rope"}) {
    const Result result = train(Transformer(smoke(posenc), 1), 60, 1e-2);
    BOOST_TEST(result.losses.front() > 5.6);
    BOOST_TEST(result.losses.back() < 0.2);
  }
}

BOOST_AUTO_TEST_CASE(bfloat16_learns_as_float32_does) {
  const Result a = train(Transformer(smoke("alibi"), 1), 30, 1e-2),
               b = train(Transformer(smoke("alibi"), 1, DType::bf16), 30, 1e-2);
  for (size_t i = 0; i < a.losses.size(); ++i)
    BOOST_TEST(std::abs(a.losses[i] - b.losses[i]) < 0.05 * a.losses[i] + 0.05);
}

// Ten losses in float64: any change of the mathematics shows, a change of instruction set does not.
BOOST_AUTO_TEST_CASE(ten_losses_are_the_recorded_ones) {
  const std::vector<double> want = {5.805457296791, 5.361229899418, 5.131842397426, 4.734837448938,
                                    4.335209274553, 3.987794310202, 3.59703187909,  3.246491846697,
                                    2.90142441767,  2.569455184327};
  const Result result = train(Transformer(smoke("kerple_log"), 1, DType::f64), 10, 1e-2);
  BOOST_TEST(all_close(result.losses, want, Tolerance(1e-9)));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
