#pragma once

#include <string>
#include <vector>

#include "apps/catalog/run_details.h"
#include "apps/catalog/run_facts.h"

namespace farfield::catalog {

/// An array with an object for each run, as `model list --json` prints it.
std::string list_json(const std::vector<RunFacts>& runs);
/// An object with the facts of the list and the details, as `model show --json` prints it.
std::string details_json(const RunDetails& details);

}  // namespace farfield::catalog
