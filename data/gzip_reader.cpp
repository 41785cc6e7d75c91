#include "data/gzip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "data/binary.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 17;
constexpr int kGzipWindowBits = 15 + 16;  // the largest window; 16: a gzip header, no other

}  // namespace

struct GzipReader::Decoder {
  Decoder() : input(kBlockBytes) {
    if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) throw std::bad_alloc();
  }
  ~Decoder() { inflateEnd(&stream); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  z_stream stream = {};
  std::vector<char> input;
  std::string begin;        // of the file
  bool has_member = false;  // one began: an empty file has none
  bool in_member = false;
  bool at_end = false;  // of the compressed bytes
};

GzipReader::GzipReader(std::unique_ptr<ByteReader> compressed, std::string file)
    : compressed_(std::move(compressed)),
      file_(std::move(file)),
      decoder_(std::make_unique<Decoder>()) {}
GzipReader::~GzipReader() = default;

size_t GzipReader::read(char* out, size_t size) {
  Decoder& d = *decoder_;
  const auto room = static_cast<uInt>(std::min<size_t>(size, std::numeric_limits<uInt>::max()));
  d.stream.next_out = reinterpret_cast<Bytef*>(out);
  d.stream.avail_out = room;
  while (d.stream.avail_out == room) {
    if (d.stream.avail_in == 0 && !d.at_end) {
      d.stream.avail_in = static_cast<uInt>(compressed_->read(d.input.data(), d.input.size()));
      d.stream.next_in = reinterpret_cast<Bytef*>(d.input.data());
      d.at_end = d.stream.avail_in == 0;
      d.begin.append(d.input.data(),
                     std::min<size_t>(d.stream.avail_in, kBinaryBeginBytes - d.begin.size()));
    }
    if (d.has_member && !d.in_member) {
      while (d.stream.avail_in > 0 && *d.stream.next_in == 0) {
        ++d.stream.next_in;
        --d.stream.avail_in;
      }
      if (d.stream.avail_in == 0 && !d.at_end) continue;
    }
    if (d.at_end && !d.in_member) {
      require<IoError>(d.has_member, "gzip", file_, ": expected a gzip member, got an empty file");
      return 0;
    }
    inflate_some();
  }
  return room - d.stream.avail_out;
}

void GzipReader::inflate_some() {
  Decoder& d = *decoder_;
  d.has_member = d.in_member = true;
  switch (inflate(&d.stream, Z_NO_FLUSH)) {
    case Z_OK:
      break;
    case Z_STREAM_END:  // with the right length and checksum
      d.in_member = false;
      inflateReset(&d.stream);
      break;
    case Z_BUF_ERROR:  // nothing could be done: the input is at its end
      require<IoError>(!d.at_end, "gzip", file_,
                       ": expected the rest of a member, got the end of the file; it is cut short");
      break;
    case Z_MEM_ERROR:
      throw std::bad_alloc();
    default:
      require<IoError>(d.begin.starts_with("\x1F\x8B"), "gzip", file_, ": ",
                       not_of_kind("a gzip file", d.begin));
      fail<IoError>("gzip", file_, ": expected gzip members, got: ",
                    d.stream.msg != nullptr ? d.stream.msg : "damage", "; the file is damaged");
  }
}

}  // namespace farfield::data
