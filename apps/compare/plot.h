#pragma once

#include <string>

#include "apps/compare/comparison.h"
#include "apps/plot/plot.h"

namespace farfield::compare {

/// The quantity against length, one curve per row: means over seeds. Error bars, standard
/// deviations over seeds, appear only without a test: the spread of each curve does not tell
/// whether two curves on the same text differ. Without lengths there are no curves.
plot::Plot comparison_plot(const Comparison& of);
/// The paired differences to the reference that decide the marks, with their 95 % intervals. An
/// interval without 0 gives a mark (with marks of the KERPLE paper, only if it lies above 0). The
/// curves have the styles of comparison_plot().
plot::Plot difference_plot(const Comparison& of);

/// Both plots beside each other if there is a difference to draw, else only the first.
std::string comparison_svg(const Comparison& of);

}  // namespace farfield::compare
