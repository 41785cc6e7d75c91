#include "data/byte_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "data/gzip_reader.h"
#include "data/zstd_reader.h"
#include "engine/base/error.h"

namespace farfield::data {

FileReader::FileReader(const std::filesystem::path& path, Tally& tally)
    : file_(path.string()), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), tally_(tally) {
  require<IoError>(descriptor_ >= 0, "data", file_, ": cannot open: ", std::strerror(errno));
}

FileReader::~FileReader() { ::close(descriptor_); }

size_t FileReader::read(char* out, size_t size) {
  ssize_t got = 0;
  do got = ::read(descriptor_, out, size);
  while (got < 0 && errno == EINTR);
  require<IoError>(got >= 0, "data", file_, ": cannot read: ", std::strerror(errno));
  tally_.hasher.update(out, static_cast<size_t>(got));
  tally_.size_bytes += got;
  return static_cast<size_t>(got);
}

std::unique_ptr<ByteReader> open_reader(const std::filesystem::path& path, Tally& tally) {
  auto file = std::make_unique<FileReader>(path, tally);
  if (path.extension() == ".zst")
    return std::make_unique<ZstdReader>(std::move(file), path.string());
  if (path.extension() == ".gz")
    return std::make_unique<GzipReader>(std::move(file), path.string());
  return file;
}

}  // namespace farfield::data
