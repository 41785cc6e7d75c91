#pragma once

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "apps/sweep/folder.h"
#include "apps/sweep/given_run.h"

namespace farfield::sweep {

// What a call of `sweep run --base RUN` asks for.

/// The run, for a sweep in the folder `out`: at the step that the sweep has, if it is of a run. As
/// open_given(); null for an empty `base`.
std::shared_ptr<const GivenRun> given_for(const std::string& base,
                                          const std::filesystem::path& out);

/// The ids of the experiments that change one model, among those that the words ask for. The others
/// are named on `said`. ConfigError for a grid of the user's own, for a word that finds no such
/// experiment, and for a run that does not fit.
std::vector<std::string> ids_on_given(const GivenRun& given, const std::vector<std::string>& words,
                                      std::ostream& said);

/// Maps `text` to the corpus of the run if nothing else stands for it.
void use_own_text(const GivenRun& given, Datasets& datasets);

/// ConfigError for the corpus of an open cell that has other tokens than the run.
void require_its_tokens(const GivenRun& given, const SweepFolder& folder,
                        const std::vector<Cell>& open);

}  // namespace farfield::sweep
