#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/analysis/spread.h"
#include "apps/analysis/t_test.h"
#include "apps/compare/marks.h"
#include "apps/eval/result.h"
#include "apps/run/settings.h"

namespace farfield::compare {

/// A finished measurement at one length, and its run.
struct RunCell {
  std::string run;   ///< folder
  std::string name;  ///< name of the measured encoding: encoding_name()
  /// The same for tables: encoding_label(); empty: the label without a run's name.
  std::string label = {};
  uint64_t seed = 0;
  int64_t train_len = 0;  ///< tokens
  /// The other facts that decide the number: training, checkpoint, machine and text. Two cells with
  /// the same name and setting belong to two seeds of one experiment.
  run::Settings setting;
  eval::ProtocolResult result;                ///< with one length
  std::filesystem::file_time_type time = {};  ///< when it was measured
};

/// The pairs of a paired test: runs of one seed, or the items of one text under two runs of one
/// seed.
enum class Pairs { seeds, segments };
std::string to_word(Pairs pairs);  ///< "seeds", "segments"

/// The choices of a comparison.
struct CompareOptions {
  std::vector<std::string> protocols;   ///< empty: all
  std::vector<int64_t> lengths;         ///< empty: all
  std::vector<std::string> quantities;  ///< Quantity::name or full_name(); empty: all
  /// Protocol hashes of measurements (choices of a protocol's parameters), or their first
  /// characters; empty: the measurement with the newest cell of each protocol.
  std::vector<std::string> protocol_hashes;
  std::string reference;  ///< empty: kerple_log, else sandwich, else the first
  std::string pairs = "seeds", marks = "rows";  ///< words of Pairs and Marks
  /// Advice for too few seeds for a test; empty: none.
  std::string way_out = "--pairs segments compares what single runs said of each item";
};

/// Refuses unknown words: ConfigError [eval] bad_argument.
void check(const CompareOptions& options);

/// One number of one seed.
struct SeedValue {
  uint64_t seed = 0;
  std::string run;
  std::string tokens;         ///< LengthResult::tokens
  double value = 0;           ///< not finite: a perplexity has diverged; else `word` says why
  std::string word;           ///< Quantity::word; of a cell that failed, cell_text()
  std::vector<double> items;  ///< LengthResult::items
  double bits_per_byte = std::nan("");  ///< beside a perplexity; infinite: diverged; NaN: not known
  int64_t n_scored = 0;                 ///< LengthResult::n_scored
};

/// One row at one length.
struct ComparedCell {
  std::vector<SeedValue> seeds;  ///< by seed; empty: not measured
  analysis::Spread spread;       ///< of their values
  analysis::Spread bits;         ///< of their bits per byte; n = 0 unless all of them are known
  double ratio = std::nan("");   ///< protocol speed: mean / mean of the reference, else NaN
  bool has_test = false;         ///< whether it could be paired with the reference
  analysis::TTest test;          ///< on the values; undefined for pairs of segments
  analysis::TTest log_test;      ///< on log-perplexity; undefined for other quantities
  analysis::Mark mark = analysis::Mark::none;  ///< by the test Comparison::deciding()
};

struct ComparedRow {
  /// For tables: its name, or the name of its runs, shortened if long; then the settings that tell
  /// it from other rows.
  std::string label;
  std::string full_label;  ///< for files: the full name, and the same settings
  std::string of;          ///< Quantity::of: the head or layer; empty: the whole model
  std::string name;
  run::Settings setting;
  uint64_t seed = 0;  ///< for pairs of segments: seed of the row
  bool is_reference = false;
  std::vector<ComparedCell> cells;  ///< one for each length
};

/// One quantity of one protocol with one choice of parameters: encodings by lengths. A quantity of
/// heads has a row for each head of each encoding; the rows of one head stand together.
struct Comparison {
  std::string protocol, parameters, protocol_hash, quantity;
  /// The parameters that other measurements of this protocol do not share.
  std::string differing;
  Pairs pairs = Pairs::seeds;
  Marks marks = Marks::rows;
  std::string reference;         ///< name; empty: no reference
  std::string reference_label;   ///< the same for tables
  int64_t train_len = 0;         ///< tokens; 0: not the same for all
  std::vector<int64_t> lengths;  ///< ascending
  std::vector<ComparedRow> rows;
  std::string way_out;  ///< CompareOptions::way_out
  int64_t n_tests = 0;  ///< tests that decide marks: one for each paired cell
  /// The cells that were not compared and why, a sentence each.
  std::vector<std::string> notes;

  /// The test that decides the mark, and the word for its numbers: `test` on the quantity itself,
  /// as in the papers, and for pairs of segments `log_test` on nll, since single tokens have only
  /// an nll. Perplexities of seeds also get a test on nll, which decides nothing.
  const analysis::TTest& deciding(const ComparedCell& cell) const;
  std::string decided_on() const;
  /// Whether its numbers belong to single heads or layers.
  bool has_parts() const;
  /// Whether less is better.
  bool is_perplexity() const { return quantity == "perplexity"; }
  /// Whether some cell has a ratio.
  bool has_ratios() const;
  /// Whether its numbers are seconds (less is faster), by the unit in the name.
  bool is_time() const;
};

/// Groups cells by protocol, takes one choice of its parameters, or the choices in
/// `protocol_hashes`, and compares numbers of the same seed, length, set of tokens and, for numbers
/// of heads, head. Seeds of one encoding are averaged; with pairs of segments each seed is a row of
/// its own, and the pairs are its items.
///
/// Throws    ConfigError bad_argument: a reference or quantity that no cell has (with the nearest),
///           a hash that no measurement has (with the existing hashes), and two runs that differ in
///           nothing
/// Source    Chi et al. 2022, arXiv:2212.10356, table 3; arXiv:2205.09921, tables 3 and 9
std::vector<Comparison> comparisons_of(const std::vector<RunCell>& cells,
                                       const CompareOptions& options);

}  // namespace farfield::compare
