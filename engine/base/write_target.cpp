#include "engine/base/write_target.h"

#include <cerrno>
#include <system_error>

#include "engine/base/file_error.h"

namespace fs = std::filesystem;

namespace farfield {

fs::path write_target(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as Linux has it
  // "corpora/code/" would name the target of a link of that name.
  fs::path target = path.has_filename() ? path : path.parent_path();
  std::error_code status;
  for (int n = 0; fs::is_symlink(fs::symlink_status(target, status)); ++n) {
    errno = ELOOP;
    if (n == kMostLinks) fail_errno(path, "write");
    const fs::path next = fs::read_symlink(target, status);
    errno = status.value();
    if (status) fail_errno(path, "write");
    target = parent_of(target) / next;  // which is `next` where that is absolute
    if (!target.has_filename()) target = target.parent_path();
  }
  return target;
}

void make_folder(const fs::path& folder) {
  const fs::path target = write_target(folder);
  std::error_code status;
  if (fs::is_directory(target, status)) return;
  // The folders above, one by one: each may be a link.
  if (const fs::path above = parent_of(target); above != target) make_folder(above);
  fs::create_directory(target, status);
  errno = status.value();
  if (status) fail_errno(folder, "create the folder");
}

}  // namespace farfield
