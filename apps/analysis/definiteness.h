#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>

namespace farfield::analysis {

/// Whether K = [k(|x_i - x_j|)] is positive definite on vectors that sum to zero.
enum class Verdict {
  cpd,       ///< conditionally positive definite: smallest eigenvalue above the tolerance
  boundary,  ///< within the tolerance of 0
  not_cpd,
};

struct Definiteness {
  /// Of K on the complement of the all-ones vector; 0 if it is within the tolerance of 0.
  double smallest_eigenvalue = std::nan("");
  double tolerance = 0;  ///< 1e-9 n max |K|
  Verdict verdict = Verdict::not_cpd;
  /// The least c >= 0 with c + K positive semidefinite on these points; NaN unless cpd. It grows
  /// with the set of points: no constant serves all lengths.
  double smallest_shift = std::nan("");
  /// The first of 0, 1, 2, 4, 8, ... not below smallest_shift, but for rounding (1e-9), as the
  /// paper's search finds it; NaN unless cpd.
  double searched_shift = std::nan("");
};

/// Of the kernel k(d) on n points. With o = ones / sqrt(n), Q an orthonormal basis of its
/// complement, A = Q' K Q, b = Q' K o and a = o' K o, the smallest eigenvalue is the least
/// eigenvalue of A, and smallest_shift = max(0, (b' A^-1 b - a) / n). Takes O(n^3): meant for a few
/// hundred points, which must be distinct (equal ones make a boundary of any kernel).
///
/// Throws    ConfigError bad_argument for fewer than 2 points; Error nonfinite_kernel, with the
///           distance
/// Source    Chi et al. 2022, "KERPLE", arXiv:2205.09921, section 3, appendices A.1 and A.2, whose
///           lemma 1 claims a shift for -d^2 too: there is none for three points or more
Definiteness definiteness(const std::function<double(double)>& kernel,
                          std::span<const double> points);

}  // namespace farfield::analysis
