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
  require<ConfigError>(options.n_sink >= 0 && (options.n_sink == 0 || options.n_context > 0),
                       "generate", "expected no sinks (0), or some beside a context, got ",
                       options.n_sink, " beside a context of ", options.n_context);
  check_sampling(options.temperature, options.filters);
  const int64_t vocab_size = model.config().vocab_size;
  require<ConfigError>(options.n_token >= 0 && options.n_token <= vocab_size, "generate",
                       "expected n_token from 0 (all) to the ", vocab_size,
                       " ids of the model, got ", options.n_token);
}

using Rows = std::vector<std::vector<int32_t>>;

bool are_equal_rows(const Tensor& prompts) {
  const std::vector<double> all = prompts.to_vector();
  const auto n = static_cast<std::ptrdiff_t>(prompts.dim(1));
  return std::equal(all.begin() + n, all.end(), all.begin());
}

// The tokens that a penalty for repetition asks about; empty rows if there is none.
Rows rows_to_penalize(const Tensor& prompts, const GenerateOptions& options) {
  Rows rows(static_cast<size_t>(prompts.dim(0)));
  if (options.filters.repetition_penalty == 1) return rows;
  const std::vector<double> all = prompts.to_vector();
  const auto n_prompt = static_cast<size_t>(prompts.dim(1));
  for (size_t i = 0; i < all.size(); ++i)
    rows[i / n_prompt].push_back(static_cast<int32_t>(all[i]));
  return rows;
}

// The next token of each sequence, which goes to `position`, from scores of B times V elements.
std::vector<int32_t> choose(const Tensor& logits, const Rows& seen, int64_t position,
                            const GenerateOptions& options) {
  const std::vector<double> values = logits.to_vector();
  const size_t vocab_size = values.size() / seen.size();
  const auto n_token = options.n_token > 0 ? static_cast<size_t>(options.n_token) : vocab_size;
  std::vector<int32_t> next;
  for (size_t b = 0; b < seen.size(); ++b) {
    const uint64_t sequence = options.first_sequence + b;
    std::span<const double> row(values.data() + b * vocab_size, n_token);
    for (const double score : row)
      if (!std::isfinite(score)) throw NonfiniteLogits(position, sequence, score);
    std::vector<double> changed;
    if (!options.filters.do_nothing())
      row = changed = filtered(row, seen[b], options.temperature, options.filters);
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

Generated generate(const Transformer& model, const Tensor& prompts,
                   const GenerateOptions& options) {
  check(model, prompts, options);
  const int64_t n_sequence = prompts.dim(0), n_prompt = prompts.dim(1);
  const int64_t n_read = n_prompt + options.n_new - 1;  // the last new token is not read
  Generated result;
  result.tokens.resize(static_cast<size_t>(n_sequence));
  std::vector<KeyValueCache> cache;  // one, or none
  if (options.n_context > 0) result.uncached = model.cache_obstacle(n_read, options.n_context);
  require<ConfigError>(options.n_sink == 0 || result.uncached.empty(), "generate",
                       "expected no sinks where no cache serves a context of ", options.n_context,
                       ": ", result.uncached);
  const bool reads_once = n_sequence > 1 && result.uncached.empty() &&
                          !model.encoding().is_random(posenc::Phase::eval) &&
                          are_equal_rows(prompts);
  result.n_prompt_read = reads_once ? 1 : n_sequence;
  if (options.n_sink > 0)
    cache.emplace_back(model.encoding(), result.n_prompt_read, n_read, options.n_context,
                       options.draw, options.n_sink);
  else if (result.uncached.empty())
    cache.push_back(
        model.make_cache(result.n_prompt_read, n_read, options.n_context, options.draw));
  Rows seen = rows_to_penalize(prompts, options);

  // Tokens that the model has not read; without a cache all tokens.
  Tensor fresh = reads_once ? slice(prompts, 0, 0, 1) : prompts;
  for (int64_t position = n_prompt;; ++position) {
    const int64_t n_old = cache.empty() ? fresh.dim(1) - options.n_context : 0;
    if (n_old > 0) fresh = slice(fresh, 1, n_old, fresh.dim(1));
    Tensor logits = cache.empty() ? model.last_logits(fresh, options.draw)
                                  : model.next_logits(model.extend(fresh, cache[0]));
    if (reads_once && position == n_prompt) {
      cache[0].repeat(n_sequence);
      logits = concat(std::vector<Tensor>(static_cast<size_t>(n_sequence), logits), 0);
    }
    const std::vector<int32_t> next = choose(logits, seen, position, options);
    for (size_t b = 0; b < next.size(); ++b) {
      result.tokens[b].push_back(next[b]);
      seen[b].push_back(next[b]);
    }
    const bool goes_on = !options.on_tokens || options.on_tokens(next);
    if (!goes_on || position == n_read) return result;
    const Tensor newest = Tensor::from(next, {n_sequence, 1}, prompts.device());
    fresh = cache.empty() ? concat({fresh, newest}, 1) : newest;
  }
}

}  // namespace farfield
