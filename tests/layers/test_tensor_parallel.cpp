// A model that several processes have together against the same model in one.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "engine/autograd.h"
#include "engine/base/hash.h"
#include "engine/distributed/gather.h"
#include "engine/distributed/grad_norm.h"
#include "engine/distributed/process_grid.h"
#include "engine/ops/view.h"
#include "engine/optim.h"
#include "posenc/registry.h"
#include "tests/layers/model_families.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/all_close.h"
#include "tests/support/group_work.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_tensor_parallel)  // ctest: on_cuda:slow
namespace {

using test::check_group;
using test::said;

// Four heads; d_ff and the vocabulary are cut unevenly.
ModelConfig config_of(const std::string& posenc) {
  ModelConfig config = tiny_config(posenc);
  config.n_head = 4;
  config.d_model = 16;
  config.d_ff = 14;
  return config;
}
ModelConfig dropping(ModelConfig config) {
  config.train_len = 8;  // pieces of a batch begin at whole groups of a mask
  config.d_ff = 20;
  config.hidden_dropout = 0.2;
  config.activation_dropout = 0.3;
  config.attention_dropout = 0.25;
  return config;
}

std::string bits_of(const Tensor& x) {
  const Tensor host = x.to(Device{});
  return hash_hex(
      {static_cast<const char*>(host.raw_data()), static_cast<size_t>(host.size_bytes())});
}

std::map<std::string, Tensor> values_of(const Transformer& model) {
  std::map<std::string, Tensor> values;
  for (const Parameter& p : with_adapters(model)) values.emplace(p.name, p.value);
  return values;
}

// The largest difference as a share of the largest number, where that is not a gradient that is
// zero but for rounding (of a constant added to all scores): losses here are about 3.
double distance(const Tensor& got, const Tensor& want) {
  const std::vector<double> a = got.to_vector(), b = want.to_vector();
  double difference = a.size() == b.size() ? 0 : HUGE_VAL, size = 1e-3;
  for (size_t i = 0; i < b.size() && i < a.size(); ++i) {
    difference = std::max(difference, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : HUGE_VAL);
    size = std::max(size, std::abs(b[i]));
  }
  return difference / size;
}

double square_distance(const Tensor& got, const Tensor& want) {
  const std::vector<double> a = got.to_vector(), b = want.to_vector();
  double sum = 0;
  for (size_t i = 0; i < b.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

struct Case {
  ModelConfig config;
  DType dtype = DType::f64;
  bool checkpointing = false;
  BatchPiece piece = {};
  double most = 1e-13;  // a distance that rounding makes; for bfloat16 how much larger it may be
};

// What a process finds wrong with its part.
std::string differences(const Case& c, const Group& group) {
  Transformer whole(c.config, 3, c.dtype);
  Transformer shared(c.config, 3, c.dtype, {}, group);
  std::string wrong;
  const auto complain = [&](const auto&... parts) { wrong += concat(parts..., '\n'); };

  const std::vector<Parameter> of_whole = with_adapters(whole), own = with_adapters(shared);
  if (of_whole.size() != own.size()) return "another number of parameters";
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].name != of_whole[i].name || own[i].decay != of_whole[i].decay)
      complain("got ", own[i].name, ", want ", of_whole[i].name);
    // Lengths of rows whose parts lie in several processes are sums in another order.
    const Tensor start = own_shard(of_whole[i].value, own[i].shard);
    const std::string difference =
        said(own[i].name.ends_with("magnitude_vector") ? all_close(own[i].value, start, 1e-6)
                                                       : same_bits(own[i].value, start));
    if (!difference.empty()) complain("at the start ", own[i].name, ": ", difference);
  }
  shake(whole);
  load_parameters(own, values_of(whole));

