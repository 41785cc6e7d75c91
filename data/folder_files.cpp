#include "data/folder_files.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "data/manifest.h"
#include "engine/base/file_error.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

// True for "x.h" and "h" or ".h"; for "x" and "none".
// ".h", "h" and "*.h" are one ending.
bool has_ending(const std::string& name, const std::string& wanted) {
  if (wanted == "none") return name.find('.') == std::string::npos;
  const std::string ending = wanted.substr(wanted.starts_with('*') ? 1 : 0);
  const std::string with_dot = ending.starts_with('.') ? ending : "." + ending;
  return name.size() > with_dot.size() && name.ends_with(with_dot);
}

// The output as it is called within the folder; empty where it lies elsewhere.
std::string name_within(const fs::path& folder, const fs::path& output) {
  if (output.empty()) return "";
  std::error_code no_output, no_folder;
  const fs::path plain = output.has_filename() ? output : output.parent_path();
  const fs::path there = fs::weakly_canonical(plain, no_output);
  const fs::path name = there.lexically_relative(fs::canonical(folder, no_folder));
  return no_output || no_folder || name.empty() || *name.begin() == ".." ? "" : name.string();
}

// The output itself, or a temporary of a process that makes it (engine/base/temporary.h).
bool is_output(const std::string& name, const std::string& output) {
  return !output.empty() && name.starts_with(output) &&
         (name.size() == output.size() || name.compare(output.size(), 5, ".tmp-") == 0 ||
          name.compare(output.size(), 5, ".old-") == 0);
}

}  // namespace

std::vector<std::string> files_of_folder(const fs::path& folder, const FolderRequest& request,
                                         FileNotes& notes) {
  std::vector<std::string> names;
  const std::string output = name_within(folder, request.output);
  std::error_code error;
  fs::path at = folder;
  fs::recursive_directory_iterator walk(folder, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    at = walk->path();
    const std::string file_name = at.filename().string();
    const std::string name = at.lexically_relative(folder).string();
    const bool is_passed_over = file_name.starts_with('.') || is_output(name, output);
    std::error_code broken_link;
    const bool is_corpus = !is_passed_over && walk->is_directory(broken_link) &&
                           !walk->is_symlink() && is_corpus_folder(at);
    if (is_passed_over || is_corpus) {
      walk.disable_recursion_pending();
      if (is_corpus)
        notes.add({FileNote::Kind::left_out, at.string(),
                   "is left out: a corpus made by prepare, not text"});
      continue;
    }
    if (!walk->is_regular_file(broken_link)) continue;
    const auto& endings = request.endings;
    if (endings.empty() || std::any_of(endings.begin(), endings.end(), [&](const std::string& e) {
          return has_ending(file_name, e);
        }))
      names.push_back(name);
  }
  errno = error.value();
  if (error) fail_errno(at, "list the folder");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace farfield::data
