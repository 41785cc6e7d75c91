#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/inspect/subject.h"
#include "apps/plot/plot.h"
#include "apps/sweep/section.h"

namespace farfield::sweep {

// For experiments without a trained model: the scores that an encoding adds, with its initial
// values.

/// An encoding in a model of so many heads, over sequences of n tokens, in float64. ConfigError as
/// Composition.
inspect::Subject encoding_at(const std::string& expression, int64_t n_head, int64_t n);

/// The bias of a head, counted from 0, for the key d tokens before the last of n, [n]; -inf if a
/// mask hides it.
std::vector<double> bias_by_distance(const std::string& expression, int64_t n_head, int64_t head,
                                     int64_t n);

/// The bucket of T5 that each distance 0 .. n - 1 falls into, counted from 0 by distance.
std::vector<int64_t> buckets_of_t5(int64_t n);

/// The causal matrix that a bias by distance stands for, a row per query: as printed by `text`.
ReportTable causal_table(const std::vector<double>& bias, std::string (*text)(double));

/// A bias as a thin line over the distances 0 .. n - 1.
plot::Curve bias_curve(const std::string& label, const std::vector<double>& bias);

/// Softmax of the first n of some scores.
std::vector<double> softmax_of(const std::vector<double>& scores, size_t n);
/// The largest difference of softmax over two biases by distance, for each query of n.
double largest_softmax_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace farfield::sweep
