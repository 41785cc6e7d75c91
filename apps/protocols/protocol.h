#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::apps {

/// What a protocol asks of a model. ids and targets are [B, T] row by row, B = batch; values are
/// negative log likelihoods in nats per token.
struct Scorer {
  using Ids = std::vector<int32_t>;
  /// targets [B], each after its whole row -> [B]
  std::function<std::vector<double>(const Ids& ids, const Ids& targets, int64_t batch)> last;
  /// targets [B, T], each after the ids up to its place -> [B, T]
  std::function<std::vector<double>(const Ids& ids, const Ids& targets, int64_t batch)> all;
  int64_t vocab_size = 0;
};

/// The text that a protocol reads.
struct TokenStream {
  int64_t size = 0;
  std::function<void(int64_t begin, int64_t n, int32_t* out)> copy;
  double bytes_per_token = 0;  ///< of the text that the tokens stand for; 0: not known
};

/// What came out at one length.
struct LengthResult {
  int64_t length = 0;
  int64_t n_scored = 0;       ///< targets
  std::vector<double> items;  ///< mean nll of each segment or chunk, in order
  double mean_nll = std::nan("");
  double nll_error = std::nan("");  ///< standard error of mean_nll over the items; NaN for one item
  int64_t n_draws = 1;              ///< of random positions, that items and means are over
  double nll_spread = std::nan("");         ///< standard deviation of the mean nll over the draws
  double perplexity_spread = std::nan("");  ///< the same of the perplexity
  std::string failure;                      ///< "", or the code that stands in the table's cell
  std::string message;                      ///< the whole sentence, with a failure

  /// exp(mean_nll); infinite when mean_nll exceeds 700.
  double perplexity() const { return mean_nll > 700 ? INFINITY : std::exp(mean_nll); }
  /// Standard error of perplexity().
  double perplexity_error() const { return perplexity() * nll_error; }
};

struct ProtocolResult {
  std::string protocol;               ///< as on the command line
  std::string parameters;             ///< what besides model, data and length decides the numbers
  std::vector<int64_t> starts;        ///< first token of each segment; empty for whole streams
  std::vector<LengthResult> lengths;  ///< in the order asked for
};

/// Refuses lengths that no protocol can use: ConfigError [eval:<protocol>] bad_argument (none) or
/// length_too_short (below 2).
void check_lengths(std::string_view protocol, const std::vector<int64_t>& lengths);

/// Reads n tokens. IoError [eval:<protocol>] bad_token, with the position, for an id that is not
/// below vocab_size.
void read_tokens(std::string_view protocol, const TokenStream& text, int64_t vocab_size,
                 int64_t begin, int64_t n, int32_t* out);

/// Runs `score`, which fills items and n_scored (and mean_nll unless that is the mean of the
/// items), and turns what must not end a whole table into a failure of this cell: OOM, and
/// position_out_of_range for the ConfigError of an encoding that cannot reach this length. Then
/// fills in the statistics.
void measure(LengthResult& result, std::string_view protocol,
             const std::function<void(LengthResult&)>& score);

/// Marks the result as nonfinite_logits if nll is not finite; `item` names it. True when it was.
bool note_nonfinite(LengthResult& result, std::string_view protocol, double nll,
                    const std::string& item);

}  // namespace farfield::apps
