#include "data/zstd_reader.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>
#include <vector>

#include "data/binary.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

constexpr int kWindowLogMax = 27;

}  // namespace

struct ZstdReader::Decoder {
  Decoder() : context(ZSTD_createDCtx()), input(ZSTD_DStreamInSize()) {
    if (context == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, kWindowLogMax);
  }
  ~Decoder() { ZSTD_freeDCtx(context); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  ZSTD_DCtx* context;
  std::vector<char> input;
  ZSTD_inBuffer pending = {nullptr, 0, 0};
  std::string begin;       // of the file
  bool has_frame = false;  // a frame began: an empty file has none
  bool has_ended_one = false;
  bool in_frame = false;
  bool at_end = false;  // of the compressed bytes
};

ZstdReader::ZstdReader(std::unique_ptr<ByteReader> compressed, std::string file)
    : compressed_(std::move(compressed)),
      file_(std::move(file)),
      decoder_(std::make_unique<Decoder>()) {}
ZstdReader::~ZstdReader() = default;

size_t ZstdReader::read(char* out, size_t size) {
  Decoder& d = *decoder_;
  ZSTD_outBuffer output = {out, size, 0};
  while (output.pos == 0) {
    if (d.pending.pos == d.pending.size && !d.at_end) {
      d.pending = {d.input.data(), compressed_->read(d.input.data(), d.input.size()), 0};
      d.at_end = d.pending.size == 0;
      d.begin.append(d.input.data(), std::min(d.pending.size, kBinaryBeginBytes - d.begin.size()));
    }
    if (d.at_end && !d.in_frame) {
      require<IoError>(d.has_frame, "zstd", file_,
                       ": expected a Zstandard frame, got an empty file");
      return 0;
    }
    // Without further input this takes out the rest from the decoder.
    const size_t result = ZSTD_decompressStream(d.context, &output, &d.pending);
    if (ZSTD_isError(result)) {
      const ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
      if (code == ZSTD_error_memory_allocation) throw std::bad_alloc();
      require<IoError>(d.has_ended_one || code != ZSTD_error_prefix_unknown, "zstd", file_, ": ",
                       not_of_kind("a Zstandard file", d.begin));
      const bool is_window = code == ZSTD_error_frameParameter_windowTooLarge;
      fail<IoError>("zstd", file_, ": expected Zstandard frames with a window of at most 2^",
                    kWindowLogMax, " bytes, got: ", ZSTD_getErrorName(result),
                    is_window ? "; compress it again without --long" : "");
    }
    d.in_frame = result != 0;
    d.has_frame = true;
    d.has_ended_one = d.has_ended_one || result == 0;
    require<IoError>(!d.at_end || !d.in_frame || output.pos > 0, "zstd", file_,
                     ": expected the rest of a frame, got the end of the file; it is cut short");
  }
  return output.pos;
}

}  // namespace farfield::data
