#include "engine/base/temporary.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/file_error.h"
#include "engine/base/write_target.h"

namespace farfield {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNames = 1000;
constexpr std::string_view kTemporary = ".tmp-", kOld = ".old-";

fs::path name_of(const fs::path& path, int n) {
  std::string name = path.string().append(kTemporary).append(std::to_string(::getpid()));
  if (n > 1) name += '-' + std::to_string(n);
  return name;
}

enum class Lock { taken, held, none };

Lock lock(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return Lock::taken;
  return errno == EWOULDBLOCK ? Lock::held : Lock::none;
}

// Whether the name still leads to the open file: between open() and flock() another process may
// have removed the file as a leftover.
bool is_still_there(const fs::path& path, int descriptor) {
  struct stat by_name {
  }, open{};
  return ::lstat(path.c_str(), &by_name) == 0 && ::fstat(descriptor, &open) == 0 &&
         by_name.st_dev == open.st_dev && by_name.st_ino == open.st_ino;
}

// Whether this process may fill the file that it has opened.
bool claim(const fs::path& path, int descriptor) {
  if (lock(descriptor) != Lock::held && is_still_there(path, descriptor)) return true;
  ::close(descriptor);
  return false;
}

// False when it is in use, or may be.
bool remove_leftover(const fs::path& path, Folder folder_is) {
  // Some network file systems lock only files that are open for writing.
  int descriptor = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
    descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  const Lock got = lock(descriptor);
  const bool is_left = (got == Lock::taken || (got == Lock::none && folder_is == Folder::locked)) &&
                       is_still_there(path, descriptor);
  std::error_code error;
  if (is_left) fs::remove_all(path, error);
  ::close(descriptor);
  return is_left && !error;
}

// The part of a name before a final ".tmp-<number>", ".tmp-<number>-<number>", ".tmp-old" or
// ".old-<number>"; "" for other names.
struct Leftover {
  std::string stem;
  bool is_old = false;  // a version that was to be replaced
};

Leftover leftover_of(const std::string& name) {
  for (const std::string_view mark : {kTemporary, kOld}) {
    const size_t at = name.rfind(mark);
    if (at == std::string::npos || at == 0) continue;
    const std::string_view rest = std::string_view(name).substr(at + mark.size());
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const size_t dash = std::min(rest.find('-'), rest.size());
    const bool is_number =
        !rest.empty() && dash > 0 && dash + 1 != rest.size() &&
        std::all_of(rest.begin(), rest.begin() + dash, is_digit) &&
        (dash == rest.size() || std::all_of(rest.begin() + dash + 1, rest.end(), is_digit));
    if (is_number || (mark == kTemporary && rest == "old"))
      return {name.substr(0, at), mark == kOld};
  }
  return {};
}

// With a stem, only files of that name.
void remove_from(const fs::path& folder, const std::string& stem, Folder folder_is) {
  std::vector<fs::path> found;  // first all, since removing disturbs the iterator
  std::error_code status;
  for (fs::directory_iterator entry(folder, status), end; !status && entry != end;
       entry.increment(status)) {
    const Leftover left = leftover_of(entry->path().filename().string());
    if (left.stem.empty() || (!stem.empty() && left.stem != stem)) continue;
    // The old file was moved away and the new one never came: this is the only copy.
    std::error_code ignored;
    if (left.is_old && !fs::exists(folder / left.stem, ignored)) continue;
    found.push_back(entry->path());
  }
  for (const fs::path& path : found) remove_leftover(path, folder_is);
}

}  // namespace

Temporary make_temporary_file(const fs::path& path) {
  for (int n = 1; n <= kMostNames; ++n) {
    const fs::path name = name_of(path, n);
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0 && (errno == EISDIR || errno == ELOOP)) continue;  // not a file of this kind
    if (file < 0) fail_errno(path, "create");
    if (!claim(name, file)) continue;
    if (::ftruncate(file, 0) == 0) return {name, file};
    const int reason = errno;
    ::close(file);
    errno = reason;
    fail_errno(path, "create");
  }
  errno = EEXIST;
  fail_errno(path, "create");
}

Temporary make_temporary_folder(const fs::path& path) {
  make_folder(parent_of(path));
  for (int n = 1; n <= kMostNames; ++n) {
    const fs::path name = name_of(path, n);
    int reason = ::mkdir(name.c_str(), 0777) == 0 ? 0 : errno;
    if (reason == EEXIST) {  // another process's, or left by a killed process of the same number
      if (!remove_leftover(name, Folder::shared)) continue;
      reason = ::mkdir(name.c_str(), 0777) == 0 ? 0 : errno;
      if (reason == EEXIST) continue;
    }
    errno = reason;
    if (reason != 0) fail_errno(path, "create the folder");
    const int folder = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 && errno == ENOENT) continue;
    if (folder < 0) fail_errno(path, "create the folder");
    if (claim(name, folder)) return {name, folder};
  }
  errno = EEXIST;
  fail_errno(path, "create the folder");
}

void remove_leftovers(const fs::path& path) {
  const fs::path plain = write_target(path);
  if (plain.has_filename())
    remove_from(parent_of(plain), plain.filename().string(), Folder::shared);
}

void remove_leftovers_in(const fs::path& folder, Folder folder_is) {
  remove_from(folder, "", folder_is);
}

}  // namespace farfield
