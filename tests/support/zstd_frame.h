#pragma once

#include <zstd.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace farfield {

/// One Zstandard frame; window_log 0 leaves the choice to the library.
inline std::string zstd_frame(std::string_view text, bool with_size = true, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, with_size);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  if (window_log > 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string frame(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_inBuffer in = {text.data(), text.size(), 0};
  ZSTD_outBuffer out = {frame.data(), frame.size(), 0};
  // Two calls: in one the library would know the size and shrink the window to it.
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush);
  const size_t left = ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  if (left != 0) throw std::runtime_error("zstd could not compress");
  frame.resize(out.pos);
  return frame;
}

/// A frame that readers pass over.
inline std::string zstd_skippable_frame(std::string_view bytes) {
  std::string frame("\x50\x2a\x4d\x18", 4);
  for (int shift = 0; shift < 32; shift += 8)
    frame += static_cast<char>(bytes.size() >> shift & 0xff);
  return frame + std::string(bytes);
}

}  // namespace farfield
