// Weights that are kept rounded to bfloat16 beside their float32 values.

#include <boost/test/unit_test.hpp>

#include "apps/train/training_step.h"
#include "engine/base/parallel.h"
#include "engine/ops/pointwise.h"
#include "engine/safetensors.h"
#include "tests/apps/train/rounded_weights.h"
#include "tests/support/random_tensor.h"

BOOST_AUTO_TEST_SUITE(test_rounded_weights)  // ctest: on_cuda:slow

using namespace farfield;
using namespace farfield::train;
using namespace farfield::test;

namespace {

// A model whose weights nothing keeps, trained by hand.
template <class Optimizer, class Options>
void check_against_casts(const Options& options) {
  ModelConfig config = preset("smoke");
  config.n_layer = 2;
  config.train_len = 16;
  config.vocab_size = 50;
  const Transformer model(config, 3, DType::bf16);
  TrainingStep step(Transformer(config, 3, DType::bf16),
                    {.shape = {.batch_size = 4}, .optimizer = options, .max_norm = 0.5});
  Optimizer optimizer(model.parameters(), options);
  for (int64_t i = 0; i < 5; ++i) {
    const Tensor ids = random_ids({4, 16}, 2 * static_cast<uint64_t>(i), 50),
                 targets = random_ids({4, 16}, 2 * static_cast<uint64_t>(i) + 1, 50);
    step.take(ids, targets, i);
    step.run(1e-2);
    optimizer.zero_grad();
    const Tensor loss = model.loss(ids, targets, static_cast<uint64_t>(i));
    backward(loss);
    const Tensor norm = device_grad_norm(optimizer.parameters());
    optimizer.step(1e-2,
                   {.loss = cast(loss.detach(), DType::f64), .grad_norm = norm, .max_norm = 0.5});
    BOOST_TEST(step.outcome().loss == loss.item());
    BOOST_TEST(step.outcome().grad_norm == norm.item());
  }
  const std::vector<Parameter> got = step.parameters(), want = model.parameters();
  for (size_t i = 0; i < want.size(); ++i) {
    BOOST_TEST(got[i].value.has_rounded() == got[i].is_rounded);
    BOOST_TEST(!want[i].value.has_rounded());
    BOOST_TEST((got[i].value.to_vector() == want[i].value.to_vector()), want[i].name);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(steps_are_those_of_a_model_that_rounds_in_each_pass) {
  check_against_casts<AdamW>(AdamWOptions{.weight_decay = 0.1});
  check_against_casts<Nag>(NagOptions{.momentum = 0.9, .weight_decay = 0.1});
}

BOOST_AUTO_TEST_CASE(what_happens_between_steps_leaves_no_stale_weight) {
  const auto check = [](const auto& change) {
    run::RunConfig config = toy().config();
    change(config);
    check_a_run_of_everything(config);
  };
  check([](run::RunConfig&) {});
  check([](run::RunConfig& config) {
    config.optimizer = "nag";
    config.momentum = 0.9;
    config.accumulate = 2;
    config.checkpoint_activations = true;
    config.logits = "bf16";
  });
  check([](run::RunConfig& config) {  // a head and a projection that are computed from weights
    config.preset = "baevski-247m";
    config.d_model = 32;
    config.cutoffs = "100,112";
  });
}

BOOST_AUTO_TEST_CASE(a_write_through_a_pointer_is_seen_by_the_next_step) {
  Trainer got = rounded_trainer(toy().config()), want = rounded_trainer(toy().config());
  for (int64_t i = 0; i < 4; ++i) {
    for (auto [name, tensor] : got.model_tensors())
      if (name == "embed_out.weight") tensor.data<float>()[5 + i] += 0.5f;
    for (auto [name, tensor] : want.model_tensors()) {
      if (name != "embed_out.weight") continue;
      const Tensor written = tensor.clone();
      Tensor(written).data<float>()[5 + i] += 0.5f;
      tensor.assign(written);
    }
    step_both(got, want);
    check_rounded(got);
  }
  check_same_tensors(got, want);
}

BOOST_AUTO_TEST_CASE(threads_that_compute_pieces_read_what_was_kept) {
  run::RunConfig config = toy().config();
  config.batch = 8;
  const int before = thread_count();
  for (const int n : {1, 2, 4}) {
    set_thread_count(n);
    Trainer got = rounded_trainer(config), want = rounded_trainer(config);
    ask_for_weights(want);
    for (int i = 0; i < 3; ++i) step_both(got, want);
    check_rounded(got);
    check_same_tensors(got, want);
  }
  set_thread_count(before);
}

BOOST_AUTO_TEST_CASE(saving_leaves_what_is_kept) {
  Trainer t = rounded_trainer(toy().config());
  t.step();
  const TempFolder folder;
  write_safetensors(folder / "model.safetensors", t.model_tensors());
  check_rounded(t);
}

BOOST_AUTO_TEST_CASE(nothing_is_kept_in_float32_or_without_training) {
  const run::RunConfig config = toy().config();
  Trainer t(run::resolve(config), data::Corpus::open(config.data.front()));
  t.step();
  check_rounded(t, false);
  const Transformer model(preset("smoke"), 1, DType::bf16);
  model.nll(Tensor::zeros({1, 8}, DType::i32), Tensor::zeros({1, 8}, DType::i32));
  for (const Parameter& p : model.parameters()) BOOST_TEST(!p.value.has_rounded());
}

BOOST_AUTO_TEST_SUITE_END()
