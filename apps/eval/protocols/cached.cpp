#include "apps/eval/protocols/cached.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/analysis/timing.h"
#include "apps/eval/protocol.h"
#include "apps/eval/scorer.h"
#include "engine/attention_rule.h"
#include "engine/base/error.h"
#include "engine/device_info.h"
#include "engine/ops/view.h"
#include "layers/module.h"
#include "layers/transformer.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "cached";
constexpr int64_t kTimedTokens = 8;  // produced one after another, to time one

// Feeds all of ids [B, n] in pieces of at most `piece`; returns the head's input for the last
// token.
Tensor feed(const Subject& subject, const Tensor& ids, KeyValueCache& cache, int64_t piece) {
  const int64_t n = ids.dim(1);
  for (int64_t first = 0;; first += piece) {
    const int64_t end = std::min(n, first + piece);
    subject.session.pass(ids.dim(0) * (end - first));
    Tensor hidden = subject.model.transformer->extend(slice(ids, 1, first, end), cache);
    if (end == n) return hidden;
  }
}

// Scores for the next token by a model of the same weights that has the mask in every layer.
std::vector<double> masked_scores(const Subject& subject, const Tensor& ids, int64_t window) {
  ModelConfig config = subject.model.transformer->config();
  config.posenc =
      concat(subject.model.transformer->encoding().canonical(), " + window(", window, ')');
  const Transformer masked(config, /*seed=*/0, subject.model.transformer->compute_dtype(),
                           subject.model.device);
  std::map<std::string, Tensor> values;
  for (const Parameter& p : subject.model.transformer->parameters())
    values.emplace(p.name, p.value);
  load_parameters(masked.parameters(), values);
  subject.session.pass(ids.numel());
  return masked.last_logits(ids, subject.model.transformer_draw()).to_vector();
}

double largest_error(const std::vector<double>& got, const std::vector<double>& want) {
  double difference = 0, largest = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    // !(<=): NaN is the largest error of all
    if (!(std::abs(got[i] - want[i]) <= difference)) difference = std::abs(got[i] - want[i]);
    largest = std::max(largest, std::abs(want[i]));
  }
  return largest > 0 ? difference / largest : difference;
}

double most_error(DType dtype) {
  return dtype == DType::f64 ? 1e-10 : dtype == DType::f32 ? 1e-4 : 0.05;
}

// The cache against one pass, over the end of a segment.
double check_cache(const Subject& subject, const Scorer::Ids& ids, int64_t window) {
  const Tensor tokens = tensor_of(ids, 1, subject.model.device);
  KeyValueCache cache = subject.model.transformer->make_cache(1, tokens.dim(1), window,
                                                              subject.model.transformer_draw());
  const std::vector<double> got =
      subject.model.transformer->next_logits(feed(subject, tokens, cache, window)).to_vector();
  return largest_error(got, masked_scores(subject, tokens, window));
}

// The measurements behind a cell.
struct Reading {
  std::vector<double> nll;                        // of the predicted tokens
  double cache_bytes = 0, score_evaluations = 0;  // of one sequence
};

Reading read_cached(const Subject& subject, const Segments& segments, int64_t first, int64_t batch,
                    int64_t n_inputs, int64_t window) {
  const Transformer& model = *subject.model.transformer;
  KeyValueCache cache = model.make_cache(batch, n_inputs, window, subject.model.transformer_draw());
  const Tensor hidden =
      feed(subject, tensor_of(segments.ids(first, batch, n_inputs), batch, subject.model.device),
           cache, window);
  Reading reading;
  reading.nll =
      model.next_nll(hidden, tensor_of(segments.targets(first, batch), batch, subject.model.device))
          .to_vector();
  reading.cache_bytes = static_cast<double>(cache.size_bytes()) / static_cast<double>(batch);
  for (const CachedLayer& layer : cache.layers())
    reading.score_evaluations +=
        static_cast<double>(layer.n_scores()) / static_cast<double>(cache.layers().size());
  return reading;
}

double triangle(int64_t n) { return static_cast<double>(n) * static_cast<double>(n + 1) / 2; }

