#include "engine/safetensors_source.h"

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/file.h"

namespace farfield {
namespace {

constexpr std::string_view kWhere = "safetensors";
constexpr size_t kElementsAtOnce = size_t{1} << 18;  // elements

}  // namespace

SafetensorsSource::SafetensorsSource(const std::filesystem::path& path) : file_(path.string()) {
  require<IoError>(is_file(path), kWhere, file_, ": expected a file, got none");
  const uint64_t file_bytes = std::filesystem::file_size(path);
  in_.open(path, std::ios::binary);
  std::string first(std::min(file_bytes, kSafetensorsLengthBytes), '\0');
  require<IoError>(
      in_.is_open() && in_.read(first.data(), static_cast<std::streamsize>(first.size())).good(),
      kWhere, file_, ": cannot read it");
  std::string header(safetensors_header_bytes(file_, first, file_bytes), '\0');
  require<IoError>(in_.read(header.data(), static_cast<std::streamsize>(header.size())).good(),
                   kWhere, file_, ": cannot read its header");
  data_begin_ = kSafetensorsLengthBytes + header.size();
  header_ = read_safetensors_header(file_, header, file_bytes - data_begin_, /*is_any_type=*/true);
}

void SafetensorsSource::read(const StoredTensor& tensor, int64_t begin, std::span<float> to) {
  const StoredType& type = tensor.type;
  require<IoError>(type.dtype == DType::f32 || type.dtype == DType::bf16, kWhere, file_,
                   ": expected dtype F32, F16 or BF16 for tensor '", tensor.name, "', got '",
                   type.name, "'");
  const bool is_bf16 = type.dtype == DType::bf16;
  for (size_t done = 0; done < to.size();) {
    const size_t n = std::min(kElementsAtOnce, to.size() - done);
    const uint64_t at = tensor.begin + (static_cast<uint64_t>(begin) + done) * type.bytes;
    buffer_.resize(n * type.bytes);
    require<IoError>(at + buffer_.size() <= tensor.end, kWhere, file_,
                     ": expected more elements in tensor '", tensor.name, "'");
    in_.seekg(static_cast<std::streamoff>(data_begin_ + at));
    require<IoError>(in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size())).good(),
                     kWhere, file_, ": cannot read tensor '", tensor.name, "'");
    float* const out = to.data() + done;
    if (is_bf16) {
      for (size_t i = 0; i < n; ++i) {
        BFloat16 value;
        std::memcpy(&value, buffer_.data() + i * sizeof value, sizeof value);
        out[i] = static_cast<float>(value);
      }
    } else {
      copy_stored_values(buffer_, type, out);
    }
    done += n;
  }
}

}  // namespace farfield
