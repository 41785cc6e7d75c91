#include "engine/base/input_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/file_error.h"

namespace farfield {
namespace {

constexpr int kPollMs = 100;
constexpr int kPatienceMs = 5000;

// A socket has a name, as /dev/stdin may be one, but it cannot be opened by it. Some devices cannot
// either, for the same reason in errno.
bool is_socket(const std::string& name) {
  struct stat info {};
  return ::stat(name.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

}  // namespace

// Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
InputFile::InputFile(const std::filesystem::path& path)
    : InputFile(path.string(), ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC), false) {}

InputFile InputFile::standard_input() {
  return {"standard input", ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), true};
}

InputFile::InputFile(std::string name, int descriptor, bool may_block)
    : name_(std::move(name)), descriptor_(descriptor), may_block_(may_block) {
  if (descriptor_ < 0) {
    const int reason = errno;
    require<IoError>(reason != ENXIO || !is_socket(name_), "file", name_,
                     ": cannot open: a socket has to be read as standard input, which '-' stands "
                     "for where a program reads it");
    errno = reason;
    fail_errno(name_, "open");
  }
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0) {
    const int reason = errno;
    ::close(descriptor_);
    errno = reason;
    fail_errno(name_, "read");
  }
  const auto is = [&](mode_t type) { return (info.st_mode & S_IFMT) == type; };
  kind_ = is(S_IFREG)   ? Kind::regular
          : is(S_IFDIR) ? Kind::folder
          : is(S_IFIFO) ? Kind::pipe
          : is(S_IFCHR) ? Kind::characters
                        : Kind::other;
  if (is_regular()) size_ = info.st_size;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : name_(std::move(other.name_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      may_block_(other.may_block_),
      kind_(other.kind_),
      size_(other.size_),
      has_begun_(other.has_begun_) {}

size_t InputFile::read(char* out, size_t size, const std::function<void()>& while_waiting) {
  for (int waited_ms = 0;;) {
    if (!is_regular()) {
      pollfd wait = {descriptor_, POLLIN, 0};
      if (::poll(&wait, 1, kPollMs) <= 0) {  // nothing yet, or a signal
        if (while_waiting) while_waiting();
        size_t got = 0;
        if (kind_ != Kind::pipe || may_block_ || has_begun_ || !nobody_writes(out, size, got))
          continue;
        if (got > 0) return got;
        waited_ms += kPollMs;
        require<IoError>(waited_ms < kPatienceMs, "file", name_,
                         ": expected somebody to write to this pipe, got nobody within ",
                         kPatienceMs / 1000, " seconds");
        continue;
      }
    }
    const ssize_t got = ::read(descriptor_, out, size);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) fail_errno(name_, "read");
    has_begun_ = true;
    return static_cast<size_t>(got);
  }
}

// Whether no process has opened the pipe for writing so far. Bytes that arrived meanwhile are at
// `out`.
bool InputFile::nobody_writes(char* out, size_t size, size_t& got) const {
  const ssize_t n = ::read(descriptor_, out, size);
  if (n > 0) got = static_cast<size_t>(n);
  return n >= 0;
}

}  // namespace farfield