  const int64_t n = c.config.train_len;
  const auto vocab_size = static_cast<int32_t>(c.config.vocab_size);
  const Tensor ids = random_ids({2, n}, 1, vocab_size), targets = random_ids({2, n}, 2, vocab_size);
  shared.set_checkpointing(c.checkpointing);
  const Tensor want = whole.loss(ids, targets, 5, c.piece),
               got = shared.loss(ids, targets, 5, c.piece);
  backward(want);
  backward(got);
  std::string equal_everywhere = bits_of(got);
  // In bfloat16, whose rounding is no small thing, all gradients together are as far from those in
  // float64 as one process's, about.
  Transformer exact(c.config, 3, DType::f64);
  const std::vector<Parameter> of_exact = with_adapters(exact);
  load_parameters(of_exact, values_of(whole));
  const bool is_narrow = c.dtype == DType::bf16;
  double off = 1e-4, off_of_one = 1e-4;
  const auto compare = [&](const std::string& what, const Tensor& a, const Tensor& b,
                           const Tensor& wide) {
    if (is_narrow) {
      off += square_distance(a, wide);
      off_of_one += square_distance(b, wide);
      return;
    }
    const double error = distance(a, b);
    if (!(error <= c.most)) complain(what, " differs by ", error);
  };
  const Tensor loss = exact.loss(ids, targets, 5, c.piece);
  backward(loss);
  compare("loss", got, want, loss);
  for (size_t i = 0; i < own.size(); ++i) {
    const Tensor gradient = own[i].value.grad(), of_one = of_whole[i].value.grad();
    if (gradient.defined() != of_one.defined()) {
      complain(own[i].name, gradient.defined() ? " has a gradient" : " has no gradient");
      continue;
    }
    if (!gradient.defined()) continue;
    compare("gradient of " + own[i].name, gradient, own_shard(of_one, own[i].shard),
            own_shard(of_exact[i].value.grad(), own[i].shard));
    if (own[i].shard.is_whole()) equal_everywhere += bits_of(gradient);
  }
  const Tensor nll = shared.nll(ids, targets, 4),
               tail = shared.tail_nll(ids, slice(targets, 1, n - 2, n), 4);
  compare("nll", nll, whole.nll(ids, targets, 4), exact.nll(ids, targets, 4));
  const Tensor last = slice(targets, 1, n - 2, n);
  compare("tail_nll", tail, whole.tail_nll(ids, last, 4), exact.tail_nll(ids, last, 4));
  equal_everywhere += bits_of(nll) + bits_of(tail);
  if (is_narrow) {
    const double error = std::sqrt(off / off_of_one);
    if (!(error <= c.most)) complain("off by ", error, " times as much");
  }
  group.communicator().require_equal("bits", equal_everywhere);
  return wrong;
}

void check(int size, const Case& c) {
  BOOST_TEST_CONTEXT(c.config.posenc << ", " << c.dtype)
  check_group(size, [&](const Group& group) { return differences(c, group); });
}

// Each encoding as it acts in training.
BOOST_AUTO_TEST_CASE(every_encoding_equals_one_process) {
  for (const posenc::Row& row : posenc::registry()) {
    ModelConfig config = config_of(posenc::training_example_of(row));
    config.n_layer = 3;
    check(2, {.config = config});
  }
}

BOOST_AUTO_TEST_CASE(one_head_in_each_process) {
  for (const char* posenc : {"none", "rope", "alibi + window(4)", "kerple_log",
                             "kerple_log(constraint=straight_through)", "t5", "fire(hidden=5)",
                             "sandwich", "learned_abs", "relu_attention(penalty=0.7) + kerple_log",
                             "kernel(bias=-r1*log(1+r2*d), r1>0~U(0,2), r2>0~U(0,1))"})
    check(4, {.config = config_of(posenc)});
}

