#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/protocols/result.h"

namespace farfield::apps {

/// One protocol's result for one run, with what it was measured on.
struct RunResult {
  std::string run;             ///< folder
  std::string posenc;          ///< the expression that was measured, canonical
  std::string posenc_slug;     ///< the same for file names
  std::string trained_posenc;  ///< the expression of the training, canonical
  std::string baseline;        ///< Subject::baseline
  uint64_t seed = 0;
  int64_t train_len = 0;
  int64_t step = 0;  ///< of the checkpoint
  std::string data_hash, split;
  ProtocolResult result;
};

/// Measured otherwise than as it was trained: under another expression, or as a baseline.
bool is_changed(const RunResult& result);

/// What tables call it: "rope masked@512", "rope + window(w=4) (trained: rope)". Canonical
/// expressions, Subject::baseline.
std::string encoding_name(const std::string& posenc, const std::string& trained_posenc,
                          const std::string& baseline);

/// A text with what may not stand in the name of a file replaced.
std::string file_word(std::string text);

/// The beginning of the names of files with these results, of one protocol: "<protocol>", or where
/// an expression was changed "<protocol>-<slug>", so that a run's own results stay; several
/// expressions are told apart by a hash.
std::string file_stem(const std::vector<RunResult>& results);

/// Every number of one length under its name: perplexity and what belongs to it, then the other
/// quantities. Of a length that failed, what it kept.
std::vector<Quantity> numbers_of(const LengthResult& cell);

/// Tidy: one number per row, with all that it depends on. Header first. A length that failed has
/// what its table shows under "perplexity", or the protocol's name where that gives none, and
/// "failure" with the code.
std::string results_csv(const std::vector<RunResult>& results);
/// The same for the numbers along an axis; without rows when there are none.
std::string series_csv(const std::vector<RunResult>& results);
/// The nll of each segment or chunk: one row each.
std::string items_csv(const RunResult& result);
/// Tables for a terminal: perplexity and bits per byte, rows per run and one column per length;
/// then the other quantities, one row for each and run, or those of heads with one row for each
/// head; then a line for each cell that failed and for each note. All results must be of one
/// protocol.
std::string results_table(const std::vector<RunResult>& results);

/// What tells the runs of a table or a picture apart: the encoding, that of the training if it was
/// another, and the folder where that is not enough.
std::vector<std::string> labels_of(const std::vector<RunResult>& results);
/// Whether some cell of some run has one.
bool has_perplexity(const std::vector<RunResult>& results);

/// A perplexity for people: four significant digits, or five where that is a whole number.
std::string short_number(double value);
/// What a table shows of one length: perplexity, "nan" where scores were not finite, or the code
/// of the failure.
std::string cell_text(const LengthResult& cell, bool with_error);

}  // namespace farfield::apps
