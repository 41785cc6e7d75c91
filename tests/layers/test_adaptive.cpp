#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/allocator.h"
#include "engine/autograd.h"
#include "engine/ops/pointwise.h"
#include "layers/generate.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_adaptive)  // ctest: on_cuda
namespace {

const Initializer kInit{.seed = 1, .dtype = DType::f64};

ModelConfig adaptive_config() {
  ModelConfig config = tiny_config("kerple_log");
  config.cutoffs = {4, 9};
  config.band_divisor = 2;
  return config;
}

using Rows = std::vector<std::vector<double>>;
Rows rows_of(const Tensor& x) {
  const std::vector<double> all = x.to_vector();
  const auto width = static_cast<size_t>(x.dim(-1));
  Rows rows;
  for (size_t i = 0; i < all.size(); i += width)
    rows.emplace_back(all.begin() + static_cast<long>(i),
                      all.begin() + static_cast<long>(i + width));
  return rows;
}
double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

BOOST_AUTO_TEST_CASE(ids_are_taken_apart_at_the_cutoffs) {
  const Tensor ids = Tensor::from(std::vector<int32_t>{9, 0, 3, 4, 12, 8}, {2, 3});
  const BandedIds banded = split_by_band(ids, {4, 9}, 13);
  using Values = std::vector<double>;
  BOOST_TEST(banded.bands.size() == 3);
  BOOST_TEST(banded.bands[0].ids.to_vector() == Values({0, 3}));
  BOOST_TEST(banded.bands[0].rows.to_vector() == Values({1, 2}));
  BOOST_TEST(banded.bands[1].ids.to_vector() == Values({0, 4}));
  BOOST_TEST(banded.bands[1].rows.to_vector() == Values({3, 5}));
  BOOST_TEST(banded.bands[2].ids.to_vector() == Values({0, 3}));
  BOOST_TEST(banded.bands[2].rows.to_vector() == Values({0, 4}));
  BOOST_TEST(banded.order.to_vector() == Values({4, 0, 1, 2, 5, 3}));
  BOOST_TEST(banded.classes.to_vector() == Values({5, 0, 3, 4, 5, 4}));
  const BandedIds one = split_by_band(Tensor::from(std::vector<int32_t>{5}, {1}), {4, 9}, 13);
  BOOST_TEST(one.bands[0].size() == 0);
  BOOST_TEST(one.bands[1].size() == 1);
  for (const int32_t bad : {-1, 13})
    BOOST_TEST(message_of<ShapeError>([&] {
                 split_by_band(Tensor::from(std::vector<int32_t>{0, bad}, {2}), {4, 9}, 13);
               }) == concat("[bands] expected ids from 0 to 12, got ", bad, " at position 1"));
}

// All by plain loops.
BOOST_AUTO_TEST_CASE(input_and_softmax_are_what_their_formulas_say) {
  const ModelConfig config = adaptive_config();  // bands of 4, 5 and 4 ids, 8, 4 and 2 wide
  const AdaptiveInput input = AdaptiveInput::make(kInit, "in", config);
  const AdaptiveSoftmax softmax = AdaptiveSoftmax::make(kInit, "out", input, config);
  const auto embedding_of = [&](int32_t id) {
    const size_t band = id < 4 ? 0 : id < 9 ? 1 : 2;
    const int32_t first = band == 0 ? 0 : band == 1 ? 4 : 9;
    return std::pair{band, rows_of(input.bands[band].embedding)[static_cast<size_t>(id - first)]};
  };
  const Tensor ids = random_ids({3, 7}, 1, 13);
  const Rows got = rows_of(input(ids, DType::f64));
  for (size_t i = 0; i < got.size(); ++i) {
    const auto [band, vector] = embedding_of(static_cast<int32_t>(ids.to_vector()[i]));
    const Rows projection = rows_of(input.bands[band].projection);
    for (size_t c = 0; c < 8; ++c)
      BOOST_TEST(std::abs(got[i][c] - dot(projection[c], vector)) < 1e-14);
  }

  const Tensor x = random_tensor({21, 8}, 2, -2, 2), targets = random_ids({21}, 3, 13);
  const Rows log_p = rows_of(softmax.log_probabilities(x)), clusters = rows_of(softmax.clusters);
  const std::vector<double> nll = softmax.nll(x, targets).to_vector();
  double mean = 0;
  for (size_t i = 0; i < log_p.size(); ++i) {
    const std::vector<double> row = rows_of(x)[i];
    std::vector<double> scores(13), sums(3), cluster(3);
    for (int32_t id = 0; id < 13; ++id) {
      const auto [band, vector] = embedding_of(id);
      std::vector<double> read = row;
      if (band > 0) {
        const Rows projection = rows_of(input.bands[band].projection);
        read.assign(vector.size(), 0);
        for (size_t d = 0; d < vector.size(); ++d)
          for (size_t c = 0; c < 8; ++c) read[d] += row[c] * projection[c][d];
      }
      scores[static_cast<size_t>(id)] = dot(read, vector);
      sums[band] += std::exp(scores[static_cast<size_t>(id)]);
    }
    for (const size_t band : {1, 2})
      sums[0] += std::exp(cluster[band] = dot(row, clusters[band - 1]));
    double total = 0;
    for (int32_t id = 0; id < 13; ++id) {
      const size_t band = embedding_of(id).first, at = static_cast<size_t>(id);
      double want = scores[at] - std::log(sums[band]);
      if (band > 0) want += cluster[band] - std::log(sums[0]);
      BOOST_TEST(std::abs(log_p[i][at] - want) < 1e-13);
      total += std::exp(log_p[i][at]);
    }
    BOOST_TEST(std::abs(total - 1) < 1e-13);
    const auto target = static_cast<size_t>(targets.to_vector()[i]);
    BOOST_TEST(std::abs(nll[i] + log_p[i][target]) < 1e-13);
    mean += nll[i] / 21;
  }
  BOOST_TEST(std::abs(softmax.loss(x, targets, {}).item() - mean) < 1e-13);
}

BOOST_AUTO_TEST_CASE(the_model_has_its_parameters_once_and_ties_them) {
  const ModelConfig config = adaptive_config();
  const Transformer model(config, 1);
  int64_t n = 0;
  std::vector<std::string> names;
  for (const Parameter& p : model.parameters()) {
    if (p.name.find("position_bias") == std::string::npos) n += p.value.numel();
    if (p.name.find("embed") != std::string::npos) names.push_back(p.name);
  }
  BOOST_TEST(n == parameter_count(config));
  const std::vector<std::string> want{
      "gpt_neox.embed_in.bands.0.weight", "gpt_neox.embed_in.bands.0.projection.weight",
      "gpt_neox.embed_in.bands.1.weight", "gpt_neox.embed_in.bands.1.projection.weight",
      "gpt_neox.embed_in.bands.2.weight", "gpt_neox.embed_in.bands.2.projection.weight",
      "embed_out.clusters.weight"};
  BOOST_TEST(names == want, boost::test_tools::per_element());
  const VocabularyTensor last = vocabulary_tensor(config);
  for (const Parameter& p : model.parameters())
    if (p.name == last.name) BOOST_TEST(p.value.dim(0) + last.n_before == 13);
  // The first band's projection is the input's alone: a target is never read through it.
  const Tensor ids = Tensor::from(std::vector<int32_t>{5, 10}, {1, 2});
  backward(model.loss(ids, Tensor::from(std::vector<int32_t>{0, 1}, {1, 2})));
  for (const Parameter& p : model.parameters()) {
    if (p.name == "gpt_neox.embed_in.bands.0.projection.weight")
      BOOST_TEST(!p.value.grad().defined());
    else
      BOOST_TEST(p.value.grad().defined(), p.name);
  }
}

BOOST_AUTO_TEST_CASE(every_way_to_ask_gives_the_same_numbers) {
  const Transformer model(adaptive_config(), 1, DType::f64);
  shake(model);
  const NoGrad no_grad;
  const Tensor ids = random_ids({2, 9}, 1, 13), targets = random_ids({2, 9}, 2, 13);
  const Rows nll = rows_of(model.nll(ids, targets)), log_p = rows_of(model.logits(ids));
  double mean = 0;
  for (size_t b = 0; b < 2; ++b)
    for (size_t t = 0; t < 9; ++t) {
      const auto target = static_cast<size_t>(targets.to_vector()[b * 9 + t]);
      BOOST_TEST(std::abs(nll[b][t] + log_p[b * 9 + t][target]) < 1e-12);
      mean += nll[b][t] / 18;
    }
  BOOST_TEST(std::abs(model.loss(ids, targets).item() - mean) < 1e-12);
  BOOST_TEST(all_close(
      model.last_logits(ids).to_vector(),
      [&] {
        std::vector<double> last = log_p[8];
        last.insert(last.end(), log_p[17].begin(), log_p[17].end());
        return last;
      }(),
      Tolerance(1e-12)));
  KeyValueCache cache = model.make_cache(2, 9);
  const Tensor read = model.extend(ids, cache, 9);
  BOOST_TEST(all_close(model.next_nll(read, targets), model.nll(ids, targets), Tolerance(1e-12)));
  BOOST_TEST(generate(model, ids, {.n_new = 3, .n_context = 0}).tokens.size() == 2);
}

// Central differences of -log p by the embedding of one token.
BOOST_AUTO_TEST_CASE(the_input_gradient_is_that_of_the_adaptive_model) {
  const Transformer model(adaptive_config(), 1, DType::f64);
  shake(model);
  const Tensor ids = Tensor::from(std::vector<int32_t>{5, 0, 10}, {1, 3});
  const Tensor targets = Tensor::from(std::vector<int32_t>{11}, {1});
  const Tensor gradient = model.input_gradient(ids, targets);
  BOOST_TEST(gradient.shape() == Shape({1, 3, 8}));
  // Token 5 alone reads row 1 of band 1; moving that row moves its embedding by the projection.
  for (Parameter p : model.parameters()) {
    if (p.name != "gpt_neox.embed_in.bands.1.weight") continue;
    const NoGrad no_grad;
    const Rows projection = rows_of(model.parameters()[3].value);
    for (size_t d = 0; d < 4; ++d) {
      double& x = p.value.data<double>()[4 + d];
      const double before = x, step = 1e-5;
      const auto nll = [&](double to) {
        x = to;
        return model.last_nll(ids, targets).item();
      };
      const double want = (nll(before + step) - nll(before - step)) / (2 * step);
      x = before;
      double got = 0;
      for (size_t c = 0; c < 8; ++c) got += rows_of(gradient)[0][c] * projection[c][d];
      BOOST_TEST(std::abs(got - want) < 1e-9);
    }
  }
}

BOOST_AUTO_TEST_CASE(dropout_of_the_tails_is_in_the_loss_alone_and_in_the_tails_alone) {
  ModelConfig config = adaptive_config();
  const Transformer plain(config, 1, DType::f64);
  config.tail_dropout = 0.5;
  const Transformer dropping(config, 1, DType::f64);
  BOOST_TEST(dropping.has_dropout());
  const Tensor ids = random_ids({2, 9}, 1, 13), head = random_ids({2, 9}, 2, 4),
               all = random_ids({2, 9}, 3, 13);
  BOOST_TEST(dropping.loss(ids, head).item() == plain.loss(ids, head).item());
  BOOST_TEST(dropping.loss(ids, all).item() != plain.loss(ids, all).item());
  BOOST_TEST(dropping.loss(ids, all, 7).item() == dropping.loss(ids, all, 7).item());
  BOOST_TEST(dropping.loss(ids, all, 7).item() != dropping.loss(ids, all, 8).item());
  BOOST_TEST(dropping.nll(ids, all).to_vector() == plain.nll(ids, all).to_vector());
}

BOOST_AUTO_TEST_CASE(bfloat16_agrees_with_float64) {
  const Transformer exact(adaptive_config(), 1, DType::f64);
  const Tensor ids = random_ids({2, 9}, 1, 13), targets = random_ids({2, 9}, 2, 13);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Transformer model(adaptive_config(), 1, dtype);
    const double allowed = dtype == DType::f32 ? 1e-6 : 2e-2;
    BOOST_TEST(std::abs(model.loss(ids, targets).item() - exact.loss(ids, targets).item()) <
               allowed);
    BOOST_TEST(all_close(model.nll(ids, targets).to_vector(), exact.nll(ids, targets).to_vector(),
                         Tolerance(2 * allowed)));
  }
}

