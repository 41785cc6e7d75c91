#include "data/spool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/file_error.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

fs::path or_temporary(fs::path folder) {
  if (!folder.empty()) return folder;
  std::error_code error;
  folder = fs::temp_directory_path(error);
  require<IoError>(!error, "data", "expected a folder for temporary files, got none (",
                   error.message(), "); name one in TMPDIR");
  return folder;
}

}  // namespace

Spool::Spool(fs::path folder) : folder_(or_temporary(std::move(folder))) {
  std::string name = (folder_ / "spool-XXXXXX").string();
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail_errno(folder_, "make a temporary file in");
  ::unlink(name.c_str());
}

Spool::~Spool() { ::close(descriptor_); }

void Spool::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), size_);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_errno(folder_, "write a temporary file in");
    size_ += put;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

void Spool::read(int64_t begin, size_t n, char* out) const {
  while (n > 0) {
    const ssize_t got = ::pread(descriptor_, out, n, begin);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_errno(folder_, "read a temporary file in");
    require<IoError>(got > 0, "data", folder_.string(),
                     ": expected the temporary file as written, got a shorter one");
    begin += got;
    out += got;
    n -= static_cast<size_t>(got);
  }
}

void Spool::clear() {
  if (::ftruncate(descriptor_, 0) != 0) fail_errno(folder_, "shorten a temporary file in");
  size_ = 0;
}

}  // namespace farfield::data
