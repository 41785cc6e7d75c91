#include "apps/sweep/cell_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace farfield::sweep {

std::optional<CellLock> CellLock::take(const std::filesystem::path& file) {
  CellLock lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  require<IoError>(lock.descriptor_ >= 0, "sweep", file.string(),
                   ": cannot open: ", std::strerror(errno));
  if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) == 0) return lock;
  require<IoError>(errno == EWOULDBLOCK, "sweep", file.string(),
                   ": cannot lock: ", std::strerror(errno),
                   "; put the sweep on a file system that has locks");
  return std::nullopt;
}

CellLock::~CellLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool is_being_made(const std::filesystem::path& file) {
  std::error_code status;
  return std::filesystem::exists(file, status) && !CellLock::take(file);
}

}  // namespace farfield::sweep
