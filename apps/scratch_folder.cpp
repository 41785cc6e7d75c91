#include "apps/scratch_folder.h"

#include <cstdlib>
#include <system_error>

#include "engine/base/error.h"

namespace farfield::apps {

ScratchFolder::ScratchFolder(std::string_view where) {
  std::string name = (std::filesystem::temp_directory_path() / "farfield-XXXXXX").string();
  require<IoError>(::mkdtemp(name.data()) != nullptr, where, name,
                   ": cannot make a folder for temporary files");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace farfield::apps