// 100,000 ids of which the batch has a few: a tail costs what its own tokens cost.
BOOST_AUTO_TEST_CASE(a_tail_costs_memory_for_its_own_tokens_alone) {
  ModelConfig config = tiny_config("none");
  config.vocab_size = 100'000;
  config.cutoffs = {10};
  config.band_divisor = 8;
  const Transformer model(config, 1);
  const auto peak = [&](int64_t n_in_tail) {
    std::vector<int32_t> values(256);
    for (int64_t i = 0; i < n_in_tail; ++i) values[static_cast<size_t>(i)] = 5000;
    const Tensor ids = Tensor::from(values, {1, 256});
    reset_peak_memory(Device{});
    const int64_t before = memory_stats(Device{}).current_bytes;
    const NoGrad no_grad;
    model.loss(ids, ids);
    return memory_stats(Device{}).peak_bytes - before;
  };
  const int64_t logits = 256 * config.vocab_size * 4;
  BOOST_TEST(peak(0) < logits / 100);
  BOOST_TEST(peak(16) < logits / 10);
  BOOST_TEST(peak(256) > logits / 2);
}

BOOST_AUTO_TEST_CASE(cutoffs_that_make_no_sense_are_refused) {
  const auto message = [](const std::vector<int64_t>& cutoffs) {
    ModelConfig config = tiny_config("none");
    config.cutoffs = cutoffs;
    return message_of<ConfigError>([&] { validate(config); });
  };
  const std::string rising =
      "[model] expected cutoffs that rise from 1 to below the vocabulary of ";
  BOOST_TEST(message({0}) == rising + "13, got 0");
  BOOST_TEST(message({5, 5}) == rising + "13, got 5,5");
  BOOST_TEST(message({13}) == rising + "13, got 13");
  BOOST_TEST(message({3, 6}) ==
             "[model] expected d_model = 8 to be divisible by 4 for each of the 2 cutoffs");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
