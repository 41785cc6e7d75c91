#include "apps/sweep/work.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "apps/eval/progress.h"
#include "apps/eval/protocol.h"
#include "apps/sweep/measurement_options.h"
#include "data/tasks/task.h"

namespace farfield::sweep {
namespace {

constexpr int64_t kTextSize = 10'000'000;
// A vocabulary of words and their parts, and the characters of a token that it has.
constexpr int64_t kManyTokens = 4096;
constexpr double kTokenCharacters = 4;

// What a step on a few short samples of a task costs beside its products, in multiply-adds.
constexpr double kSmallStep = 1e8;

// Rows of the last matrix.
double rows_of_head(const run::ResolvedConfig& c, int64_t n_vocab) {
  if (!c.task.empty()) return static_cast<double>(data::make_task(c.task)->vocabulary().size());
  return n_vocab > 0 ? static_cast<double>(n_vocab) : 600;
}

// Tokens of a training sequence: of a task the mean over its lengths, else the longest.
double mean_length(const run::ResolvedConfig& config) {
  if (config.task.empty()) return static_cast<double>(config.longest());
  const std::unique_ptr<const data::Task> task = data::make_task(config.task);
  double sum = 0;
  for (const int64_t length : config.task_lengths)
    sum += static_cast<double>(task->tokens_of(length) - 1);
  return sum / static_cast<double>(config.task_lengths.size());
}

// Multiply-adds of a pass over n tokens in sequences of `length`, about.
double work_of_pass(const run::ResolvedConfig& c, double n_row, double n, double length) {
  const auto d = static_cast<double>(c.model.d_model);
  const auto layers = static_cast<double>(c.model.n_layer);
  const double pairs = c.model.sees_later ? 2 * length : length;  // of the causal half of them
  return n * (layers * (12 * d * d + d * pairs) + n_row * d);
}

}  // namespace

double training_work(const run::ResolvedConfig& c, int64_t n_vocab) {
  const double length = mean_length(c);
  const auto steps = static_cast<double>(c.steps);
  const double work = 3 * work_of_pass(c, rows_of_head(c, n_vocab),
                                       steps * static_cast<double>(c.batch) * length, length);
  return c.task.empty() ? work : work + kSmallStep * steps;
}

double measurement_work(const run::ResolvedConfig& c, int64_t n_vocab, const Measurement& m) {
  const double n_row = rows_of_head(c, n_vocab);
  const eval::EvalOptions options = options_of(m);
  eval::WorkSubject subject;
  subject.text_size = kTextSize;
  subject.train_len = c.train_len();
  subject.step_tokens = c.batch * c.train_len();
  subject.baseline = eval::parse_baseline(options.baselines.front());
  subject.task = c.task;
  if (n_vocab >= kManyTokens) subject.token_characters = kTokenCharacters;
  const eval::Protocol& protocol = eval::protocol_named(m.protocol);
  double sum = 0;
  for (const eval::CellWork& cell : eval::work_of(m.protocol, options, subject)) {
    int64_t length = cell.length > 0 ? cell.length : protocol.n_train_len * subject.train_len;
    if (!protocol.length_unit.empty())
      length = std::llround(static_cast<double>(length) / subject.token_characters);
    if (subject.baseline.kind == eval::Baseline::Kind::truncated)
      length = std::min(length, subject.baseline.window);
    sum += protocol.passes_per_token(cell.length) *
           work_of_pass(c, n_row, cell.tokens, static_cast<double>(length));
  }
  return sum;
}

}  // namespace farfield::sweep
