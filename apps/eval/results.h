#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/eval/result.h"
#include "apps/run/labels.h"

namespace farfield::eval {

/// One protocol's result for one run, with the facts about the measurement.
struct RunResult {
  std::string run;             ///< folder
  std::string name;            ///< name that its user gave it; may be empty
  std::string posenc;          ///< the measured expression, canonical
  std::string posenc_slug;     ///< the same for file names
  std::string trained_posenc;  ///< the expression of the training, canonical
  std::string baseline;        ///< Baseline::label()
  uint64_t seed = 0;
  int64_t train_len = 0;
  int64_t step = 0;  ///< of the checkpoint
  std::string data_hash, split;
  /// "seed": the documents come as the run's seed shuffles them; "file": as they were prepared, or
  /// there is only one document. Empty for a protocol that reads no text.
  std::string document_order;
  std::string precision, device, model_hash;  ///< hash: of the checkpoint's model.safetensors
  run::Settings setting = {};                 ///< setting_of(), and "tokens" trained
  ProtocolResult result = {};
};

/// Whether it was measured with another setup than in training: another expression, or a baseline.
bool is_changed(const RunResult& result);

/// The beginning of the names of files with these results, of one protocol: "<protocol>", then the
/// name of the run if all results belong to one named run, then the slug of a changed expression,
/// so that a run's own results stay. A hash tells several expressions apart.
std::string file_stem(const std::vector<RunResult>& results);

/// Every number of one length under its name: perplexity and its companions, then the other
/// quantities. A failed length gives the numbers that it kept.
std::vector<Quantity> numbers_of(const LengthResult& cell);

/// Tidy: one number per row, with everything that it depends on. Header first. A failed length has
/// nan under "perplexity" (or under the protocol's name if the protocol gives no perplexity), and a
/// row "failure" with the code.
std::string results_csv(const std::vector<RunResult>& results);
/// The same for the numbers along an axis; without rows when there are none.
std::string series_csv(const std::vector<RunResult>& results);
/// The nll of each segment or chunk: one row each, with the place of its predicted tokens in the
/// file of the split (LengthResult::places).
std::string items_csv(const std::vector<RunResult>& results);
/// Tables for a terminal: perplexity and bits per byte, rows per run and one column per length;
/// then the other quantities, one row for each quantity and run, or for quantities of heads one row
/// for each head; then the meaning of ±, and a line for each failed cell and each note.
/// `is_verbose`: with parameters, protocol hash, and the conventions outside the hash. All results
/// must be of one protocol.
std::string results_table(const std::vector<RunResult>& results, bool is_verbose = false);

/// Labels that tell the runs of a table or a picture apart: encoding_label(), then other
/// differences, such as steps or sizes, unless the run's own name is enough, and the folder if
/// labels are still equal.
std::vector<std::string> labels_of(const std::vector<RunResult>& results);
/// Whether some cell of some run has a perplexity.
bool has_perplexity(const std::vector<RunResult>& results);

/// A perplexity for people: four significant digits, or five for a whole number.
std::string short_number(double value);
/// The text of a table cell: perplexity, "nan" if scores were not finite, or the code of the
/// failure.
std::string cell_text(const LengthResult& cell, bool with_error);

}  // namespace farfield::eval
