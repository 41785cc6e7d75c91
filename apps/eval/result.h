#pragma once

#include <cmath>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "apps/analysis/perplexity.h"
#include "engine/base/error.h"

namespace farfield::eval {

/// A measured number, under the name that tables and files give it.
struct Quantity {
  std::string name;
  double value = std::nan("");
  std::string of = {};    ///< the part of the model that it describes, "h3"; empty: the whole model
  std::string word = {};  ///< the word that a table shows instead of the number; empty: the number

  /// For files that have one column for it: "residual h3".
  std::string full_name() const { return of.empty() ? name : name + ' ' + of; }
};

/// Numbers along an axis: perplexity by position, a kernel by distance.
struct Series {
  std::string name;  ///< of y: "perplexity", "cumulative gradient"
  std::string axis;  ///< of x, with its unit: "position (tokens)"
  std::vector<double> x, y;
  std::vector<double> low, high;  ///< a 95 % band around y; empty: none
  bool is_log_x = false;          ///< how to draw it
  bool may_log_y = true;          ///< whether the picture may take a logarithmic y
  std::string of = {};            ///< as Quantity::of: curves of one name come into one picture
  bool is_drawn_alone = false;    ///< drawn instead of the series with the same name, and in no CSV

  std::string full_name() const { return of.empty() ? name : name + ' ' + of; }
};

/// The result at one length.
struct LengthResult {
  int64_t length = 0;  ///< tokens; 0 for a protocol that knows no length
  // Perplexity, where the protocol measures it.
  int64_t n_scored = 0;       ///< targets
  std::vector<double> items;  ///< mean nll of each segment or chunk, in order
  /// The places of each item's predicted tokens in the split's file: places_text(); empty: not
  /// known.
  std::vector<std::string> places;
  double mean_nll = std::nan("");
  double nll_error = std::nan("");  ///< standard error of mean_nll over the items; NaN for one item
  int64_t n_draws = 1;              ///< of random positions, that items and means are over
  double nll_spread = std::nan("");         ///< standard deviation of the mean nll over the draws
  double perplexity_spread = std::nan("");  ///< the same of the perplexity
  // All other measurements.
  std::vector<Quantity> quantities;
  std::vector<Series> series;
  std::vector<std::string> notes;  ///< remarks on this cell for people, a line each
  /// Names the set of tokens that were predicted: equal for two results if they predict the same
  /// tokens of the same text. Empty for a protocol that reads no text.
  std::string tokens;
  double bytes_per_token = 0;  ///< of text, on average over these tokens; 0: not known
  std::string failure;         ///< "", or the code in the table's cell
  std::string message;         ///< the whole sentence, with a failure

  bool has_perplexity() const { return !std::isnan(mean_nll); }
  double perplexity() const { return analysis::perplexity_of(mean_nll); }
  /// With bytes_per_token.
  double bits_per_byte() const { return analysis::bits_per_byte_of(mean_nll, bytes_per_token); }
  /// Standard error of perplexity().
  double perplexity_error() const { return perplexity() * nll_error; }
};

struct ProtocolResult {
  std::string protocol;         ///< as on the command line
  std::string parameters;       ///< other facts than model, text and length that decide the numbers
  std::vector<int64_t> starts;  ///< first token of each segment; empty for whole streams
  std::vector<LengthResult> lengths;  ///< in the order asked for

  /// Hash of protocol and parameters: two numbers are comparable only if their hashes and their
  /// LengthResult::tokens are equal.
  std::string hash() const;
};

/// Discards the measurement and gives the reason.
void set_failure(LengthResult& result, const std::string& code, const std::string& message);

/// A message as a part of another message, which has the brackets: "[posenc] too far" is "posenc:
/// too far".
std::string without_brackets(std::string_view message);

/// The first word of the sentence of an error: "zero_gradient" of "[eval:gradient] zero_gradient:
/// ..."; empty for a message of another form.
std::string code_of(const std::exception& error);

/// Call it where `error` has been caught: throws it again with the code of a bad request as the
/// first word. An error with such a code (bad_argument, bad_stride, length_too_short) stays as it
/// is; another becomes a ConfigError "[<where>] bad_argument: " and its text, without brackets:
/// libraries that serve other programs too know no codes.
[[noreturn]] void rethrow_with_code(const ConfigError& error, std::string_view where);

}  // namespace farfield::eval
