#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/eval/options.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

/// What the work of a measurement depends on, beside its options.
struct WorkSubject {
  int64_t text_size = 0;        ///< tokens of the split
  int64_t train_len = 0;        ///< tokens of a training sequence
  int64_t step_tokens = 0;      ///< of a training step
  int64_t document_tokens = 0;  ///< Corpus::document_tokens()
  Baseline baseline = {};
  int64_t n_draws = 1;  ///< that are measured; 1 for what draws nothing

  /// Tokens of n_row rows of n inputs that score `scored` targets each: a truncated model makes a
  /// pass over its window for each target instead.
  double tokens_of_rows(double n_row, int64_t n, int64_t scored) const;
  /// Chunks of a length that the first `size` tokens of the text have, at most so many.
  double n_chunks(int64_t size, int64_t length, int64_t most) const;
};

/// A way of measuring a model: what it is called, what it does and what it is made of. It stands in
/// its own file, protocols/<file>.cpp, as what `Protocol <file>_row()` returns.
struct Protocol {
  int place = 0;                           ///< in --list: those with a smaller one come before
  std::string name = {};                   ///< as on the command line
  std::string help = {};                   ///< what it measures, in one line
  std::string source = {};                 ///< paper and section
  std::vector<std::string> synonyms = {};  ///< what it is called elsewhere, for suggestions
  bool has_lengths = false;                ///< measured at each of --lengths
  bool has_training = false;    ///< measures training too, in a cell of length 0 before those
  bool has_text = false;        ///< reads a text
  bool has_perplexity = false;  ///< gives one at each length
  bool needs_model = false;     ///< looks inside a model: Model::inside()
  bool is_shared = false;       ///< its passes can be shared by processes: Session::sharing

  /// Declares its own options, and refuses words and numbers among them that make no sense, by
  /// ConfigError. Null: it has none.
  void (*add_options)(cli::Options&, EvalOptions&) = nullptr;
  void (*check)(const EvalOptions&) = nullptr;
  /// Measures, under options that check() below accepts.
  ProtocolResult (*run)(const Subject&, const EvalOptions&) = nullptr;
  /// Tokens that Session::watch will be told of for one cell, about: time left is judged by them.
  /// What is not known beforehand counts as nothing. Null: it looks at tables, not at text.
  double (*work)(const EvalOptions&, const WorkSubject&, int64_t length) = nullptr;
  /// What a reader has to know, besides the parameters, to compute the numbers again: what
  /// first_token counts, and over which t `cached` counts its scores. With numbers for a length,
  /// with L for 0. It follows from protocol, parameters and length, which the protocol hash names,
  /// so it is no part of the hash. Null: there is nothing to know.
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

/// Of a result, which may be of a protocol that is not here any more: null.
const Protocol* protocol_of(const ProtocolResult& result);

/// Protocol::conventions; "" where there are none.
std::string conventions_of(const ProtocolResult& of, int64_t length = 0);

/// For a terminal, and as the table in apps/eval/README.md.
std::string protocols_text();
std::string protocols_markdown();

/// Declares the options of all protocols.
void add_options(cli::Options& options, EvalOptions& eval);

/// Refuses words that are not known, numbers that make no sense, and a protocol that looks inside a
/// model for a truncated one: ConfigError. What measures relies on it and looks no more.
void check(const EvalOptions& eval);

}  // namespace farfield::eval
