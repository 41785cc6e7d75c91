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

/// A finished measurement at one length, and the run it is of.
struct RunCell {
  std::string run;   ///< folder
  std::string name;  ///< of what was measured: encoding_name()
  /// The same for tables: encoding_label(); empty: that without a run's name.
  std::string label = {};
  uint64_t seed = 0;
  int64_t train_len = 0;  ///< tokens
  /// What else decides the number: of training, checkpoint, machine and text. Two cells with the
  /// same name and setting are of two seeds of one thing.
  run::Settings setting;
  eval::ProtocolResult result;                ///< with one length
  std::filesystem::file_time_type time = {};  ///< when it was measured
};

/// What a paired test pairs: runs of one seed, or the items of one text under two runs of one seed.
enum class Pairs { seeds, segments };
std::string to_word(Pairs pairs);  ///< "seeds", "segments"

/// What to compare, and how.
struct CompareOptions {
  std::vector<std::string> protocols;   ///< empty: all
  std::vector<int64_t> lengths;         ///< empty: all
  std::vector<std::string> quantities;  ///< Quantity::name or full_name(); empty: all
  /// Of measurements (choices of a protocol's parameters), or how they begin; empty: of each
  /// protocol the measurement that has the newest cell.
  std::vector<std::string> protocol_hashes;
  std::string reference;  ///< empty: kerple_log, else sandwich, else the first
  std::string pairs = "seeds", marks = "rows";  ///< words of Pairs and Marks
  /// Said where seeds are too few for a test; empty: nothing.
  std::string way_out = "--pairs segments compares what single runs said of each item";
};

/// Refuses words that are not known: ConfigError [eval] bad_argument.
void check(const CompareOptions& options);

/// One number of one seed.
struct SeedValue {
  uint64_t seed = 0;
  std::string run;
  std::string tokens;         ///< LengthResult::tokens
  double value = 0;           ///< not finite: a perplexity has diverged; else `word` says what
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
  double ratio = std::nan("");   ///< protocol speed: mean over that of the reference, else NaN
  bool has_test = false;         ///< whether it could be paired with the reference
  analysis::TTest test;          ///< on the values; undefined for pairs of segments
  analysis::TTest log_test;      ///< on log-perplexity; undefined for other quantities
  analysis::Mark mark = analysis::Mark::none;  ///< by the test Comparison::deciding()
};

struct ComparedRow {
  /// For tables: name, or that of its runs, cut where it is long; and what of its setting tells it
  /// from other rows.
  std::string label;
  std::string full_label;  ///< for files: name in full, and the same of its setting
  std::string of;          ///< Quantity::of: the head or layer; empty: the whole model
  std::string name;
  run::Settings setting;
  uint64_t seed = 0;  ///< for pairs of segments: of the row
  bool is_reference = false;
  std::vector<ComparedCell> cells;  ///< one for each length
};

/// One quantity of one protocol with one choice of parameters: encodings by lengths. A quantity of
/// heads has a row for each head of each encoding, those of one head together.
struct Comparison {
  std::string protocol, parameters, protocol_hash, quantity;
  /// Of the parameters, those that other measurements of this protocol do not have.
  std::string differing;
  Pairs pairs = Pairs::seeds;
  Marks marks = Marks::rows;
  std::string reference;         ///< name; empty: there is none
  std::string reference_label;   ///< the same for tables
  int64_t train_len = 0;         ///< tokens; 0: not the same for all
  std::vector<int64_t> lengths;  ///< ascending
  std::vector<ComparedRow> rows;
  std::string way_out;  ///< CompareOptions::way_out
  int64_t n_tests = 0;  ///< that decide marks: one for each cell that was paired
  /// What was not compared and why, a sentence each.
  std::vector<std::string> notes;

  /// The test that decides the mark, and the word for what it is on: `test` on the quantity itself,
  /// as in the papers, and for pairs of segments `log_test` on nll, which single tokens have alone.
  /// Beside perplexities of seeds there is one on nll too, which decides nothing.
  const analysis::TTest& deciding(const ComparedCell& cell) const;
  std::string decided_on() const;
  /// Whether its numbers are of single heads or layers.
  bool has_parts() const;
  /// Whether less is better.
  bool is_perplexity() const { return quantity == "perplexity"; }
  /// Whether some cell has a ratio.
  bool has_ratios() const;
  /// Whether its numbers are seconds, of which less is faster; by the unit in the name.
  bool is_time() const;
};

/// Groups cells by protocol, takes one choice of its parameters, or those of `protocol_hashes`, and
/// compares what can be compared: numbers of the same seed, length, set of tokens and, where a
/// number is of a head, head. Seeds of one encoding are averaged; with pairs of segments each seed
/// is a row of its own, and the pairs are its items.
///
/// Throws    ConfigError bad_argument: a reference or quantity that no cell has (with the nearest),
///           a hash that no measurement has (with those there are), and two runs that differ in
///           nothing
/// Source    Chi et al. 2022, arXiv:2212.10356, table 3; arXiv:2205.09921, tables 3 and 9
std::vector<Comparison> comparisons_of(const std::vector<RunCell>& cells,
                                       const CompareOptions& options);

}  // namespace farfield::compare
