#pragma once

#include <vector>

#include "data/synthetic/draws.h"

namespace farfield::data {

/// ln of a Gamma(alpha, 1) variate, alpha > 0: the variate itself is too small for a double where
/// alpha is. The same bits on every machine.
/// Source    Marsaglia and Tsang 2000, "A simple method for generating gamma variables", section 6
///           for alpha < 1; normal variates by Marsaglia's polar method
double log_gamma_variate(double alpha, Draws& draws);

/// One draw of Dirichlet(alpha, ..., alpha): n shares, sum 1 up to rounding.
std::vector<double> dirichlet(int n, double alpha, Draws& draws);

}  // namespace farfield::data
