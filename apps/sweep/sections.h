#pragma once

#include "apps/sweep/measured.h"
#include "apps/sweep/section.h"

namespace farfield::sweep {

/// The section of an experiment: our tables and the paper's, figures, findings. Missing cells are
/// shown as missing.
Section section_of(const Plan& plan, const Results& results);

/// A number of an arm: "12.3 ± 0.4 †", with the mark against the experiment's reference arm; "–"
/// where none was measured; the code of a failure, behind the number where other seeds have one.
ReportTable::Field field_of(const Measured& m, const PlannedArm& arm, const std::string& measure,
                            const std::string& quantity, double length);
/// The first columns of a table of encodings: the name, with its expression, and what it acts on.
std::vector<ReportTable::Field> encoding_fields(const PlannedArm& arm);
/// For one data set and output: our table, and the paper's if it printed one.
std::vector<ReportTable> tables_of(const Measured& m, const Output& output);
/// The numbers of the paper's text and figures; may have no rows.
ReportTable printed_scalars_table(const Experiment& e);
/// For one data set and output; a plot has no points without measurements. A band is the mean ± the
/// standard deviation over two seeds or more.
///
/// A second panel magnifies curves that lie on each other because others explode. It shows the
/// range of the curves that, from the training length on, never rise by more than 15 % above their
/// value there. It is drawn for two such curves or more that fill less than a quarter of the axis.
std::vector<ReportFigure> figures_of(const Measured& all, const Output& output);
/// Gives figures of the same quantity one range of y, on different texts above all, so that they
/// can be compared at sight. A figure joins others only while each of them fills half of the
/// common axis; second panels have ranges of their own, by the same rule.
void share_y_ranges(std::vector<ReportFigure>& figures);
/// The judgement on every finding of the experiment, over all its data sets. A number is the mean
/// over the seeds that all models have which it compares.
std::vector<Judgement> judgements_of(const Plan& plan, const Results& results);
/// The data set of an experiment without models.
const PlannedDataset& no_dataset();

/// An arm by the look that its encoding has in every figure; swept ones by their place among n.
plot::Curve curve_of(const PlannedArm& arm, size_t place, size_t n);

}  // namespace farfield::sweep
