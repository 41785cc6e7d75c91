#include "apps/eval/protocols/work.h"

#include <algorithm>

#include "apps/eval/batch_memory.h"

namespace farfield::eval {
namespace {

// Tokens of rows of n inputs that score `scored` targets each: a truncated model makes a pass over
// its window for each target instead.
double tokens_of_rows(double n_row, int64_t n, int64_t scored, const Baseline& baseline) {
  if (baseline.kind != Baseline::Kind::truncated) return n_row * static_cast<double>(n);
  return n_row * static_cast<double>(scored) * static_cast<double>(std::min(n, baseline.window));
}

// Chunks of a length that a text has, at most so many.
double n_chunks(int64_t size, int64_t length, int64_t most) {
  return static_cast<double>(std::min(most, std::max<int64_t>(0, size - 1) / length));
}

double tokens_of_cached(const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
  const int64_t window = std::max<int64_t>(1, eval.cached.cache.value_or(4 * subject.train_len));
  const double n_check = static_cast<double>(eval.cached.check_segments);
  return static_cast<double>(eval.last_token.segments * length) +
         2 * n_check * static_cast<double>(std::min(length, 4 * window));
}

double tokens_of_coherence(const EvalOptions& eval, const WorkSubject& subject) {
  const CoherenceOptions& own = eval.coherence;
  const auto n_new = static_cast<double>(2 * own.prompts * own.n_new);  // greedy and sampled
  const auto train_len = static_cast<double>(subject.train_len);
  return static_cast<double>(own.sequences) * 4 * train_len + n_new + n_new * train_len;
}

double tokens_at(const std::string& protocol, const EvalOptions& eval, const WorkSubject& subject,
                 int64_t length) {
  const CommonOptions& common = eval.common;
  const Baseline& baseline = subject.baseline;
  const int64_t size = subject.text_size,
                whole = common.max_tokens > 0 ? std::min(common.max_tokens, size) : size;
  if (protocol == "last-token")
    return tokens_of_rows(static_cast<double>(eval.last_token.segments), length, 1, baseline);
  if (protocol == "non-overlapping") {
    const bool is_same_text = eval.non_overlapping.budget == "same-text";
    const double n_row = is_same_text ? n_chunks(whole, length, whole)
                                      : n_chunks(size, length, eval.non_overlapping.chunks);
    return tokens_of_rows(n_row, length, length, baseline);
  }
  if (protocol == "sliding") {
    const int64_t stride = eval.sliding.stride.value_or(std::max<int64_t>(1, length / 4));
    const auto n_window =
        static_cast<double>(std::max<int64_t>(0, whole - 1 - length) / stride + 1);
    return tokens_of_rows(n_window, length, stride, baseline);
  }
  if (protocol == "position-wise") {
    const int64_t n_scored = std::max<int64_t>(1, length / eval.position_wise.truncated_every);
    return tokens_of_rows(n_chunks(size, length, eval.position_wise.sequences), length, n_scored,
                          baseline);
  }
  if (protocol == "gradient") return static_cast<double>(eval.gradient.segments * length);
  if (protocol == "cached") return tokens_of_cached(eval, subject, length);
  if (protocol == "coherence") return tokens_of_coherence(eval, subject);
  if (protocol == "speed" && length == 0)
    return static_cast<double>((eval.speed.warmup + eval.speed.timed_steps) * subject.step_tokens);
  if (protocol == "speed") {
    const int64_t batch_tokens = common.batch_tokens > 0 ? common.batch_tokens : kMostBatchTokens;
    const int64_t n_row = std::max<int64_t>(1, batch_tokens / length);
    return static_cast<double>((eval.speed.warmup + eval.speed.timed_passes) * n_row * length);
  }
  return 0;  // looks at tables, not at text
}

}  // namespace

std::vector<CellWork> work_of(const std::string& protocol, const EvalOptions& eval,
                              const WorkSubject& subject) {
  std::vector<int64_t> lengths;
  if (protocol_named(protocol).has_lengths) lengths = eval.common.lengths;
  if (lengths.empty() || protocol == "speed") lengths.insert(lengths.begin(), 0);
  std::vector<CellWork> cells;
  for (int64_t draw = 0; draw < subject.n_draws; ++draw)
    for (const int64_t length : lengths)
      cells.push_back({length, tokens_at(protocol, eval, subject, length)});
  return cells;
}

}  // namespace farfield::eval
