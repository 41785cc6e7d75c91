#pragma once
// Training in bfloat16 with rounded copies of the weights, beside the same training that rounds
// anew each time: every number must be the same, bit for bit.

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "apps/train/trainer.h"
#include "tests/apps/toy_run.h"

namespace farfield::test {

inline std::vector<Tensor>& weights_asked_for() {
  static std::vector<Tensor> all;
  return all;
}

/// Has all weights asked where they could be written, before each op of each step: none that is
/// kept rounded is read, and no update writes one. Of one trainer at a time.
inline void ask_for_weights(train::Trainer& t) {
  weights_asked_for().clear();
  for (const Parameter& p : t.model().parameters()) weights_asked_for().push_back(p.value);
  t.give_up_when([] {
    for (Tensor x : weights_asked_for()) x.raw_data();
    return false;
  });
}

inline train::Trainer rounded_trainer(run::RunConfig config) {
  config.precision = "bf16";
  return {run::resolve(config), data::Corpus::open(config.data.front())};
}

/// Checks that the weights that are read in bfloat16, and no others, are kept rounded, if any, and
/// that they are what a cast gives.
inline void check_rounded(const train::Trainer& t, bool is_kept = true) {
  int64_t n_kept = 0;
  for (const Parameter& p : t.model().parameters()) {
    BOOST_TEST(p.value.has_rounded() == (is_kept && p.is_rounded), p.name);
    if (!p.value.has_rounded()) continue;
    ++n_kept;
    const Tensor got = p.value.to(DType::bf16).to(Device{}),
                 want = p.value.to(Device{}).clone().to(DType::bf16);
    BOOST_TEST(
        std::memcmp(got.raw_data(), want.raw_data(), static_cast<size_t>(want.size_bytes())) == 0,
        p.name << " is not what is kept of it");
  }
  BOOST_TEST((n_kept > 3) == is_kept);
}

inline void check_same_tensors(const train::Trainer& got, const train::Trainer& want) {
  const auto all = [](const train::Trainer& t) {
    run::NamedTensors tensors = t.model_tensors();
    for (const auto& tensor : t.optimizer_tensors()) tensors.push_back(tensor);
    return tensors;
  };
  const run::NamedTensors a = all(got), b = all(want);
  BOOST_REQUIRE_EQUAL(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const Tensor x = a[i].second.to(Device{}), y = b[i].second.to(Device{});
    BOOST_TEST(std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.size_bytes())) == 0,
               a[i].first << " differs");
  }
}

inline run::Checkpoint snapshot(const train::Trainer& t) {
  run::Checkpoint c;
  c.state = t.state();
  for (const auto& [name, tensor] : t.model_tensors()) c.model[name] = tensor.clone();
  for (const auto& [name, tensor] : t.optimizer_tensors()) c.optimizer[name] = tensor.clone();
  return c;
}

/// A step of both, and what becomes of `got`.
inline void step_both(train::Trainer& got, train::Trainer& want) {
  const train::StepResult a = got.step(), b = want.step();
  BOOST_TEST(a.step == b.step);
  BOOST_TEST(a.loss == b.loss);
  BOOST_TEST(a.grad_norm == b.grad_norm);
  BOOST_TEST(a.problem == b.problem);
}

/// Runs that change weights, batches and moments in every way that training does, with a step that
/// is not finite, one left out, a rewind, a resumption and a write from outside.
inline void check_a_run_of_everything(const run::RunConfig& config) {
  using train::Trainer;
  const auto write = [](Trainer& t) {  // what a test or an experiment may do
    for (auto [name, tensor] : t.model_tensors())
      if (name == "embed_out.weight")
        tensor.view({8}, 16).assign(Tensor::full({8}, 0.37));
      else if (name.ends_with("dense.weight"))
        tensor.assign(Tensor::full(tensor.shape(), 0.013));
  };
  const auto bad_step = [](Trainer& t) {
    Tensor weight;
    for (const Parameter& p : t.model().parameters())
      if (p.is_rounded) weight = p.value;
    const Tensor before = weight.clone();
    weight.assign(Tensor::full(weight.shape(), std::numeric_limits<double>::infinity()));
    const train::StepResult result = t.step();
    weight.assign(before);
    BOOST_TEST(!result.problem.empty());
    return result.problem;
  };
  Trainer got = rounded_trainer(config), want = rounded_trainer(config);
  ask_for_weights(want);
  for (int i = 0; i < 3; ++i) {
    step_both(got, want);
    check_rounded(got);
    check_rounded(want, false);
    BOOST_TEST(*got.valid_loss() == *want.valid_loss());
    check_rounded(got);
  }
  const run::Checkpoint middle = snapshot(got);
  BOOST_TEST(bad_step(got) == bad_step(want));
  check_rounded(got);
  for (Trainer* t : {&got, &want}) t->skip_step();
  step_both(got, want);
  for (Trainer* t : {&got, &want}) write(*t);
  check_rounded(got);
  for (int i = 0; i < 2; ++i) step_both(got, want);
  check_same_tensors(got, want);
  for (Trainer* t : {&got, &want}) t->restore(middle);
  check_rounded(got);
  Trainer resumed = rounded_trainer(config);
  resumed.restore(middle);
  while (!want.is_done()) {
    const double loss = want.step().loss;
    for (Trainer* t : {&got, &resumed}) BOOST_TEST(t->step().loss == loss);
  }
  for (const Trainer* t : {&got, &resumed}) {
    check_rounded(*t);
    check_same_tensors(*t, want);
  }
}

}  // namespace farfield::test
