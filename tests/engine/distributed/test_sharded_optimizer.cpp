#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/distributed/sharded_optimizer.h"
#include "tests/support/messages.h"
#include "tests/support/processes.h"

BOOST_AUTO_TEST_SUITE(test_sharded_optimizer)  // ctest: threads

using namespace farfield;
using test::EndedProcess;
using test::in_processes;

namespace {

// Of several buckets, and one that has no part for some processes.
std::vector<Parameter> parameters() {
  std::vector<Parameter> all;
  for (const int64_t size : {10, 400'000, 3, 250'000, 20'000}) {
    Tensor value = Tensor::empty({size});
    for (int64_t i = 0; i < size; ++i)
      value.data<float>()[i] = std::sin(static_cast<float>(i + size));
    value.set_requires_grad();
    all.push_back({.name = "p" + std::to_string(all.size()), .value = value, .decay = size > 10});
  }
  return all;
}

// The share of one of P processes in a gradient whose sum is the same for all P: a power of two.
Tensor gradient_of(const Parameter& p, int64_t step, int n_process) {
  Tensor g = Tensor::empty(p.value.shape());
  for (int64_t i = 0; i < g.numel(); ++i)
    g.data<float>()[i] = std::cos(static_cast<float>(3 * i + step)) / static_cast<float>(n_process);
  return g;
}

std::string hash_of(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  Hasher hasher;
  for (const auto& [name, x] : tensors) {
    hasher.update(name);
    hasher.update(x.raw_data(), static_cast<size_t>(x.size_bytes()));
  }
  return hasher.hex();
}

template <class Options, class Kind>
ShardedOptimizer::Make maker() {
  return [](std::vector<Parameter> own) -> std::unique_ptr<Optimizer> {
    Options options;
    options.weight_decay = 0.1;
    return std::make_unique<Kind>(std::move(own), options);
  };
}

void step(ShardedOptimizer& optimizer, int64_t index) {
  const int n = optimizer.processes().data.size();
  const std::vector<Parameter>& all = optimizer.parameters();
  optimizer.begin_update(1e-2);
  std::vector<bool> have(all.size(), true);
  have[2] = false;  // has none in this step
  if (optimizer.is_sharded()) {
    optimizer.buckets().begin();
    for (size_t i = all.size(); i-- > 0;)
      optimizer.buckets().put(i, have[i] ? gradient_of(all[i], index, n) : Tensor());
    optimizer.buckets().finish();
  } else {
    for (size_t i = 0; i < all.size(); ++i)
      if (have[i]) all[i].value.set_grad(gradient_of(all[i], index, n));
  }
  optimizer.update(
      {.loss = Tensor::zeros({}, DType::f64), .grad_norm = optimizer.grad_norm(), .max_norm = 1},
      have);
  optimizer.zero_grad();
}

// Weights and state after some steps, with the state given away and taken back in the middle.
std::string trained(const Group& group, const ShardedOptimizer::Make& make) {
  ShardedOptimizer optimizer(parameters(), ProcessGrid::of(group, 1), make);
  for (int64_t i = 0; i < 2; ++i) step(optimizer, i);
  // As a checkpoint does: all read what the first has.
  std::map<std::string, Tensor> all;
  for (auto& [name, x] : optimizer.state()) all[name] = x.clone();
  if (!group.is_alone()) {
    ShardedOptimizer alone(parameters(), {}, make);
    for (const auto& [name, like] : alone.state()) {
      if (!group.is_first()) all[name] = empty_like(like);
      group.communicator().broadcast(
          {static_cast<std::byte*>(all[name].raw_data()), static_cast<size_t>(like.size_bytes())});
    }
  }
  const std::vector<Parameter> weights = optimizer.parameters();
  ShardedOptimizer other(weights, ProcessGrid::of(group, 1), make);
  other.load_state(all, optimizer.t());
  for (int64_t i = 2; i < 4; ++i) step(other, i);
  const auto state = other.state();
  std::vector<std::pair<std::string, Tensor>> named;
  for (const Parameter& p : weights) named.emplace_back(p.name, p.value);
  return hash_of(named) + (group.is_first() ? ' ' + hash_of(state) : "");
}

}  // namespace

BOOST_AUTO_TEST_CASE(any_number_of_processes_make_the_update_of_one_to_the_bit) {
  for (const auto& make : {maker<AdamWOptions, AdamW>(), maker<NagOptions, Nag>()}) {
    const std::string wanted = trained({}, make);
    for (const int size : {2, 4, 8}) {
      const std::vector<EndedProcess> ended =
          in_processes(size, [&](std::shared_ptr<comm::Communicator> processes) {
            return trained(Group(std::move(processes)), make);
          });
      for (size_t rank = 0; rank < ended.size(); ++rank)
        BOOST_TEST(ended[rank].said == (rank == 0 ? wanted : wanted.substr(0, wanted.find(' '))),
                   "process " << rank << " of " << size << ": " << ended[rank].said);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_state_of_another_model_is_refused) {
  const std::vector<EndedProcess> ended =
      in_processes(2, [&](std::shared_ptr<comm::Communicator> processes) {
        ShardedOptimizer optimizer(parameters(), ProcessGrid::of(Group(std::move(processes)), 1),
                                   maker<AdamWOptions, AdamW>());
        std::string said;
        std::map<std::string, Tensor> tensors;
        for (const bool has_names : {false, true}) {
          try {
            optimizer.load_state(tensors, 1);
          } catch (const IoError& error) {
            said += error.what();
          }
          for (const Parameter& p : optimizer.parameters())
            for (const char* moment : {".exp_avg", ".exp_avg_sq"})
              tensors[p.name + moment] = Tensor::zeros({p.value.numel() + (has_names ? 0 : 1)});
        }
        return said;
      });
  for (const EndedProcess& one : ended)
    BOOST_TEST(one.said ==
               "[optimizer] expected a tensor 'p0.exp_avg', got none of that name"
               "[optimizer] expected 'p0.exp_avg' of float32 [10], got float32 [11]; is it of "
               "another model?");
}

BOOST_AUTO_TEST_CASE(a_process_that_gives_up_does_not_wait) {
  const std::vector<EndedProcess> ended =
      in_processes(2, [&](std::shared_ptr<comm::Communicator> processes) -> std::string {
        const Group group(processes);
        ShardedOptimizer optimizer(parameters(), ProcessGrid::of(group, 1),
                                   maker<AdamWOptions, AdamW>());
        optimizer.buckets().begin();
        if (group.rank() == 1) fail<Error>("test", "gone");
        for (size_t i = optimizer.parameters().size(); i-- > 0;) optimizer.buckets().put(i, {});
        optimizer.buckets().finish();
        return "finished";
      });
  BOOST_TEST(ended[1].said == "[test] gone");
  BOOST_TEST(ended[0].said.find("process 1 of 2 has ended or cannot be reached any more") !=
                 std::string::npos,
             ended[0].said);
}

BOOST_AUTO_TEST_SUITE_END()
