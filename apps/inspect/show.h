#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/table.h"
#include "apps/inspect/subject.h"
#include "apps/plot/picture.h"
#include "apps/plot/plot.h"

namespace farfield::inspect {

using Cells = std::vector<std::vector<cli::Cell>>;  ///< rows
using Format = std::string (*)(double);             ///< exact or brief

/// head, distance, bias, weight: 0 and 1 where a table is absent, -inf where a mask hides the key.
Cells table_cells(const Subject& s, const std::vector<int64_t>& distances, Format format);
/// position, id, distance: see RemappedPosition.
Cells position_cells(const Subject& s, Format format);
/// pair, frequency, scale_q, scale_k, far_frequency_q, far_frequency_k: see TurnedPair. ConfigError
/// without a rotation.
Cells pair_cells(const Subject& s, int64_t position, Format format);
/// name, index, value of what is learned.
Cells parameter_cells(const Subject& s, Format format);

/// The subject: the expression and the model around it.
std::string heading(const Subject& s);
/// The tables for people, and a line about each other effect on that layer.
std::string tables_text(const Subject& s, const std::vector<int64_t>& distances);
/// Bias or weight against distance, a line per head and subject; distance 0 has no place on a
/// logarithmic axis. ConfigError where no subject has such a table.
plot::Plot tables_plot(const std::vector<Subject>& subjects, const std::vector<int64_t>& distances,
                       bool is_bias, bool is_log);

/// The bias of one head as a picture over the queries and keys of the sequence, 256 of them at
/// most: white where the key is hidden. ConfigError for a head that does not exist, and without a
/// bias.
plot::Picture bias_picture(const Subject& subject, int64_t head);

}  // namespace farfield::inspect
