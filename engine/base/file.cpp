#include "engine/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/file_error.h"
#include "engine/base/input_file.h"
#include "engine/base/interrupt.h"
#include "engine/base/temporary.h"
#include "engine/base/write_target.h"

namespace farfield {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = size_t{1} << 20;

// Closes on every way out.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (fd_ < 0) fail_errno(path, "open");
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Makes a rename in the folder durable. File systems that cannot flush a folder say EINVAL.
void flush_folder(const fs::path& folder) {
  const Descriptor fd(folder, O_RDONLY | O_DIRECTORY);
  if (::fsync(fd.get()) != 0 && errno != EINVAL) fail_errno(folder, "flush to disk");
}

constexpr size_t kMostOfStream = size_t{1} << 30;

// All that is left of the file.
std::string read_all(InputFile& file, const fs::path& path) {
  require<IoError>(file.is_regular() || file.is_stream(), "file", path.string(),
                   ": expected a regular file, got ",
                   file.is_folder() ? "a folder" : "something else");
  // One byte more than expected, so that the usual file ends with the second read.
  std::string bytes(static_cast<size_t>(file.size()) + 1, 0);
  size_t size = 0;
  while (true) {
    if (size == bytes.size()) bytes.resize(std::max(2 * size, size_t{4096}));
    const size_t got =
        file.read(bytes.data() + size, bytes.size() - size, [] { throw_if(interrupt_question()); });
    if (got == 0) break;
    size += got;
    require<IoError>(file.is_regular() || size <= kMostOfStream, "file", path.string(),
                     ": expected at most ", kMostOfStream, " bytes of a pipe or device, got more");
  }
  bytes.resize(size);
  return bytes;
}

// A rename would put a plain file where a device or a pipe was.
void require_replaceable(const fs::path& path) {
  struct stat info {};
  require<IoError>(::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode), "file", path.string(),
                   ": expected the name of a regular file to write, got something else of that "
                   "name; choose another name");
}

}  // namespace

fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!error || status.type() == fs::file_type::not_found) return status;
  errno = error.value();
  fail_errno(path, "look at");
}

bool is_empty_folder(const fs::path& path) {
  if (!is_folder(path)) return false;
  std::error_code error;
  const bool is_empty = fs::is_empty(path, error);
  errno = error.value();
  if (error) fail_errno(path, "list the folder");
  return is_empty;
}

std::string read_file(const fs::path& path) {
  InputFile file(path);
  return read_all(file, path);
}

MappedFile::MappedFile(const fs::path& path) {
  InputFile file(path);
  if (!file.is_regular()) {
    kept_ = std::make_unique<const std::string>(read_all(file, path));
    data_ = reinterpret_cast<const std::byte*>(kept_->data());
    size_ = kept_->size();
    return;
  }
  size_ = static_cast<size_t>(file.size());
  if (size_ == 0) return;
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  require<BackendError>(mapped != MAP_FAILED || errno != ENOMEM, "memory", path.string(),
                        ": expected room to map ", size_, " bytes, got none");
  if (mapped == MAP_FAILED) fail_errno(path, "map");
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr && kept_ == nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : kept_(std::move(other.kept_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(kept_, other.kept_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  require_replaceable(path_);
  path_ = write_target(path_);
  buffer_.reserve(kBufferBytes);
  Temporary made = make_temporary_file(path_);
  temporary_ = std::move(made.path);
  descriptor_ = made.descriptor;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (descriptor_ < 0) return;
  ::unlink(temporary_.c_str());
  ::close(std::exchange(descriptor_, -1));
}

void AtomicFile::write(const void* bytes, size_t size) {
  const char* next = static_cast<const char*>(bytes);
  size_ += size;
  while (size > 0) {
    const size_t part = std::min(size, kBufferBytes - buffer_.size());
    buffer_.append(next, part);
    next += part;
    size -= part;
    if (buffer_.size() == kBufferBytes) flush();
  }
}

void AtomicFile::flush() {
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t put = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_errno(path_, "write");
    done += static_cast<size_t>(put);
  }
  buffer_.clear();
}

void AtomicFile::rewrite_start(const void* bytes, size_t size) {
  require<IoError>(size <= size_, "file", path_.string(), ": expected at least ", size,
                   " bytes written, got ", size_);
  flush();
  if (::lseek(descriptor_, 0, SEEK_SET) != 0) fail_errno(path_, "write");
  buffer_.assign(static_cast<const char*>(bytes), size);
  flush();
  if (::lseek(descriptor_, 0, SEEK_END) < 0) fail_errno(path_, "write");
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0) fail_errno(path_, "flush to disk");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_errno(path_, "write");
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_errno(path_, "close");
  flush_folder(parent_of(path_));
}

void write_file_atomic(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void append_file(const fs::path& path, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) fail_errno(path, "open");
  const off_t before = ::lseek(file, 0, SEEK_END);
  // A full disk takes as many bytes as fit, and only the next write gives the reason.
  size_t done = 0;
  int reason = 0;
  while (done < bytes.size() && reason == 0) {
    const ssize_t written = ::write(file, bytes.data() + done, bytes.size() - done);
    if (written >= 0)
      done += static_cast<size_t>(written);
    else if (errno != EINTR)
      reason = errno;
  }
  if (reason != 0 && before >= 0) (void)!::ftruncate(file, before);
  ::close(file);
  errno = reason;
  if (reason != 0) fail_errno(path, "write");
}

AtomicFolder::AtomicFolder(const fs::path& path) : path_(write_target(path)) {
  Temporary made = make_temporary_folder(path_);
  temporary_ = std::move(made.path);
  lock_ = made.descriptor;
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
  ::close(lock_);
}

void AtomicFolder::commit(bool replace) {
  flush_folder(temporary_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    if (!replace || (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR))
      fail_errno(path_, "put the new folder in place");
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
      const fs::path old = path_.string() + ".old-" + std::to_string(::getpid());
      if (::rename(path_.c_str(), old.c_str()) != 0) fail_errno(path_, "move the old folder away");
      if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
        const int reason = errno;
        ::rename(old.c_str(), path_.c_str());  // the old folder returns
        errno = reason;
        fail_errno(path_, "put the new folder in place");
      }
      temporary_ = old;
    }
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
  }
  committed_ = true;
  flush_folder(parent_of(path_));
}

void require_writable_file(const fs::path& path) {
  AtomicFile probe(path);
  probe.write(std::string(4096, '\0'));  // a full disk may still have room for a name
  probe.flush();
}

void require_writable_folder(const fs::path& folder) {
  make_folder(folder);
  require_writable_file(folder / "probe");
}

}  // namespace farfield
