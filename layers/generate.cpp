#include "layers/generate.h"

#include <algorithm>
#include <cmath>

#include "engine/base/random.h"
#include "engine/ops/view.h"

namespace farfield {
namespace {

void check(const Transformer& model, const Tensor& prompts, const GenerateOptions& options) {
  require<ShapeError>(prompts.rank() == 2 && prompts.numel() > 0, "generate",
                      "expected prompts of shape [batch_size, seq_len], got ", prompts.shape());
  require<ConfigError>(options.n_new >= 1, "generate", "expected at least one new token, got ",
                       options.n_new);
  require<ConfigError>(options.n_context >= 0, "generate",
                       "expected a context of 0 (all) or more tokens, got ", options.n_context);
  require<ConfigError>(std::isfinite(options.temperature) && options.temperature >= 0, "generate",
                       "expected a finite temperature of 0 (the most likely token) or more, got ",
                       options.temperature);
  const int64_t vocab_size = model.config().vocab_size;
  require<ConfigError>(options.n_token >= 0 && options.n_token <= vocab_size, "generate",
                       "expected n_token from 0 (all) to the ", vocab_size,
                       " ids of the model, got ", options.n_token);
}

// The next token of each sequence, which goes to `position`, from scores of B times V elements.
std::vector<int32_t> choose(const Tensor& logits, int64_t n_sequence, int64_t position,
                            const GenerateOptions& options) {
  const std::vector<double> values = logits.to_vector();
  const auto vocab_size = values.size() / static_cast<size_t>(n_sequence);
  const auto n_token = options.n_token > 0 ? static_cast<size_t>(options.n_token) : vocab_size;
  std::vector<int32_t> next;
  for (size_t b = 0; b < static_cast<size_t>(n_sequence); ++b) {
    const uint64_t sequence = options.first_sequence + b;
    const std::span<const double> row(values.data() + b * vocab_size, n_token);
    for (const double score : row)
      if (!std::isfinite(score)) throw NonfiniteLogits(position, sequence, score);
    const Random random{options.seed, stream_of("generate") + sequence};
    next.push_back(
        choose_token(row, options.temperature, random.uniform(static_cast<uint64_t>(position))));
  }
  return next;
}

}  // namespace

NonfiniteLogits::NonfiniteLogits(int64_t at_position, uint64_t of_sequence, double found)
    : Error(concat("[generate] nonfinite_logits: expected finite scores at position ", at_position,
                   " of sequence ", of_sequence, ", got ", found)),
      position(at_position),
      sequence(of_sequence),
      score(found) {}

int32_t choose_token(std::span<const double> logits, double temperature, double u) {
  const auto top = std::max_element(logits.begin(), logits.end());  // the first of equal ones
  if (temperature == 0) return static_cast<int32_t>(top - logits.begin());
  std::vector<double> up_to;  // sums of exp, of which the largest is 1
  double sum = 0;
  for (const double score : logits) up_to.push_back(sum += std::exp((score - *top) / temperature));
  // u is at most 1 - 2^-53, so the product is below the sum even when rounded.
  return static_cast<int32_t>(std::upper_bound(up_to.begin(), up_to.end(), u * sum) -
                              up_to.begin());
}

Generated generate(const Transformer& model, const Tensor& prompts,
                   const GenerateOptions& options) {
  check(model, prompts, options);
  const int64_t n_sequence = prompts.dim(0), n_prompt = prompts.dim(1);
  const int64_t n_read = n_prompt + options.n_new - 1;  // the last new token is not read
  Generated result;
  result.tokens.resize(static_cast<size_t>(n_sequence));
  if (options.n_context > 0) result.uncached = model.cache_obstacle(n_read, options.n_context);
  std::vector<KeyValueCache> cache;  // one, or none
  if (result.uncached.empty())
    cache.push_back(model.make_cache(n_sequence, n_read, options.n_context, options.draw));

  Tensor fresh = prompts;  // tokens that the model has not read; without a cache all tokens
  for (int64_t position = n_prompt;; ++position) {
    const int64_t n_old = cache.empty() ? fresh.dim(1) - options.n_context : 0;
    if (n_old > 0) fresh = slice(fresh, 1, n_old, fresh.dim(1));
    const Tensor logits = cache.empty() ? model.last_logits(fresh, options.draw)
                                        : model.next_logits(model.extend(fresh, cache[0]));
    const std::vector<int32_t> next = choose(logits, n_sequence, position, options);
    for (size_t b = 0; b < next.size(); ++b) result.tokens[b].push_back(next[b]);
    const bool goes_on = !options.on_tokens || options.on_tokens(next);
    if (!goes_on || position == n_read) return result;
    const Tensor newest = Tensor::from(next, {n_sequence, 1}, prompts.device());
    fresh = cache.empty() ? concat({fresh, newest}, 1) : newest;
  }
}

}  // namespace farfield
