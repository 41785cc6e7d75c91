#include "apps/catalog/find_runs.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "apps/run/place.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace fs = std::filesystem;

namespace farfield::catalog {
namespace {

// A run that has lost its configuration is one too: it is listed as damaged.
bool is_run(const fs::path& folder) {
  std::error_code status;
  return fs::is_regular_file(folder / "config.conf", status) ||
         (fs::is_regular_file(folder / "manifest.json", status) &&
          fs::is_directory(folder / "checkpoints", status));
}

class Search {
 public:
  void look_into(const fs::path& folder) {
    if (is_run(folder)) {
      if (seen_.insert(run::real_path(folder)).second) found.runs.push_back(folder);
      return;
    }
    std::vector<fs::path> below;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (std::error_code status; is_of_interest(*at) && at->is_directory(status))
        below.push_back(at->path().lexically_normal());  // "run" of "./run"
    if (error) found.unreadable.push_back(concat(folder.string(), ": ", error.message()));
    std::sort(below.begin(), below.end());
    for (const fs::path& one : below) look_into(one);
  }

  FoundRuns found;

 private:
  static bool is_of_interest(const fs::directory_entry& entry) {
    const bool is_unfinished = entry.path().filename().string().find(".tmp-") != std::string::npos;
    std::error_code status;
    return !is_unfinished && (!entry.is_symlink(status) || is_run(entry.path()));
  }

  std::set<fs::path> seen_;
};

}  // namespace

FoundRuns find_runs(const std::vector<std::string>& folders) {
  Search search;
  for (const std::string& folder : folders) {
    require<IoError>(is_folder(folder), "model", folder, ": expected a folder, got ",
                     is_there(folder) ? "a file" : "nothing of that name");
    fs::path plain = fs::path(folder).lexically_normal();
    if (!plain.has_filename()) plain = plain.parent_path();  // "runs/"
    search.look_into(plain.empty() ? fs::path("/") : plain);
  }
  std::sort(search.found.runs.begin(), search.found.runs.end());
  return search.found;
}

}  // namespace farfield::catalog
