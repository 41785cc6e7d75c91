#pragma once

#include <set>
#include <string>

#include "apps/sweep/section.h"

namespace farfield::sweep {

/// The settings of a preset beside the settings printed in a paper: rows of configs.csv of that
/// source, table and model.
ReportTable settings_table(const std::string& source, const std::string& table,
                           const std::string& model, const std::string& preset);
/// Whether each printed setting that the preset has is the preset's, but for some keys.
void settings_agree(const std::string& source, const std::string& table, const std::string& model,
                    const std::string& preset, Evidence& evidence,
                    const std::set<std::string>& but_for = {});
/// The data sets that a paper printed, with their sizes.
ReportTable datasets_table(const std::string& source, const std::string& table);

}  // namespace farfield::sweep
