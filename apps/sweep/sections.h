#pragma once

#include "apps/sweep/measured.h"
#include "apps/sweep/section.h"

namespace farfield::sweep {

/// What a report says of an experiment: our tables and the paper's, figures, findings. Cells that
/// are missing are shown as missing.
Section section_of(const Plan& plan, const Results& results);

/// A number of an arm: "12.3 ± 0.4 †", with the mark against the experiment's reference arm; "–"
/// where none was measured; the code of a failure, behind the number where other seeds have one.
ReportTable::Field field_of(const Measured& m, const PlannedArm& arm, const std::string& measure,
                            const std::string& quantity, double length);
/// Of one data set and output: ours, and the paper's where it printed one.
std::vector<ReportTable> tables_of(const Measured& m, const Output& output);
/// What the paper's text and figures say in numbers; no rows where they say none.
ReportTable printed_scalars_table(const Experiment& e);
/// Of one data set and output; a plot has no points when nothing is measured.
std::vector<ReportFigure> figures_of(const Measured& m, const Output& output);
/// What is found on every claim of the experiment, over all its data sets.
std::vector<Judgement> judgements_of(const Plan& plan, const Results& results);

/// An arm by the look that its encoding has in every figure; swept ones by their place among n.
plot::Curve curve_of(const PlannedArm& arm, size_t place, size_t n);

}  // namespace farfield::sweep
