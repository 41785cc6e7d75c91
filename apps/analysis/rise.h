#pragma once

#include <functional>
#include <span>

namespace farfield::analysis {

/// A model degrades at a length where its perplexity is this many times its least before.
inline constexpr double kRise = 1.1;

/// The first of these lengths, in rising order, at which perplexity is above kRise times its least
/// at a shorter one. Infinity: at none. NaN: a perplexity before it is NaN.
double first_rise(std::span<const double> lengths, const std::function<double(double)>& perplexity);

}  // namespace farfield::analysis