// What layers share and what each has of its own.
BOOST_AUTO_TEST_CASE(terms_of_some_layers_and_of_each_layer) {
  for (const char* posenc :
       {"rope@0 + kerple_log@1 + log_n(unclipped)", "kerple_log(share=layer)", "t5(share=layer)",
        "fire(share=layer, hidden=4) + window(5)@0", "bias_wht + sandwich_learned@1 + sinusoidal",
        "randomized + kerple_log", "randomized(per_layer=true) + rope + kerple_log3",
        "gauss_wht2 + logit_clamp(tau=3)", "rerope(w=3, at=both) + kerple_log",
        "relu_attention(penalty=1, by=seqlen)@1 + alibi_learned", "interpolation(scale=2) + fire"})
    check(2, {.config = config_of(posenc)});
}

BOOST_AUTO_TEST_CASE(masks_of_dropout_are_those_of_one_process) {
  for (const char* posenc : {"none", "kerple_log", "rope"})
    for (const int size : {2, 4}) {
      check(size, {.config = dropping(config_of(posenc))});
      check(size, {.config = dropping(config_of(posenc)),
                   .checkpointing = true,
                   .piece = {.first = 4, .n_batch = 8}});
    }
}

BOOST_AUTO_TEST_CASE(blocks_that_are_computed_again) {
  for (const char* posenc : {"kerple_log(share=layer)", "fire", "rope", "t5"})
    check(2, {.config = config_of(posenc), .checkpointing = true});
}

BOOST_AUTO_TEST_CASE(low_rank_adapters_of_every_layer) {
  ModelConfig config = dropping(config_of("kerple_log + rope"));
  config.adapters = AdapterConfig{.rank = 3,
                                  .targets = {"q", "v", "dense", "up", "down", "head"},
                                  .dropout = 0.25,
                                  .also = {"norms", "posenc"}};
  for (const int size : {2, 4}) check(size, {.config = config});
  check(2, {.config = config, .checkpointing = true, .piece = {.first = 4, .n_batch = 8}});
  check(2, {.config = config, .dtype = DType::f32, .most = 4e-5});
  config.adapters->has_magnitudes = true;
  for (const int size : {2, 4}) check(size, {.config = config});
  check(2, {.config = config, .checkpointing = true, .piece = {.first = 4, .n_batch = 8}});
}

BOOST_AUTO_TEST_CASE(models_of_other_kinds) {
  ModelConfig fairseq = config_of("kerple_log");
  fairseq.activation = MlpActivation::relu;
  fairseq.has_final_norm = false;
  fairseq.scales_embedding = true;
  fairseq.init = InitScheme::fairseq;
  for (const int size : {2, 4}) check(size, {.config = fairseq});
  ModelConfig three = config_of("alibi");  // more heads than processes, and not a power of two
  three.n_head = 6;
  three.d_model = 18;
  check(3, {.config = three});
}

BOOST_AUTO_TEST_CASE(families_of_models) {
  for (auto [name, config] : model_families(config_of("none"))) BOOST_TEST_CONTEXT(name) {
      check(2, {.config = dropping(config)});
      config.adapters = AdapterConfig{.rank = 3, .targets = {"q", "v", "dense", "up", "down"}};
      config.adapters->has_magnitudes = true;
      if (config.is_gated()) config.adapters->targets.emplace_back("gate");
      check(2, {.config = dropping(config)});
    }
}

// Float32 rounds at 6e-8, several times over on the way through two layers; the gradients of fire
// are small sums of large numbers, 4.3e-5 apart on some processors. A wrong share would be apart by
// as much as the gradient: in float64 they agree to 1e-13.
BOOST_AUTO_TEST_CASE(narrower_types) {
  for (const char* posenc : {"none", "rope", "kerple_log", "fire", "t5"}) {
    ModelConfig config = dropping(config_of(posenc));
    for (const int size : {2, 4}) {
      check(size, {.config = config, .dtype = DType::f32, .most = 1e-4});
      check(size, {.config = config, .dtype = DType::bf16, .most = 1.6});
    }
  }
}

