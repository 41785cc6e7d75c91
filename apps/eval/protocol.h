#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/eval/options.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

/// The facts that the work of a measurement depends on, beside its options.
struct WorkSubject {
  int64_t text_size = 0;        ///< tokens of the split
  int64_t train_len = 0;        ///< tokens of a training sequence
  int64_t step_tokens = 0;      ///< of a training step
  int64_t document_tokens = 0;  ///< Corpus::document_tokens()
  Baseline baseline = {};
  /// Characters of a token, about: 1 of a tokenizer that is not known.
  double token_characters = 1;
  int64_t n_draws = 1;    ///< number of measured draws; 1 for encodings that draw nothing
  std::string task = {};  ///< of the training; empty: on text

  /// Tokens of n_row rows of n inputs that score `scored` targets each: a truncated model makes a
  /// pass over its window for each target instead.
  double tokens_of_rows(double n_row, int64_t n, int64_t scored) const;
  /// Chunks of a length in the first `size` tokens of the text, up to a limit.
  double n_chunks(int64_t size, int64_t length, int64_t most) const;
};

/// What an option counts that decides how much a protocol measures. A caller with a budget, such as
/// a scale of `sweep`, has a number for each.
enum class Amount {
  predictions,         ///< predicted tokens, each after a pass over its whole context
  cached_predictions,  ///< the same, from a cache of keys and values
  gradients,           ///< predicted tokens whose gradient is taken
  sequences,           ///< sequences in which every token is predicted
  text_tokens,         ///< tokens of a text that is read whole; 0: all
  timings,             ///< timed steps or passes
};
struct AmountOption {
  std::string name;  ///< of the option, without its dashes
  Amount amount = Amount::predictions;
};

/// A way of measuring a model: its name, its help and its functions. Each protocol has its own
/// file, protocols/<file>.cpp; `Protocol <file>_row()` returns it.
struct Protocol {
  int place = 0;                           ///< order in --list: smaller places come first
  std::string name = {};                   ///< as on the command line
  std::string help = {};                   ///< one line about the measurement
  std::string source = {};                 ///< paper and section
  std::vector<std::string> synonyms = {};  ///< its names in other programs, for suggestions
  bool has_lengths = false;                ///< measured at each of --lengths
  bool has_training = false;               ///< measures training too, in a first cell of length 0
  bool has_text = false;                   ///< reads a text
  bool has_perplexity = false;             ///< gives one at each length
  bool needs_model = false;                ///< looks inside a model: Model::inside()
  bool has_gradients = false;              ///< its passes go backward too
  bool needs_task = false;                 ///< measures answers to the task of the training
  bool needs_tokenizer = false;            ///< makes a text of its own: TokenStream::encode
  bool is_of_masked = false;  ///< measures encoders on masked text, which all others refuse
  bool is_shared = false;     ///< its passes can be shared by processes: Session::sharing

  /// The unit of LengthResult::length, if that is not tokens. 0 is then a length like any other.
  std::string length_unit = {};
  /// The lengths that its own options give, instead of --lengths. Null: none.
  std::vector<int64_t> (*lengths)(const EvalOptions&) = nullptr;
  /// A series with the same x at each length: together they are drawn as one heat map. Empty: none.
  std::string mapped_series = {};

  /// The options that say how much it measures. Empty: it always measures the same.
  std::vector<AmountOption> amounts = {};

  /// Declares its own options, and refuses invalid words and numbers among them with a ConfigError.
  /// Null: no options of its own.
  void (*add_options)(cli::Options&, EvalOptions&) = nullptr;
  void (*check)(const EvalOptions&) = nullptr;
  /// Measures, under options that check() below accepts.
  ProtocolResult (*run)(const Subject&, const EvalOptions&) = nullptr;
  /// Approximate number of tokens that Session::watch will report for one cell: the estimate of the
  /// time left uses it. Unknown work counts nothing. Null: the protocol looks at tables, not at
  /// text.
  double (*work)(const EvalOptions&, const WorkSubject&, int64_t length) = nullptr;
  /// The sequences of a protocol without lengths, in training lengths.
  int64_t n_train_len = 1;
  /// The cost of a token of `work`, in forward passes over it: 3 if its gradient is computed too.
  double passes_per_token(int64_t length) const {
    return has_gradients || (has_training && length == 0) ? 3 : 1;
  }
  /// The facts that a reader needs, besides the parameters, to compute the numbers again: the
  /// meaning of first_token, and the t over which `cached` counts its scores. With numbers for a
  /// length, with L for 0. They follow from protocol, parameters and length. The protocol hash
  /// covers these already, so the facts are no part of the hash. Null: no such facts.
  std::string (*conventions)(const ProtocolResult&, int64_t length) = nullptr;
};

/// Protocol::add_options and Protocol::check of a type of options that has both functions.
template <class Own>
void add_own(cli::Options& options, EvalOptions& eval) {
  add_options(options, eval.own<Own>());
}
template <class Own>
void check_own(const EvalOptions& eval) {
  check(eval.own<Own>());
}

/// All of them, in the order of --list.
const std::vector<Protocol>& protocols();

/// ConfigError [eval] bad_argument, with the nearest name.
const Protocol& protocol_named(const std::string& name);

/// The protocol of a result; null if this build does not have it.
const Protocol* protocol_of(const ProtocolResult& result);

/// Protocol::length_unit, or "tokens".
std::string length_unit_of(const std::string& protocol);

/// A length as a number; "" for a 0 that says that the protocol has no lengths.
std::string length_name(const std::string& protocol, int64_t length);

/// Protocol::conventions; "" if it is null.
std::string conventions_of(const ProtocolResult& of, int64_t length = 0);

/// For a terminal, and as the table in apps/eval/README.md.
std::string protocols_text();
std::string protocols_markdown();

/// Declares the options of all protocols.
void add_options(cli::Options& options, EvalOptions& eval);

/// Refuses unknown words, invalid numbers, and a protocol that looks inside a model together with a
/// truncated model: ConfigError. Code that measures relies on it and does not check again.
void check(const EvalOptions& eval);

}  // namespace farfield::eval
