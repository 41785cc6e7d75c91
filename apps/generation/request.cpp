#include "apps/generation/request.h"

#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"

namespace farfield::generation {
namespace {

constexpr std::string_view kWhere = "generate";
constexpr int64_t kMostTokens = int64_t{1} << 22, kMostSamples = int64_t{1} << 16;

void check_range(const char* option, int64_t value, int64_t least, int64_t most) {
  require<ConfigError>(value >= least && value <= most, kWhere, option, ": expected ", least,
                       " to ", most, ", got ", value);
}

// An option that only acts on a random choice.
void need_temperature(const Request& request, const char* option, bool is_used) {
  require<ConfigError>(request.temperature > 0 || !is_used, kWhere, option,
                       ": expected --temperature T above 0 with it, got 0, which always takes the "
                       "most likely token");
}

void check_request(const Request& request) {
  require<ConfigError>(!request.run.empty(), kWhere,
                       "expected the folder of a run of `train`, got none; generate RUN");
  check_range("--tokens", request.tokens, 1, kMostTokens);
  check_range("--num-samples", request.samples, 1, kMostSamples);
  check_range("--cache-window", request.cache_window, 0, kMostTokens);
  check_range("--sinks", request.sinks, 0, kMostTokens);
  require<ConfigError>(request.sinks == 0 || request.cache_window > 0, kWhere,
                       "--sinks: expected --cache-window W with it: without one the cache keeps "
                       "all tokens");
  check_sampling(request.temperature, request.filters);
  need_temperature(request, "--top-k", request.filters.top_k > 0);
  need_temperature(request, "--top-p", request.filters.top_p < 1);
  need_temperature(request, "--min-p", request.filters.min_p > 0);
  need_temperature(request, "--num-samples", request.samples > 1);
  for (const std::string& stop : request.stops)
    require<ConfigError>(find_invalid_utf8(stop) == std::string::npos, kWhere,
                         "--stop: expected a text in UTF-8, got '", stop, "'");
  require<ConfigError>(request.load.map.empty() || request.load.posenc, kWhere,
                       "--map: expected --posenc EXPR with it, which has the places of trained "
                       "values");
}

}  // namespace

bool read_request(int argc, const char* const* argv, Request& request, std::ostream& out) {
  cli::Options options("generate",
                       "Continues a text with a trained model. The new text goes to stdout as it "
                       "comes, tokens and speeds to stderr.");
  std::string named;
  options.add_positional("RUN", request.run, "folder of a training run");
  options.group("Model and text")
      .add("run", named, "FOLDER", "the same as RUN")
      .add("step", request.load.step, "N", "the checkpoint of this step (default: the newest)")
      .add("prompt", request.prompt, "TEXT|@FILE|-",
           "the text to continue: itself, a file's whole content, or standard input. Without a "
           "prompt the text begins as a document does, behind the token that ends documents")
      .add("tokens", request.tokens, "N", "most tokens of the new text")
      .add_paths("stop", request.stops, "TEXT",
                 "end the new text before this text; may be repeated")
      .add("past-end", request.past_end,
           "go on behind the token that ends a document, which is shown as a blank line (default: "
           "it ends the text)")
      .add("echo", request.echo, "print the prompt before the new text")
      .add("num-samples", request.samples, "N",
           "continue the prompt so many times, in one batch; each text is printed under a heading, "
           "at the end");
  options.group("Choice of a token, in this order")
      .add("repetition-penalty", request.filters.repetition_penalty, "X",
           "divide positive scores of tokens of the prompt and the new text by X, multiply "
           "negative ones; 1: none")
      .add("temperature", request.temperature, "T",
           "divide all scores by T and draw at random; 0: take the most likely token")
      .add("top-k", request.filters.top_k, "K", "draw from the K most likely tokens; 0: from all")
      .add("top-p", request.filters.top_p, "P",
           "draw from the most likely tokens that have the probability P together")
      .add("min-p", request.filters.min_p, "P",
           "draw from tokens with at least P times the probability of the most likely")
      .add("seed", request.seed, "N", "of the random numbers, one for each sample and position");
  options.group("Cache of keys and values")
      .add("cache-window", request.cache_window, "W",
           "keep only the last W tokens, the newest included, so that memory stays constant; 0: "
           "all")
      .add("sinks", request.sinks, "S", "with --cache-window: keep the first S tokens, too");
  options.group("Another positional encoding")
      .add("posenc", request.load.posenc, "EXPR",
           "use this expression instead of the trained one. Trained values go from term to term "
           "by name")
      .add("map", request.load.map, "FROM=TO,...",
           "give a trained value a place of another name in EXPR: r1=kerple_log.r1 for a run of "
           "kernel(...); may be repeated")
      .add("drop-learned", request.load.drop_learned,
           "leave out trained values that EXPR has no place for, and take what EXPR starts from "
           "where it learns what the run has not trained");
  options.group("Machine")
      .add("device", request.load.device, "NAME", "where to compute (default: as in training)")
      .add("precision", request.load.precision, "fp32|bf16",
           "precision of activations and matrix products (default: as in training)")
      .add("threads", request.threads, "N",
           "threads (default: FARFIELD_THREADS, or all processors)");
  if (!options.parse(argc, argv, out)) return false;
  require<ConfigError>(request.run.empty() || named.empty(), kWhere,
                       "--run: expected one run, got ", request.run, " too");
  if (request.run.empty()) request.run = named;
  check_request(request);
  return true;
}

}  // namespace farfield::generation
