#include "apps/eval/protocols/registry.h"

#include <algorithm>

#include "engine/base/error.h"

namespace farfield::eval {
namespace {

// A protocol whose options are the member Own of EvalOptions.
template <auto Own, auto Run>
Protocol row(const char* name, const char* help, const char* source, bool has_lengths,
             bool has_text, bool has_perplexity, bool needs_model = false) {
  return {name,
          help,
          source,
          has_lengths,
          has_text,
          has_perplexity,
          needs_model,
          [](cli::Options& options, EvalOptions& eval) { add_options(options, eval.*Own); },
          [](const EvalOptions& eval) { check(eval.*Own); },
          [](const Subject& subject, const EvalOptions& eval) {
            if constexpr (requires { Run(subject, eval.common, eval.*Own); })
              return Run(subject, eval.common, eval.*Own);
            else  // of the same segments
              return Run(subject, eval.common, eval.last_token, eval.*Own);
          }};
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Protocol& protocol : protocols()) all.push_back(protocol.name);
  return all;
}

}  // namespace

const std::vector<Protocol>& protocols() {
  static const std::vector<Protocol> all = {
      row<&EvalOptions::last_token, last_token>(
          "last-token",
          "perplexity of a fixed set of tokens, each after the L - 1 tokens before it",
          "Sandwich (arXiv:2212.10356) 3.4", true, true, true),
      row<&EvalOptions::non_overlapping, non_overlapping>(
          "non-overlapping",
          "perplexity of a text cut into chunks of L; early tokens of a chunk have little context",
          "KERPLE (arXiv:2205.09921) 5.2", true, true, true),
      row<&EvalOptions::sliding, sliding>(
          "sliding",
          "perplexity of a text by windows of L that overlap: every token has much context",
          "ALiBi (arXiv:2108.12409) appendix B", true, true, true),
      row<&EvalOptions::position_wise, position_wise>(
          "position-wise",
          "perplexity by position in the sequence, with bands, and whether it still falls",
          "KERPLE (arXiv:2205.09921) 5.5 and A.6", true, true, true),
      row<&EvalOptions::gradient, gradient>(
          "gradient", "how far back a model looks: the gradient of its prediction by each input",
          "Sandwich (arXiv:2212.10356) 5.1", true, true, false, true),
      row<&EvalOptions::reach, reach>(
          "reach", "how far back the masks of a model let it look: its theoretical receptive field",
          "Sandwich (arXiv:2212.10356) 1 and 5", true, false, false, true),
      row<&EvalOptions::cached, cached>(
          "cached",
          "perplexity of the tokens of last-token, read from a cache of the last tokens' keys",
          "Sandwich (arXiv:2212.10356) appendix B", true, true, true, true),
      row<&EvalOptions::kernel_lengths, kernel_lengths>(
          "effective-length", "how far each head attends by its bias alone, and how many how far",
          "KERPLE (arXiv:2205.09921) A.5", false, false, false, true),
      row<&EvalOptions::kernel_fit, kernel_fit>(
          "log-fit", "the line a ln(1 + d) + b nearest to the bias of each head",
          "Sandwich (arXiv:2212.10356) 6.2", false, false, false, true),
      row<&EvalOptions::kernel_definiteness, kernel_definiteness>(
          "definiteness",
          "whether the bias of each head is a conditionally positive definite kernel",
          "KERPLE (arXiv:2205.09921) 3, A.1, A.2", false, false, false, true),
      row<&EvalOptions::speed, speed>(
          "speed", "time and memory of training steps and of forward passes, on this machine",
          "KERPLE (arXiv:2205.09921) tables 4 and 7", true, false, false, true),
      row<&EvalOptions::coherence, measure_coherence>(
          "coherence",
          "how far beyond the training length perplexity holds, and whether generated text does",
          "Extending Context is Hard (2023)", false, true, false, true),
  };
  return all;
}

const Protocol& protocol_named(const std::string& name) {
  check_word("protocol", name, names());
  return *std::find_if(protocols().begin(), protocols().end(),
                       [&](const Protocol& protocol) { return protocol.name == name; });
}

void require_scores_suffice(const Protocol& protocol, const std::string& baseline) {
  require<ConfigError>(!protocol.needs_model, concat("eval:", protocol.name),
                       "bad_argument: expected a model to look inside, got ", baseline,
                       ", which makes a pass of its own for each token; masked@W can be measured");
}

void add_options(cli::Options& options, EvalOptions& eval) {
  options.group("Measurement")
      .add("protocol", eval.protocols, "NAME,...", "what to measure; --list explains each")
      .add("baseline", eval.baselines, "NAME,...",
           "measure none (the model as it is), masked@W (no query sees more than the last W "
           "tokens, in any layer) and truncated@W (each token from a pass over the last W inputs "
           "alone) side by side")
      .add("lengths", eval.common.lengths, "N,...", "evaluation lengths in tokens")
      .add("allow-fewer", eval.common.allow_fewer, "accept fewer segments or chunks than asked for")
      .add("max-tokens", eval.common.max_tokens, "N",
           "where the whole text is read: only so many tokens from its beginning, 0: all")
      .add("batch-tokens", eval.common.batch_tokens, "N",
           "tokens of one forward pass; bounds the memory. 0: what half of the free memory holds, "
           "at "
           "most 16384")
      .add("draws", eval.common.draws, "N",
           "where positions are drawn at random: measure so often and report mean and spread");
  for (const Protocol& protocol : protocols()) protocol.add(options, eval);
}

void check(const EvalOptions& eval) {
  require<ConfigError>(!eval.protocols.empty(), "eval", "bad_argument: --protocol: expected one");
  for (const std::string& name : eval.protocols) protocol_named(name);
  for (const Protocol& protocol : protocols()) protocol.check(eval);
  require<ConfigError>(!eval.baselines.empty(), "eval", "bad_argument: --baseline: expected one");
  for (const std::string& baseline : eval.baselines)
    if (parse_baseline(baseline).kind == Baseline::Kind::truncated)
      for (const std::string& name : eval.protocols)
        require_scores_suffice(protocol_named(name), baseline);
  require<ConfigError>(eval.common.draws >= 1, "eval",
                       "bad_argument: --draws: expected at least 1, got ", eval.common.draws);
}

}  // namespace farfield::eval
