#pragma once

#include <filesystem>

#include "data/corpus.h"

namespace farfield::data {

/// What lies at the path, in whatever format its content shows: see Corpus::open().
CorpusParts open_parts(const std::filesystem::path& path, const CorpusOptions& options);

}  // namespace farfield::data
