#include "data/formats/sampled_hash.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "engine/base/error.h"
#include "engine/base/file_error.h"

namespace farfield::data {
namespace {

constexpr int64_t kBlocks = 64, kBlock = int64_t{1} << 16;

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (fd_ < 0) fail_errno(path, "open");
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int64_t size() const {
    struct stat info {};
    if (::fstat(fd_, &info) != 0) fail_errno(path_, "read");
    return info.st_size;
  }
  // A mapped file would be read ahead around each block, by megabytes.
  void expect_blocks() const { ::posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM); }

  void add(Hasher& hasher, int64_t begin, int64_t n) const {
    std::string block(static_cast<size_t>(std::min(n, kBlock)), '\0');
    for (const int64_t end = begin + n; begin < end;) {
      const auto wanted = static_cast<size_t>(std::min(end - begin, kBlock));
      const ssize_t got = ::pread(fd_, block.data(), wanted, begin);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_errno(path_, "read");
      require<IoError>(got > 0, "corpus", path_.string(),
                       ": the file became shorter while it was "
                       "read");
      hasher.update(block.data(), static_cast<size_t>(got));
      begin += got;
    }
  }

 private:
  const std::filesystem::path& path_;
  int fd_;
};

}  // namespace

void add_sample(Hasher& hasher, const std::filesystem::path& path) {
  const Descriptor file(path);
  const int64_t size = file.size();
  hasher.update(&size, sizeof size);
  if (size <= kBlocks * kBlock) return file.add(hasher, 0, size);
  file.expect_blocks();
  const int64_t last = size - kBlock, step = last / (kBlocks - 1);
  for (int64_t i = 0; i + 1 < kBlocks; ++i) file.add(hasher, i * step, kBlock);
  file.add(hasher, last, kBlock);
}

}  // namespace farfield::data
