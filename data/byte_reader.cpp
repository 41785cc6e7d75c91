#include "data/byte_reader.h"

#include "data/gzip_reader.h"
#include "data/zstd_reader.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/interrupt.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPeekBytes = 4096;

InputFile open_input(const fs::path& path) {
  return path == kStandardInput ? InputFile::standard_input() : InputFile(path);
}

}  // namespace

bool is_stream(const fs::path& path) {
  if (path == kStandardInput) return true;
  const fs::file_type type = status_of(path).type();
  // Such a name may lead to a file whose own name is not known.
  const std::string name = path.string();
  return type == fs::file_type::fifo || name == "/dev/stdin" || name.starts_with("/dev/fd/") ||
         name.starts_with("/proc/self/fd/");
}

FileReader::FileReader(const fs::path& path, Tally& tally)
    : file_(open_input(path)),
      name_(path == kStandardInput ? "standard input" : path.string()),
      tally_(tally) {}

void FileReader::stop_if_asked() const {
  if (tally_.is_stopped != nullptr && tally_.is_stopped->load(std::memory_order_relaxed))
    fail<Interrupted>("data", name_, ": stopped on request");
}

size_t FileReader::read(char* out, size_t size) {
  stop_if_asked();
  const size_t got = file_.read(out, size, [this] { stop_if_asked(); });
  tally_.hasher.update(out, got);
  tally_.size_bytes.fetch_add(static_cast<int64_t>(got), std::memory_order_relaxed);
  return got;
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
  return fills_ && n < size ? n + bytes_->read(out + n, size - n) : n;
}

namespace {

std::unique_ptr<ByteReader> known_by_its_bytes(std::unique_ptr<ByteReader> stored,
                                               const std::string& name) {
  auto bytes = std::make_unique<PeekReader>(std::move(stored));
  const std::string_view first = bytes->peek(4);
  const auto begins = [&](std::string_view magic) { return first.starts_with(magic); };
  const bool is_skippable =  // a frame of Zstandard that holds no text, as some tools put first
      first.size() >= 4 && (first[0] & 0xF0) == 0x50 && first.substr(1, 3) == "\x2A\x4D\x18";
  if (begins("\x28\xB5\x2F\xFD") || is_skippable)
    return std::make_unique<ZstdReader>(std::move(bytes), name);
  if (begins("\x1F\x8B")) return std::make_unique<GzipReader>(std::move(bytes), name);
  return bytes;
}

}  // namespace

std::unique_ptr<ByteReader> open_reader(const fs::path& path, Tally& tally) {
  auto file = std::make_unique<FileReader>(path, tally);
  if (path == kStandardInput) return known_by_its_bytes(std::move(file), "standard input");
  const std::string name = path.string();
  if (is_stream(path)) return known_by_its_bytes(std::move(file), name);
  if (path.extension() == ".zst") return std::make_unique<ZstdReader>(std::move(file), name);
  if (path.extension() == ".gz") return std::make_unique<GzipReader>(std::move(file), name);
  return file;
}

}  // namespace farfield::data
