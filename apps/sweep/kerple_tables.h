#pragma once

// What the experiments on the tables of the KERPLE paper share: texts, measures, comparisons.

#include <string>
#include <vector>

#include "apps/sweep/evidence.h"
#include "apps/sweep/experiment.h"
#include "apps/sweep/measured.h"

namespace farfield::sweep {

inline constexpr const char* kKerple = "KERPLE (arXiv:2205.09921) ";
/// A remark on perplexity of chunks.
inline constexpr const char* kChunksFall =
    "Perplexity of chunks falls with length for every encoding that does not fail, since a smaller "
    "share of the tokens stands near the start of a chunk. Whether a model makes use of more text "
    "than it was trained with is seen by its last token.";
inline const std::vector<std::string> kKerpleTexts = {"openwebtext2", "github", "arxiv"};
inline const std::vector<double> kKerpleLengths = {1, 2, 4, 8, 16, 32};

/// P2 at these lengths, in units of L, and its table.
Measure non_overlapping(const std::vector<double>& lengths);
Output table_of_chunks();
/// The table of P1.
Output table_of_last_token();

/// The lengths at which encodings are compared with each other. Below `small` only beyond the
/// training length: up to it, short training favours encodings that see little more than the
/// neighbours.
std::vector<double> compared(const Measured& m, std::vector<double> lengths, double train_len = 1);

/// "PPL 4 L, a / b", and its value.
std::string against(const std::string& a, const std::string& b, double length);
double quotient(const Measured& m, const std::string& a, const std::string& b, double length);
/// The perplexity of one is below that of another, or not above it.
void below(const Measured& m, Evidence& e, const char* a, const char* b, double length);
void not_above(const Measured& m, Evidence& e, const char* a, const char* b, double length);

}  // namespace farfield::sweep
