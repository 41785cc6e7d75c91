#include "tests/support/source_dir.h"

namespace farfield {

std::filesystem::path source_dir() { return FARFIELD_SOURCE_DIR; }

}  // namespace farfield