// 2 x 2 processes: a model of two, of which two share the batch.
BOOST_AUTO_TEST_CASE(a_batch_is_shared_by_models_that_are_shared) {
  const ModelConfig config = dropping(config_of("kerple_log + relu_attention(penalty=0.5)"));
  const auto work = [&](std::shared_ptr<comm::Communicator> all) {
    const ProcessGrid grid = ProcessGrid::of(Group(all), 2);
    const Transformer whole(config, 3, DType::f64), shared(config, 3, DType::f64, {}, grid.tensor);
    const Tensor ids = random_ids({4, 8}, 1, 13), targets = random_ids({4, 8}, 2, 13);
    backward(whole.loss(ids, targets, 7));
    const int64_t first = 2 * grid.data.rank();
    const auto own = [first](const Tensor& x) { return x.view({2, 8}, 8 * first); };
    backward(shared.loss(own(ids), own(targets), 7, {.first = first, .n_batch = 4}),
             Tensor::full({}, 0.5, DType::f64));
    std::string wrong;
    const std::vector<Parameter> of_whole = whole.parameters(), parts = shared.parameters();
    for (size_t i = 0; i < parts.size(); ++i) {
      const Tensor gradient = parts[i].value.grad();
      grid.data.sum(gradient);
      const double error = distance(gradient, own_shard(of_whole[i].value.grad(), parts[i].shard));
      if (!(error < 1e-12)) wrong += concat(parts[i].name, " differs by ", error, '\n');
    }
    return wrong;
  };
  for (const auto& process : test::in_processes(4, work)) {
    BOOST_TEST(process.said == "");
    BOOST_TEST(process.status == 0);
  }
}

// From four processes to one, to two, and back: weights as they were, bit for bit.
BOOST_AUTO_TEST_CASE(weights_move_between_numbers_of_processes) {
  const ModelConfig config = config_of("kerple_log + rope");
  check_group(4, [&](const Group& four) {
    const auto gathered = [](const Transformer& model, const Group& group) {
      std::map<std::string, Tensor> values;
      for (const Parameter& p : model.parameters())
        values.emplace(p.name, gather_whole(p.value, p.shard, group));
      return values;
    };
    const auto same = [](const std::map<std::string, Tensor>& got, const Transformer& model) {
      std::string wrong;
      for (const auto& [name, want] : values_of(model))
        if (got.count(name) == 0 || !same_bits(got.at(name), want)) wrong += name + '\n';
      return wrong;
    };
    const Transformer whole(config, 8);
    shake(whole);
    const Transformer of_four(config, 1, DType::f32, {}, four);
    load_parameters(of_four.parameters(), values_of(whole));
    std::map<std::string, Tensor> file = gathered(of_four, four);
    std::string wrong = four.is_first() ? same(file, whole) : "";
    if (four.rank() > 1) return wrong;
    const Group two(std::make_shared<comm::Communicator>(four.communicator().among({0, 1})));
    for (auto& [name, value] : file) {  // as if read from a file
      if (!two.is_first()) value = Tensor::empty(values_of(whole).at(name).shape());
      two.communicator().broadcast(
          {static_cast<std::byte*>(value.raw_data()), static_cast<size_t>(value.size_bytes())});
    }
    const Transformer of_two(config, 2, DType::f32, {}, two), of_one(config, 3);
    load_parameters(of_two.parameters(), file);
    file = gathered(of_two, two);
    if (!two.is_first()) return wrong;
    load_parameters(of_one.parameters(), file);
    return wrong + same(values_of(of_one), whole);
  });
}

