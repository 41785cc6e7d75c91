#include "apps/cli/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::cli {

ScratchFolder::ScratchFolder(std::string_view where) {
  std::vector<std::string> places = {"/tmp", "/var/tmp"};
  if (const char* given = std::getenv("TMPDIR"); given != nullptr && *given != 0)
    places.insert(places.begin(), given);
  std::vector<std::string> tried;
  for (const std::string& place : places) {
    std::string name = (std::filesystem::path(place) / "farfield-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) {
      path_ = name;
      return;
    }
    tried.push_back(concat(place, ": ", std::strerror(errno)));
  }
  fail<IoError>(where, "cannot make a folder for temporary files (", joined(tried, "; "),
                "); set TMPDIR to a folder that can be written to");
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace farfield::cli
