#include "layers/cache.h"

#include <algorithm>
#include <string>

#include "engine/autograd.h"
#include "engine/ops/view.h"

namespace farfield {
namespace {

posenc::Composition::Plan plan_of(const posenc::Composition& encoding, int64_t n_sequence,
                                  int64_t seq_len, int64_t n_cached, uint64_t draw,
                                  int64_t n_sink) {
  require<ConfigError>(n_sequence > 0 && seq_len > 0, "cache",
                       "expected at least one sequence of at least one token, got ", n_sequence,
                       " of ", seq_len);
  require<ConfigError>(n_cached >= 0, "cache", "expected n_cached of 0 (all) or more, got ",
                       n_cached);
  require<ConfigError>(n_sink >= 0, "cache", "expected n_sink of 0 (none) or more, got ", n_sink);
  const NoGrad no_grad;
  const posenc::Draw draws{n_sequence, draw};
  if (n_cached == 0 || n_cached >= seq_len)
    return encoding.plan(seq_len, seq_len, posenc::Phase::eval, draws);
  posenc::Composition::Plan plan =
      encoding
          .with(concat(encoding.canonical(), " + window(", n_cached, ", sinks=", n_sink, ')'),
                encoding.config())
          .plan(seq_len, seq_len, posenc::Phase::eval, draws);
  require<ConfigError>(!plan.embedding.defined(), "cache",
                       "expected positions that count from the query, got '", encoding.canonical(),
                       "', whose input embedding numbers tokens from the start: keys that stay "
                       "when older ones are dropped carry old numbers; run the last ",
                       n_cached, " tokens afresh for each new one");
  return plan;
}

}  // namespace

SequencePart CachedLayer::append(Heads& heads) {
  const int64_t n = heads.q.dim(2);
  const SequencePart part{.first = n_seen_, .end = n_seen_ + n, .begin = begin_, .n_sink = n_sink_};
  const bool has_far = heads.far.defined();
  const auto add = [](RowBuffer& rows, Tensor& fresh) {
    rows.append(fresh);
    fresh = rows.storage();
  };
  add(k_, heads.k);
  add(v_, heads.v);
  if (has_far) add(far_k_, heads.far.k);
  heads.key_rows = {k_.begin(), k_.end()};

  for (int64_t m = part.first; m < part.end; ++m) n_scores_ += n_visible(window_, sinks_, m);
  n_seen_ = part.end;
  if (window_ > 0) {
    n_sink_ = std::min(sinks_, n_seen_);
    begin_ = std::max(n_sink_, n_seen_ - window_);
  }
  // Before the first key was dropped, a key is at its position.
  const int64_t from = part.n_sink == part.begin ? begin_ : part.n_sink + begin_ - part.begin;
  if (from > n_sink_)
    for (RowBuffer* rows : {&k_, &v_, &far_k_})
      if (rows != &far_k_ || has_far) rows->drop(n_sink_, from);
  return part;
}

void CachedLayer::repeat(int64_t n) {
  for (RowBuffer* rows : {&k_, &v_, &far_k_}) rows->repeat(n);
}

int64_t CachedLayer::size_bytes() const {
  int64_t sum = 0;
  for (const RowBuffer* rows : {&k_, &v_, &far_k_}) sum += rows->size_bytes();
  return sum;
}

KeyValueCache::KeyValueCache(const posenc::Composition& encoding, int64_t n_sequence,
                             int64_t seq_len, int64_t n_cached, uint64_t draw, int64_t n_sink)
    : n_sequence_(n_sequence),
      seq_len_(seq_len),
      plan_(plan_of(encoding, n_sequence, seq_len, n_cached, draw, n_sink)) {
  for (const auto& [rotation, rule] : plan_.layers)
    require<ConfigError>(!rule.row_bias.feature.defined() || rule.sinks == 0 || rule.window == 0 ||
                             rule.window + rule.sinks >= seq_len,
                         "cache", "expected a row-dependent bias without sinks, got '",
                         encoding.canonical(),
                         "': it goes by distance, and the tokens behind the sinks are dropped");
  reset();
}

void KeyValueCache::repeat(int64_t n) {
  require<ConfigError>(n_sequence_ == 1 && n >= 1, "cache",
                       "expected one sequence, to be repeated once or more, got ", n_sequence_,
                       " and ", n);
  n_sequence_ = n;
  for (CachedLayer& layer : layers_) layer.repeat(n);
}

void KeyValueCache::reset() {
  layers_.clear();
  for (const auto& [rotation, rule] : plan_.layers)
    layers_.emplace_back(rule.window, rule.sinks, seq_len_);
}

int64_t KeyValueCache::size_bytes() const {
  int64_t sum = 0;
  for (const CachedLayer& layer : layers_) sum += layer.size_bytes();
  return sum;
}

}  // namespace farfield
