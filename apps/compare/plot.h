#pragma once

#include <string>

#include "apps/compare/comparison.h"
#include "apps/plot/plot.h"

namespace farfield::compare {

/// The quantity against length, one curve per row: means over seeds. Error bars, standard
/// deviations over seeds, only where nothing was tested: the spread of each does not tell whether
/// two that were measured on the same text differ. Without curves where there are no lengths.
plot::Plot comparison_plot(const Comparison& of);
/// The paired differences to the reference that decide the marks, with their 95 % intervals: one
/// that leaves out 0 has a mark (with marks of the KERPLE paper, where it lies above). The curves
/// have the styles of comparison_plot().
plot::Plot difference_plot(const Comparison& of);

/// Both beside each other where there is a difference to draw, else the first alone.
std::string comparison_svg(const Comparison& of);

}  // namespace farfield::compare
