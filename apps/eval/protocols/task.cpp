#include "apps/eval/protocols/task.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/analysis/spread.h"
#include "apps/eval/items.h"
#include "apps/eval/protocol.h"
#include "data/tasks/task_batches.h"
#include "engine/autograd.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/transformer.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "task";

double share(int64_t part, int64_t of) {
  return static_cast<double>(part) / static_cast<double>(of);
}

// The share of what is right, by tenths of the sequence.
class ByTenth {
 public:
  void add(bool is_right, int64_t place, int64_t n_token) {
    const auto bin = static_cast<size_t>(std::min(kBins - 1, place * kBins / n_token));
    ++asked_[bin];
    right_[bin] += is_right;
  }
  // Adds the series, if it has so many points.
  void add_series(LengthResult& to, const char* name, const char* x_label, size_t least) const {
    Series series{name, x_label, {}, {}, {}, {}};
    series.may_log_y = false;
    for (size_t i = 0; i < asked_.size(); ++i) {
      if (asked_[i] == 0) continue;
      series.x.push_back((static_cast<double>(i) + 0.5) / kBins);
      series.y.push_back(share(right_[i], asked_[i]));
    }
    if (series.x.size() >= least) to.series.push_back(std::move(series));
  }

 private:
  static constexpr int64_t kBins = 10;
  std::vector<int64_t> asked_ = std::vector<int64_t>(kBins), right_ = std::vector<int64_t>(kBins);
};

// What is counted of the samples of a length.
struct Score {
  int64_t n_answer = 0, n_right = 0, n_sample = 0, n_whole = 0;
  // Without the token that ends the output.
  int64_t n_inner = 0, n_right_inner = 0, n_whole_inner = 0;
  double nats = 0;
  ByTenth by_place, by_distance;
};

// One sample of scores [T, V] against its targets [T].
void add(Score& score, const double* logits, const int32_t* targets, int64_t length,
         int64_t n_vocab, int64_t n_column, int32_t end, const data::TaskSample& sample) {
  bool is_whole = true, is_whole_inner = true;
  for (int64_t t = 0; t < length; ++t) {
    if (targets[t] == data::kNotScored) continue;
    const double* const row = logits + t * n_column;
    const int64_t best = std::max_element(row, row + n_vocab) - row;
    double sum = 0;
    for (int64_t v = 0; v < n_column; ++v) sum += std::exp(row[v] - row[best]);
    score.nats += std::log(sum) + row[best] - row[targets[t]];
    ++score.n_answer;
    const bool is_right = best == targets[t];
    score.n_right += is_right;
    is_whole = is_whole && is_right;
    if (targets[t] != end) {
      ++score.n_inner;
      score.n_right_inner += is_right;
      is_whole_inner = is_whole_inner && is_right;
    }
    const int64_t answer = t + 1, source = sample.sources[static_cast<size_t>(answer)];
    if (source >= 0 && sample.place < 0)
      score.by_distance.add(is_right, answer - source, length + 1);
  }
  ++score.n_sample;
  score.n_whole += is_whole;
  score.n_whole_inner += is_whole_inner;
  if (sample.place >= 0) score.by_place.add(is_whole, sample.place, length + 1);
}

void set_quantities(LengthResult& to, const Score& score, int64_t n_token) {
  const double accuracy = share(score.n_right, score.n_answer),
               whole = share(score.n_whole, score.n_sample);
  to.quantities = {
      {"accuracy", accuracy},
      {"exact_match", whole},
      {"exact_match_error", analysis::share_error(whole, score.n_sample)},
      {"bits_per_answer", score.nats / static_cast<double>(score.n_answer) / std::numbers::ln2},
      {"wrong_answers", static_cast<double>(score.n_answer - score.n_right)},
      {"answers", static_cast<double>(score.n_answer)},
      {"tokens", static_cast<double>(n_token)}};
  if (score.n_right == score.n_answer)  // the 95 % bound of a rate of which nothing was seen
    to.quantities.push_back({"error_rate_below", 3.0 / static_cast<double>(score.n_answer)});
  if (score.n_inner != score.n_answer) {
    to.quantities.push_back({"accuracy_oracle", share(score.n_right_inner, score.n_inner)});
    to.quantities.push_back({"exact_match_oracle", share(score.n_whole_inner, score.n_sample)});
  }
  score.by_place.add_series(to, "exact match by place",
                            "place of what is asked for (share of the sequence)", 1);
  score.by_distance.add_series(to, "accuracy by distance",
                               "distance to what is repeated (share of the sequence)", 2);
}

}  // namespace

ProtocolResult measure_task(const Subject& subject, const CommonOptions& common,
                            const TaskOptions& own) {
  const Transformer& model = subject.model.inside(kProtocol);
  const TaskSamples samples(kProtocol, subject, common, own);
  const auto n_vocab = static_cast<int64_t>(samples.task().vocabulary().size());
  const int64_t n_column = model.config().vocab_size;
  ProtocolResult result;
  result.protocol = kProtocol;
  result.parameters = samples.parameters();
  const NoGrad no_grad;
  measure_lengths(result, subject, samples.lengths(), [&](LengthResult& to) {
    const int64_t n_token = samples.task().tokens_of(to.length), length = n_token - 1;
    Score score;
    samples.in_batches(subject, to.length, [&](const TaskSamples::Batch& batch) {
      const std::vector<double> logits = model.logits(batch.ids).to_vector();
      for (size_t i = 0; i < batch.samples.size(); ++i) {
        const auto at = static_cast<int64_t>(i) * length;
        add(score, logits.data() + at * n_column, batch.targets.data() + at, length, n_vocab,
            n_column, samples.task().end(), batch.samples[i]);
      }
    });
    set_quantities(to, score, n_token);
    note_nonfinite(to, kProtocol, score.nats, concat("samples of length ", to.length));
  });
  return result;
}

Protocol task_row() {
  return {.place = 13,
          .name = std::string(kProtocol),
          .help = "the share of right answers at each length of the task that a run was trained on",
          .source = "tasks of Anil et al., Liu et al., Ruoss et al. and others",
          .synonyms = {"accuracy"},
          .has_lengths = true,
          .needs_model = true,
          .needs_task = true,
          .add_options = add_own<TaskOptions>,
          .check = check_own<TaskOptions>,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return measure_task(subject, eval.common, eval.own<TaskOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
                return task_work(eval.own<TaskOptions>(), eval.common, subject.task, length);
              }};
}

}  // namespace farfield::eval
