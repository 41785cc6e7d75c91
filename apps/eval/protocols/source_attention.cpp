#include "apps/eval/protocols/source_attention.h"

#include <algorithm>
#include <array>
#include <map>

#include "apps/eval/protocol.h"
#include "engine/autograd.h"
#include "engine/base/error.h"
#include "layers/transformer.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "source-attention";
constexpr size_t kParts = 10;  // bins of the place

// An answer of a batch: the token before it looks for the source.
struct Lookup {
  size_t row = 0, query = 0;  // of the batch
  int32_t source = 0;
};

std::vector<Lookup> lookups_of(const TaskSamples::Batch& batch) {
  std::vector<Lookup> all;
  for (size_t row = 0; row < batch.samples.size(); ++row) {
    const std::vector<int32_t>& sources = batch.samples[row].sources;
    for (size_t t = 1; t < sources.size(); ++t)
      if (sources[t] >= 0) all.push_back({row, t - 1, sources[t]});
  }
  return all;
}

// Sums over answers, for one head, by the place of the answer.
struct Head {
  std::array<double, kParts> weight{};
  double sum() const {
    double all = 0;
    for (const double w : weight) all += w;
    return all;
  }
};

class Count {
 public:
  Count(const ModelConfig& model, size_t n_input)
      : n_input_(n_input),
        n_head_(model.n_head),
        sees_later_(model.sees_later),
        heads_(static_cast<size_t>(model.n_layer * model.n_head)) {}

  // weights: Transformer::attention_to(), of which a lookup takes its source's group.
  void add(const Lookup& lookup, const std::vector<std::vector<double>>& weights, size_t group,
           size_t n_group) {
    const size_t place = lookup.query * kParts / n_input_;
    ++answers_[place];
    uniform_ += 1 / static_cast<double>(sees_later_ ? n_input_ : lookup.query + 1);
    const auto n_head = static_cast<size_t>(n_head_);
    for (size_t layer = 0; layer < weights.size(); ++layer)
      for (size_t h = 0; h < n_head; ++h)
        heads_[layer * n_head + h].weight[place] +=
            weights[layer][((lookup.row * n_input_ + lookup.query) * n_head + h) * n_group + group];
  }

  void set(LengthResult& to) const {
    double n = 0, all = 0;
    for (const double a : answers_) n += a;
    for (const Head& head : heads_) all += head.sum();
    const auto best =
        std::max_element(heads_.begin(), heads_.end(),
                         [](const Head& a, const Head& b) { return a.sum() < b.sum(); });
    to.quantities = {{"best_head", best->sum() / n},
                     {"mean_head", all / n / static_cast<double>(heads_.size())}};
    if (answers_.front() > 0)
      to.quantities.push_back({"first_tenth", best->weight.front() / answers_.front()});
    if (answers_.back() > 0)
      to.quantities.push_back({"last_tenth", best->weight.back() / answers_.back()});
    to.quantities.push_back({"uniform", uniform_ / n});
    to.quantities.push_back({"answers", n});
    Series by_place{
        "attention to the source", "place of the answer (share of the sequence)", {}, {}, {}, {}};
    by_place.may_log_y = false;
    for (size_t i = 0; i < kParts; ++i) {
      if (answers_[i] == 0) continue;
      by_place.x.push_back((static_cast<double>(i) + 0.5) / kParts);
      by_place.y.push_back(best->weight[i] / answers_[i]);
    }
    to.series = {std::move(by_place)};
    const auto at = static_cast<int64_t>(best - heads_.begin());
    to.notes.push_back(concat("the best head: layer ", at / n_head_, ", head ", at % n_head_));
  }

 private:
  size_t n_input_;
  int64_t n_head_;
  bool sees_later_;
  std::vector<Head> heads_;  // layer after layer
  std::array<double, kParts> answers_{};
  double uniform_ = 0;
};

// Looks up the answers of a batch, as many sources of each row at a time as there are groups.
void add_batch(const Transformer& model, const TaskSamples::Batch& batch, Count& count) {
  const auto n_input = static_cast<size_t>(batch.ids.dim(1)),
             n_group = static_cast<size_t>(model.config().head_dim());
  std::vector<std::map<int32_t, size_t>> numbers(batch.samples.size());  // of each row's sources
  const std::vector<Lookup> lookups = lookups_of(batch);
  size_t n_source = 0;
  for (const Lookup& lookup : lookups) {
    auto& own = numbers[lookup.row];
    own.try_emplace(lookup.source, own.size());
    n_source = std::max(n_source, own.size());
  }
  for (size_t first = 0; first < n_source; first += n_group) {
    std::vector<int32_t> group_of(batch.samples.size() * n_input, -1);
    const auto is_in = [&](size_t number) { return number >= first && number < first + n_group; };
    for (size_t row = 0; row < numbers.size(); ++row)
      for (const auto& [source, number] : numbers[row])
        if (is_in(number))
          group_of[row * n_input + static_cast<size_t>(source)] =
              static_cast<int32_t>(number - first);
    std::vector<std::vector<double>> weights;
    for (const Tensor& layer : model.attention_to(batch.ids, group_of))
      weights.push_back(layer.to_vector());
    for (const Lookup& lookup : lookups) {
      const size_t number = numbers[lookup.row].at(lookup.source);
      if (is_in(number)) count.add(lookup, weights, number - first, n_group);
    }
  }
}

}  // namespace

ProtocolResult measure_source_attention(const Subject& subject, const CommonOptions& common,
                                        const TaskOptions& own) {
  const Transformer& model = subject.model.inside(kProtocol);
  const TaskSamples samples(kProtocol, subject, common, own);
  ProtocolResult result;
  result.protocol = kProtocol;
  result.parameters = samples.parameters();
  const NoGrad no_grad;
  measure_lengths(result, subject, samples.lengths(), [&](LengthResult& to) {
    const std::vector<int32_t> sources =
        samples.task().sample(own.seed, "test", to.length, 0).sources;
    require<ConfigError>(
        std::any_of(sources.begin(), sources.end(), [](int32_t s) { return s >= 0; }),
        concat("eval:", kProtocol),
        "bad_argument: expected a task whose answers repeat a token of the input, such as copy, "
        "first, flip_flop, induction, passkey or recall, got ",
        samples.task().canonical());
    Count count(model.config(), sources.size() - 1);
    samples.in_batches(subject, to.length,
                       [&](const TaskSamples::Batch& batch) { add_batch(model, batch, count); });
    count.set(to);
    note_nonfinite(to, kProtocol, to.quantities.front().value,
                   concat("samples of length ", to.length));
  });
  return result;
}

Protocol source_attention_row() {
  return {.place = 14,
          .name = std::string(kProtocol),
          .help = "the attention that answers to a task give to the token that they repeat",
          .source = "drift of Liu et al., weights of Chiang and Cholak",
          .synonyms = {"attention", "attention-mass"},
          .has_lengths = true,
          .needs_model = true,
          .needs_task = true,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return measure_source_attention(subject, eval.common, eval.own<TaskOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
                return task_work(eval.own<TaskOptions>(), eval.common, subject.task, length);
              }};
}

}  // namespace farfield::eval
