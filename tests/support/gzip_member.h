#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace farfield {

/// One gzip member, without a name or a time.
inline std::string gzip_member(std::string_view text) {
  z_stream stream = {};
  constexpr int kGzipWindowBits = 15 + 16, kMemoryLevel = 8;
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib could not start");
  std::string member(deflateBound(&stream, text.size()), '\0'), copy(text);
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(member.data());
  stream.avail_out = static_cast<uInt>(member.size());
  const int result = deflate(&stream, Z_FINISH);
  member.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("zlib could not compress");
  return member;
}

}  // namespace farfield
