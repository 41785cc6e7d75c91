#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "tests/support/source_dir.h"

namespace farfield {

/// A file of the data that is kept beside the source tree: below FARFIELD_DATA_DIR if that is set,
/// else ../shared/data seen from the sources. Empty, after a message, if it is missing: the test
/// then has nothing to do.
inline std::filesystem::path data_file(const std::string& name) {
  const char* folder = std::getenv("FARFIELD_DATA_DIR");
  const std::filesystem::path path =
      (folder != nullptr ? std::filesystem::path(folder) : source_dir() / "../shared/data") / name;
  if (std::filesystem::exists(path)) return path;
  std::cerr << "SKIPPED: " << path.string() << " is missing; set FARFIELD_DATA_DIR\n";
  return {};
}

}  // namespace farfield