// Pairs of a query and a key that it sees, for one head of one sequence, when n_inputs tokens come
// one after another. Each token beyond the first n_read needs a fresh pass over the last n_read
// tokens; the first n_read tokens need fresh passes too if not even they can be cached.
double reencoded_evaluations(const Subject& subject, int64_t n_inputs, int64_t n_read,
                             bool caches_first) {
  const posenc::Composition::Plan plan = subject.model.transformer->encoding().plan(
      n_read, n_read, posenc::Phase::eval, {1, subject.model.transformer_draw()});
  double first = 0, pass = 0;
  for (const auto& [rotation, rule] : plan.layers) {
    for (int64_t m = 0; m < n_read; ++m) {
      const auto seen = static_cast<double>(n_visible(rule.window, rule.sinks, m));
      pass += seen;
      first += caches_first ? seen : seen * static_cast<double>(n_read - m);
    }
  }
  return (first + static_cast<double>(n_inputs - n_read) * pass) /
         static_cast<double>(plan.layers.size());
}

Reading read_afresh(const Subject& subject, const Segments& segments, int64_t first, int64_t batch,
                    int64_t n_read) {
  return {.nll = subject.model.scorer.score(segments.ids(first, batch, n_read),
                                            segments.targets(first, batch), batch)};
}

// Seconds for one more token of one sequence, with its scores on the host: a step of a full cache,
// or a pass over the last n_read tokens.
double token_s(const Subject& subject, const Segments& segments, int64_t n_inputs, int64_t window,
               bool is_cached) {
  const Transformer& model = *subject.model.transformer;
  const int64_t n_read = std::min(n_inputs, window);
  const int64_t n = is_cached ? std::min(n_inputs, window + kTimedTokens) : n_read;
  const int64_t n_timed = std::min(n_inputs, kTimedTokens);
  const Tensor ids = tensor_of(segments.ids(0, 1, n), 1, subject.model.device);
  std::vector<KeyValueCache> cache;  // one, or none
  if (is_cached) {
    cache.push_back(model.make_cache(1, n, window, subject.model.transformer_draw()));
    if (n > n_timed) feed(subject, slice(ids, 1, 0, n - n_timed), cache[0], window);
  }
  analysis::Samples step_s;
  for (int64_t i = n - n_timed; step_s.size() < n_timed; ++i) {
    subject.session.pass(is_cached ? 1 : n_read);
    synchronize(subject.model.device);
    step_s.add(analysis::seconds([&] {
      const Tensor logits = is_cached
                                ? model.next_logits(model.extend(slice(ids, 1, i, i + 1), cache[0]))
                                : model.last_logits(ids, subject.model.transformer_draw());
      logits.to_vector();
    }));
  }
  return step_s.median();
}

// Measures one length. `window` is W.
void measure(const Subject& subject, const CommonOptions& common, const CachedOptions& own,
             const Segments& segments, int64_t window, LengthResult& to) {
  const auto n = static_cast<int64_t>(segments.starts.size());
  const int64_t n_inputs = segments.n_inputs(to.length);
  const int64_t n_read = std::min(n_inputs, window);
  const std::string obstacle = subject.model.transformer->cache_obstacle(n_inputs, window);
  const bool is_cached = obstacle.empty();
  set_predicted(to, segments.predicted, subject.text);

  Reading last;
  // For each sequence that is fed, memory holds the cache and a piece of the same length.
  in_batches(n, std::min(n_inputs, 2 * window), common, [&](int64_t first, int64_t batch) {
    if (!to.failure.empty()) return;
    last = is_cached ? read_cached(subject, segments, first, batch, n_inputs, window)
                     : read_afresh(subject, segments, first, batch, n_read);
    for (const double nll : last.nll) {
      if (note_nonfinite(to, kProtocol, nll, segments.name(to.items.size()))) return;
      to.items.push_back(nll);
    }
  });
  if (!to.failure.empty()) return;
  to.n_scored = n;
  if (!is_cached)
    last.score_evaluations =
        reencoded_evaluations(subject, n_inputs, n_read,
                              subject.model.transformer->cache_obstacle(n_read, window).empty());
  to.quantities = {{"cache_bytes", last.cache_bytes},
                   {"score_evaluations", last.score_evaluations},
                   {"full_ratio", triangle(n_inputs) / last.score_evaluations},
                   {"is_reencoded", is_cached ? 0.0 : 1.0},
                   {"tokens_per_s", 1 / token_s(subject, segments, n_inputs, window, is_cached)}};
  if (!is_cached) {
    to.notes.push_back(concat("re-encoded: a fresh pass over the last ", n_read,
                              " tokens, since they cannot be cached: ", obstacle));
    return;
  }
  if (own.check_segments == 0) return;
  double error = 0;
  for (int64_t i = 0; i < std::min(n, own.check_segments); ++i) {
    const double one =
        check_cache(subject, segments.ids(i, 1, std::min(n_inputs, 4 * window)), window);
    if (!(one <= error)) error = one;
  }
  const double most = most_error(subject.model.transformer->compute_dtype());
  if (!(error <= most))
    return set_failure(to, "cache_mismatch",
                       concat("[eval:cached] cache_mismatch: expected the scores of one pass under "
                              "the mask to a relative ",
                              most, ", got a difference of ", error));
  to.quantities.push_back({"cache_error", error});
}

}  // namespace

