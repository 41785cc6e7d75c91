#pragma once

#include <ostream>

#include "apps/hub/export.h"

namespace farfield::hub {

/// Makes a GGUF file of a run, whose model llama.cpp computes, with the tokenizer where llama.cpp
/// gives the same ids. The file is complete or absent. Memory is that of the weights, and one
/// tensor more.
/// Throws    ConfigError for a model that no architecture of llama.cpp computes, saying why, and if
///           the file is there already; IoError for a damaged run
void export_gguf(const ExportRequest& request, std::ostream& out);

}  // namespace farfield::hub