// Updates with clipped gradients and moments that decay, and then on with another number of
// processes: 4, 2, 1 and 2 again.
using Named = std::vector<std::pair<std::string, Tensor>>;
struct Checkpoint {
  Named weights, moments;
  int64_t t = 0;
};
std::map<std::string, Tensor> by_name(const Named& tensors) {
  return {tensors.begin(), tensors.end()};
}
// The state after two updates from a checkpoint on, whole in the first process; and before them,
// whether the saved state equals the loaded one.
Checkpoint trained(const ModelConfig& config, DType dtype, const Checkpoint& from,
                   const Group& group, std::string& wrong) {
  Transformer model(config, 3, dtype, {}, group);
  const std::vector<Parameter> parameters = model.parameters();
  AdamW optimizer(parameters, {.weight_decay = 0.1});
  const auto checkpoint = [&] {
    Named weights;
    for (const Parameter& p : parameters) weights.emplace_back(p.name, p.value.clone());
    Named moments;
    for (const auto& [name, x] : optimizer.state()) moments.emplace_back(name, x.clone());
    return Checkpoint{gather_whole(weights, parameters, group),
                      gather_whole(moments, parameters, group), optimizer.t()};
  };
  if (from.t > 0) {
    load_parameters(parameters, by_name(from.weights));
    optimizer.load_state(own_shards(by_name(from.moments), parameters), from.t);
    const Checkpoint back = checkpoint();
    for (const auto& [got, want] :
         {std::pair{&back.weights, &from.weights}, std::pair{&back.moments, &from.moments}})
      for (size_t i = 0; i < got->size(); ++i)
        if ((*got)[i].first != (*want)[i].first || !same_bits((*got)[i].second, (*want)[i].second))
          wrong += concat((*got)[i].first, " is not what was resumed from\n");
  }
  for (int step = 0; step < 2; ++step) {
    const auto index = static_cast<uint64_t>(optimizer.t());
    const Tensor ids = random_ids({2, 8}, index, 13), targets = random_ids({2, 8}, index + 9, 13);
    backward(model.loss(ids, targets, index));
    optimizer.step(1e-2, {.loss = Tensor::zeros({}, DType::f64),
                          .grad_norm = device_grad_norm(parameters, group),
                          .max_norm = 0.1});
    optimizer.zero_grad();
    model.project();
  }
  return checkpoint();
}

BOOST_AUTO_TEST_CASE(training_goes_on_with_another_number_of_processes) {
  const ModelConfig config = dropping(config_of("kerple_log + fire(share=layer, hidden=4)"));
  for (const DType dtype : {DType::f64, DType::f32})
    check_group(4, [&](const Group& four) {
      const Group alone;
      const Group two(std::make_shared<comm::Communicator>(
          four.communicator().among(four.rank() < 2 ? std::vector{0, 1} : std::vector{2, 3})));
      std::string wrong;
      Checkpoint want, got;
      for (const Group* group : {&four, &two, &alone, &two}) {
        want = trained(config, dtype, want, alone, wrong);
        got = trained(config, dtype, got, *group, wrong);
        // From the first process of the job to all, as a file.
        const auto send = [&](Named& tensors, const Named& like) {
          if (!four.is_first()) tensors = like;
          for (auto& [name, x] : tensors) {
            x = x.clone();
            four.communicator().broadcast(
                {static_cast<std::byte*>(x.raw_data()), static_cast<size_t>(x.size_bytes())});
          }
        };
        send(got.weights, want.weights);
        send(got.moments, want.moments);
        got.t = want.t;
        const double most = dtype == DType::f64 ? 1e-10 : 2e-2;
        for (size_t i = 0; i < want.weights.size(); ++i) {
          const double error = distance(got.weights[i].second, want.weights[i].second);
          if (!(error < most)) wrong += concat(want.weights[i].first, " is off by ", error, '\n');
        }
      }
      return wrong;
    });
}

BOOST_AUTO_TEST_CASE(a_group_of_one_changes_no_bit) {
  const ModelConfig config = dropping(config_of("kerple_log + rope"));
  const Group one(std::make_shared<comm::Communicator>());
  const Transformer model(config, 3), grouped(config, 3, DType::f32, {}, one);
  const Tensor ids = random_ids({2, 8}, 1, 13), targets = random_ids({2, 8}, 2, 13);
  const Tensor want = model.loss(ids, targets), got = grouped.loss(ids, targets);
  backward(want);
  backward(got);
  BOOST_TEST(same_bits(got, want));
  for (const auto& [name, value] : values_of(grouped))
    BOOST_TEST(same_bits(value.grad(), values_of(model).at(name).grad()));
}

