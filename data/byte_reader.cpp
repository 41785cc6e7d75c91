#include "data/byte_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "data/gzip_reader.h"
#include "data/zstd_reader.h"
#include "engine/base/error.h"
#include "engine/base/interrupt.h"

namespace farfield::data {
namespace {

constexpr size_t kPeekBytes = 4096;
constexpr int kPollMs = 100;

}  // namespace

FileReader::FileReader(const std::filesystem::path& path, Tally& tally)
    : file_(path == kStandardInput ? "standard input" : path.string()),
      may_wait_(path == kStandardInput),
      descriptor_(path == kStandardInput ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                         : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
      tally_(tally) {
  require<IoError>(descriptor_ >= 0, "data", file_, ": cannot open: ", std::strerror(errno));
}

FileReader::~FileReader() { ::close(descriptor_); }

void FileReader::stop_if_asked() const {
  if (tally_.is_stopped != nullptr && tally_.is_stopped->load(std::memory_order_relaxed))
    fail<Interrupted>("data", file_, ": stopped on request");
}

size_t FileReader::read(char* out, size_t size) {
  stop_if_asked();
  for (pollfd wait = {descriptor_, POLLIN, 0}; may_wait_ && ::poll(&wait, 1, kPollMs) == 0;)
    stop_if_asked();
  ssize_t got = 0;
  do got = ::read(descriptor_, out, size);
  while (got < 0 && errno == EINTR);
  require<IoError>(got >= 0, "data", file_, ": cannot read: ", std::strerror(errno));
  tally_.hasher.update(out, static_cast<size_t>(got));
  tally_.size_bytes.fetch_add(got, std::memory_order_relaxed);
  return static_cast<size_t>(got);
}

std::string_view PeekReader::peek(size_t n) {
  while (first_.size() < n) {
    const size_t before = first_.size();
    first_.resize(before + kPeekBytes);
    const size_t got = bytes_->read(first_.data() + before, kPeekBytes);
    first_.resize(before + got);
    if (got == 0) break;
  }
  return first_;
}

size_t PeekReader::read(char* out, size_t size) {
  if (at_ == first_.size()) return bytes_->read(out, size);
  const size_t n = first_.copy(out, size, at_);
  at_ += n;
  return n;
}

namespace {

std::unique_ptr<ByteReader> open_standard_input(Tally& tally) {
  auto bytes = std::make_unique<PeekReader>(
      std::make_unique<FileReader>(std::filesystem::path(kStandardInput), tally));
  const std::string_view first = bytes->peek(4);
  const auto begins = [&](std::string_view magic) { return first.starts_with(magic); };
  const bool is_skippable =  // a frame of Zstandard that holds no text, as some tools put first
      first.size() >= 4 && (first[0] & 0xF0) == 0x50 && first.substr(1, 3) == "\x2A\x4D\x18";
  if (begins("\x28\xB5\x2F\xFD") || is_skippable)
    return std::make_unique<ZstdReader>(std::move(bytes), "standard input");
  if (begins("\x1F\x8B")) return std::make_unique<GzipReader>(std::move(bytes), "standard input");
  return bytes;
}

}  // namespace

std::unique_ptr<ByteReader> open_reader(const std::filesystem::path& path, Tally& tally) {
  if (path == kStandardInput) return open_standard_input(tally);
  auto file = std::make_unique<FileReader>(path, tally);
  if (path.extension() == ".zst")
    return std::make_unique<ZstdReader>(std::move(file), path.string());
  if (path.extension() == ".gz")
    return std::make_unique<GzipReader>(std::move(file), path.string());
  return file;
}

}  // namespace farfield::data
