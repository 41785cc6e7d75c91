#pragma once

#include <filesystem>

#include "data/corpus.h"

namespace farfield::data {

/// Opens the corpus at the path, in the format that its content shows: see Corpus::open().
CorpusParts open_parts(const std::filesystem::path& path, const CorpusOptions& options);

}  // namespace farfield::data