BOOST_AUTO_TEST_CASE(each_process_has_its_share_of_the_numbers) {
  const ModelConfig config = config_of("alibi");
  check_group(4, [&](const Group& group) {
    const Transformer model(config, 1, DType::f32, {}, group);
    int64_t split = 0, whole = 0;
    for (const Parameter& p : model.parameters())
      (p.shard.is_whole() ? whole : split) += p.value.numel();
    // Norms, and biases of what is summed.
    const int64_t d = config.d_model, kept = config.n_layer * (4 * d + 2 * d) + 2 * d;
    std::vector<double> sum = {static_cast<double>(split)};
    group.communicator().sum(std::span(sum));
    return whole == kept && sum[0] == static_cast<double>(parameter_count(config) - kept)
               ? ""
               : concat(whole, " and ", split, " of ", parameter_count(config));
  });
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto refused = [](int size, const ModelConfig& config) {
    return test::in_processes(size,
                              [&](std::shared_ptr<comm::Communicator> all) {
                                Transformer(config, 1, DType::f32, {}, Group(all));
                                return std::string("made");
                              })[0]
        .said;
  };
  ModelConfig config = config_of("none");
  BOOST_TEST(
      refused(3, config) ==
      "[model] expected a number of processes for each model that divides n_head = 4, got 3");
  config.d_ff = 1;
  BOOST_TEST(refused(2, config) ==
             "[model] expected a number of processes for each model that is at most d_ff = 1, got "
             "2");
  config = config_of("none");
  config.vocab_size = 3;
  BOOST_TEST(refused(4, config) ==
             "[model] expected a number of processes for each model that is at most vocab_size = "
             "3, got 4");
  config = config_of("none");
  config.cutoffs = {4};
  BOOST_TEST(refused(2, config) ==
             "[model] expected one process for a model with cutoffs, whose adaptive input and "
             "softmax cannot be shared, got 2");
}

BOOST_AUTO_TEST_CASE(what_needs_all_scores_or_a_cache_is_refused) {
  const std::string end = ", got 2 that have it together; load its checkpoint in one process";
  check_group(2, [&](const Group& group) {
    const Transformer model(config_of("none"), 1, DType::f32, {}, group);
    const Tensor ids = random_ids({1, 4}, 1, 13), target = random_ids({1}, 1, 13);
    const auto expect = [&](const std::string& what, const std::function<void()>& call) {
      const std::string message = message_of<ConfigError>(call),
                        want =
                            "[model] expected one process with all of the model for " + what + end;
      return message == want ? "" : "got '" + message + "', want '" + want + "'\n";
    };
    const Transformer alone(config_of("none"), 1);
    KeyValueCache cache = alone.make_cache(1, 4);
    return expect("logits", [&] { model.logits(ids); }) +
           expect("logits", [&] { model.last_logits(ids); }) +
           expect("logits",
                  [&] {
                    model.next_logits(Tensor::zeros({1, 16}));
                  }) +
           expect("a cache", [&] { model.make_cache(1, 4); }) +
           expect("a cache", [&] { model.extend(ids, cache); }) +
           expect("the gradient of an input", [&] { model.input_gradient(ids, target); });
  });
}

BOOST_AUTO_TEST_CASE(weights_of_another_shape_are_refused_by_the_whole_shape) {
  check_group(2, [&](const Group& group) {
    const Transformer model(config_of("none"), 1, DType::f32, {}, group);
    std::map<std::string, Tensor> values = values_of(Transformer(config_of("none"), 1));
    values["embed_out.weight"] = values["gpt_neox.layers.0.mlp.dense_h_to_4h.weight"];
    const std::string message =
        message_of<IoError>([&] { load_parameters(model.parameters(), values); });
    return message ==
                   "[model] expected 'embed_out.weight' of shape [13, 16], got float32 [14, 16]; "
                   "is it of another model?"
               ? ""
               : message;
  });
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
