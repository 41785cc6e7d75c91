#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/eval/result.h"
#include "apps/run/labels.h"

namespace farfield::eval {

/// One protocol's result for one run, with what it was measured on.
struct RunResult {
  std::string run;             ///< folder
  std::string name;            ///< that its user gave it; may be empty
  std::string posenc;          ///< the expression that was measured, canonical
  std::string posenc_slug;     ///< the same for file names
  std::string trained_posenc;  ///< the expression of the training, canonical
  std::string baseline;        ///< Baseline::label()
  uint64_t seed = 0;
  int64_t train_len = 0;
  int64_t step = 0;  ///< of the checkpoint
  std::string data_hash, split;
  /// "seed": the documents come as the run's seed shuffles them; "file": as they were prepared, or
  /// there is but one. Empty for a protocol that reads no text.
  std::string document_order;
  std::string precision, device, model_hash;  ///< hash: of the checkpoint's model.safetensors
  run::Settings setting = {};                 ///< setting_of(), and "tokens" trained
  ProtocolResult result = {};
};

/// Measured otherwise than as it was trained: under another expression, or as a baseline.
bool is_changed(const RunResult& result);

/// The beginning of the names of files with these results, of one protocol: "<protocol>", with the
/// name of the run behind it where all are of one that has a name, and where an expression was
/// changed its slug, so that a run's own results stay; several expressions are told apart by a
/// hash.
std::string file_stem(const std::vector<RunResult>& results);

/// Every number of one length under its name: perplexity and what belongs to it, then the other
/// quantities. Of a length that failed, what it kept.
std::vector<Quantity> numbers_of(const LengthResult& cell);

/// Tidy: one number per row, with all that it depends on. Header first. A length that failed has
/// nan under "perplexity", or the protocol's name where that gives none, and a row "failure" with
/// the code.
std::string results_csv(const std::vector<RunResult>& results);
/// The same for the numbers along an axis; without rows when there are none.
std::string series_csv(const std::vector<RunResult>& results);
/// The nll of each segment or chunk: one row each, with the place of its predicted tokens in the
/// file of the split (LengthResult::places).
std::string items_csv(const std::vector<RunResult>& results);
/// Tables for a terminal: perplexity and bits per byte, rows per run and one column per length;
/// then the other quantities, one row for each and run, or those of heads with one row for each
/// head; then what ± holds, and a line for each cell that failed and for each note. `is_verbose`:
/// with parameters, protocol hash, and what the hash does not hold. All results must be of one
/// protocol.
std::string results_table(const std::vector<RunResult>& results, bool is_verbose = false);

/// What tells the runs of a table or a picture apart: encoding_label(), then what else differs,
/// such as steps or sizes, unless the run's own name says enough, and the folder where that is not
/// enough.
std::vector<std::string> labels_of(const std::vector<RunResult>& results);
/// Whether some cell of some run has one.
bool has_perplexity(const std::vector<RunResult>& results);

/// A perplexity for people: four significant digits, or five where that is a whole number.
std::string short_number(double value);
/// What a table shows of one length: perplexity, "nan" where scores were not finite, or the code
/// of the failure.
std::string cell_text(const LengthResult& cell, bool with_error);

}  // namespace farfield::eval