void add_options(cli::Options& options, CachedOptions& own) {
  options.group("Cached inference (and --segments, --segment-set, --context)")
      .add("cache", own.cache, "W",
           "tokens whose keys and values are kept (default: 4 times the training length)")
      .add("cached-check", own.check_segments, "N",
           "segments on which the cache is held against one pass under the mask, over the last 4 W "
           "tokens");
}

void check(const CachedOptions& own) {
  if (own.cache) check_positive(kProtocol, "cache", *own.cache);
  require<ConfigError>(own.check_segments >= 0, "eval:cached",
                       "bad_argument: expected cached-check >= 0, got ", own.check_segments);
}

ProtocolResult cached(const Subject& subject, const CommonOptions& common,
                      const LastTokenOptions& segment_options, const CachedOptions& own) {
  const Segments segments = read_segments(kProtocol, subject, common, segment_options);
  const int64_t window = own.cache.value_or(4 * subject.model.inside(kProtocol).config().train_len);
  ProtocolResult result;
  result.protocol = kProtocol;
  result.starts = segments.starts;
  result.parameters = concat(segments.parameters, " cache=", window, " timed=", kTimedTokens);
  measure_lengths(
      result, subject, common.lengths,
      [&](LengthResult& to) { measure(subject, common, own, segments, window, to); },
      predicted_by_segment);
  return result;
}

Protocol cached_row() {
  return {.place = 7,
          .name = std::string(kProtocol),
          .help =
              "perplexity of last-token's tokens while each layer keeps the keys and values of the "
              "last --cache tokens alone, checked against the masked pass; memory and work of "
              "the cache",
          .source = "Sandwich (arXiv:2212.10356) appendix B",
          .synonyms = {"kv-cache", "cache"},
          .has_lengths = true,
          .has_text = true,
          .has_perplexity = true,
          .needs_model = true,
          .amounts = {{"segments", Amount::cached_predictions}},
          .add_options = add_own<CachedOptions>,
          .check = check_own<CachedOptions>,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return cached(subject, eval.common, eval.own<LastTokenOptions>(),
                              eval.own<CachedOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
                const auto& own = eval.own<CachedOptions>();
                const int64_t window =
                    std::max<int64_t>(1, own.cache.value_or(4 * subject.train_len));
                return static_cast<double>(eval.own<LastTokenOptions>().segments * length) +
                       2 * static_cast<double>(own.check_segments) *
                           static_cast<double>(std::min(length, 4 * window));
              },
          .conventions =
              [](const ProtocolResult& of, int64_t length) {
                const std::string n = length > 0 ? std::to_string(n_inputs_of(of, length))
                                      : n_inputs_of(of, 1) == 1 ? "L"
                                                                : "L - 1";
                return concat(conventions_of_segments(of, length),
                              "; score_evaluations: t = 1 .. n over the n = ", n, " inputs");
              }};
}

}  // namespace farfield::eval
