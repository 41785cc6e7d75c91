#include "engine/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/file_error.h"

namespace fs = std::filesystem;

namespace farfield {
namespace {

// Refuses links and pipes: the lock must not write to another file, nor wait for a pipe. To ask who
// has a lock, reading is enough on most file systems, and all that a reader of others' files may.
int open_lock(const std::string& file, std::string_view where, bool may_only_read = false) {
  constexpr int kSafely = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | kSafely, 0666);
  if (descriptor < 0 && may_only_read && (errno == EACCES || errno == EROFS))
    descriptor = ::open(file.c_str(), O_RDONLY | kSafely);
  require<IoError>(descriptor >= 0 || errno != ELOOP, where, file,
                   ": expected a regular file, got a symbolic link; remove it");
  if (descriptor < 0) fail_errno(file, "open");
  struct stat info {};
  if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) return descriptor;
  ::close(descriptor);
  fail<IoError>(where, file, ": expected a regular file, got something else; remove it");
}

bool try_lock(int descriptor, const std::string& file, std::string_view where) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
  require<IoError>(errno == EWOULDBLOCK, where, file, ": cannot lock: ", std::strerror(errno),
                   "; use a file system that has locks");
  return false;
}

}  // namespace

std::optional<FileLock> FileLock::take(const fs::path& file, std::string_view where,
                                       std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kLook(20);
  FileLock lock(open_lock(file.string(), where));
  while (!try_lock(lock.descriptor_, file.string(), where)) {
    if (patience.count() <= 0) return std::nullopt;
    std::this_thread::sleep_for(kLook);
    patience -= kLook;
  }
  // The number only helps messages; the lock is what counts, so a full disk is no matter.
  const std::string self = std::to_string(::getpid());
  if (::ftruncate(lock.descriptor_, 0) == 0)
    (void)!::pwrite(lock.descriptor_, self.data(), self.size(), 0);
  return lock;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);  // gives the lock back
}

bool FileLock::is_held(const fs::path& file, std::string_view where) {
  std::error_code status;
  if (!fs::exists(file, status)) return false;
  const FileLock lock(open_lock(file.string(), where, /*may_only_read=*/true));
  return !try_lock(lock.descriptor_, file.string(), where);
}

std::string FileLock::owner(const fs::path& file) {
  char owner[24] = {};
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const bool is_there = descriptor >= 0 && ::read(descriptor, owner, sizeof owner - 1) > 0;
  if (descriptor >= 0) ::close(descriptor);
  return is_there ? owner : "unknown";
}

}  // namespace farfield
