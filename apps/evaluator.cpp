#include "apps/evaluator.h"

#include "apps/protocols/draws.h"
#include "apps/protocols/last_token.h"
#include "apps/protocols/non_overlapping.h"
#include "apps/scorer.h"
#include "engine/base/error.h"

namespace farfield::apps {
namespace {

void check_word(const char* name, const std::string& value, const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) {
    if (word == value) return;
    list.append(list.empty() ? "" : ", ").append(word);
  }
  fail<ConfigError>("eval", "bad_argument: ", name, ": expected one of ", list, ", got '", value,
                    "'", did_you_mean(value, words));
}

}  // namespace

void add_options(Options& options, EvalOptions& e) {
  options.group("Measurement")
      .add("protocol", e.protocols, "NAME,...", "last-token, non-overlapping")
      .add("lengths", e.lengths, "N,...", "evaluation lengths in tokens")
      .add("allow-fewer", e.allow_fewer, "make do with fewer segments or chunks than asked for")
      .add("batch-tokens", e.batch_tokens, "N", "tokens of one forward pass; bounds the memory")
      .add("draws", e.draws, "N",
           "where positions are drawn at random: measure so often and report mean and spread");
  options.group("Last-token perplexity")
      .add("segments", e.segments, "N", "predicted tokens, the same at every length")
      .add("segment-set", e.segment_set, "per-seed|common",
           "whether runs with other seeds draw other segments")
      .add("context", e.context, "L-1|L", "tokens before the predicted one at length L");
  options.group("Non-overlapping perplexity")
      .add("budget", e.budget, "same-text|same-chunks", "what is equal at every length")
      .add("chunks", e.chunks, "N", "with same-chunks: how many")
      .add("max-tokens", e.max_tokens, "N", "with same-text: read only so many tokens, 0: all")
      .add("keep-tail", e.keep_tail, "with same-text: score what is left as a short last chunk");
}

void check(const EvalOptions& e) {
  for (const std::string& protocol : e.protocols)
    check_word("--protocol", protocol, {"last-token", "non-overlapping"});
  require<ConfigError>(!e.protocols.empty(), "eval", "bad_argument: --protocol: expected one");
  check_word("--segment-set", e.segment_set, {"per-seed", "common"});
  check_word("--context", e.context, {"L-1", "L"});
  check_word("--budget", e.budget, {"same-text", "same-chunks"});
  require<ConfigError>(e.draws >= 1, "eval", "bad_argument: --draws: expected at least 1, got ",
                       e.draws);
}

ProtocolResult evaluate(const std::string& protocol, const Scorer& model, const TokenStream& text,
                        const EvalOptions& e, uint64_t seed) {
  check(e);
  if (protocol == "last-token") {
    LastTokenOptions options;
    options.lengths = e.lengths;
    options.n_segments = e.segments;
    options.seed = e.segment_set == "common" ? 0 : seed;
    options.allow_fewer = e.allow_fewer;
    options.full_context = e.context == "L";
    options.batch_tokens = e.batch_tokens;
    return last_token(model, text, options);
  }
  NonOverlappingOptions options;
  options.lengths = e.lengths;
  options.budget = e.budget == "same-text" ? NonOverlappingOptions::Budget::same_text
                                           : NonOverlappingOptions::Budget::same_chunks;
  options.n_chunks = e.chunks;
  options.max_tokens = e.max_tokens;
  options.keep_tail = e.keep_tail;
  options.allow_fewer = e.allow_fewer;
  options.batch_tokens = e.batch_tokens;
  return non_overlapping(model, text, options);
}

ProtocolResult evaluate(const std::string& protocol, const Transformer& model, const Device& device,
                        const TokenStream& text, const EvalOptions& e, uint64_t seed) {
  check(e);
  const int64_t n = model.encoding().is_random(posenc::Phase::eval) ? e.draws : 1;
  std::vector<ProtocolResult> draws;
  for (int64_t draw = 0; draw < n; ++draw)
    draws.push_back(
        evaluate(protocol, scorer_of(model, device, static_cast<uint64_t>(draw)), text, e, seed));
  return mean_over_draws(draws);
}

}  // namespace farfield::apps
