#include "apps/hub/gguf_writer.h"

#include <limits>
#include <set>
#include <type_traits>

#include "engine/base/error.h"
#include "engine/base/file.h"

namespace farfield::hub {
namespace {

constexpr std::string_view kGgufMagic = "GGUF";
constexpr uint32_t kGgufVersion = 3;
constexpr size_t kLongestGgufName = 63;  // bytes; llama.cpp keeps 64 with a zero behind the name
constexpr int kMostGgufDims = 4;

// Types of values, by their numbers in the format.
constexpr uint32_t kValueU32 = 4, kValueI32 = 5, kValueF32 = 6, kValueBool = 7, kValueText = 8,
                   kValueArray = 9;

template <class T>
void put_value(std::string& to, T value) {
  static_assert(std::is_arithmetic_v<T>);
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void put_text(std::string& to, std::string_view text) {
  put_value<uint64_t>(to, text.size());
  to += text;
}

// The number of a tensor's type.
uint32_t gguf_type(DType dtype) { return dtype == DType::bf16 ? 30 : 0; }

uint64_t up_to_alignment(uint64_t size) {
  return (size + kGgufAlignment - 1) / kGgufAlignment * kGgufAlignment;
}

uint64_t bytes_of(const GgufTensor& tensor) {
  return static_cast<uint64_t>(tensor.values.numel() * size_of(tensor.dtype));
}

void check_tensor(const GgufTensor& tensor, std::set<std::string_view>& names) {
  require<ConfigError>(tensor.name.size() <= kLongestGgufName, "gguf",
                       "expected a tensor's name of at most ", kLongestGgufName, " bytes, got '",
                       tensor.name, '\'');
  require<ConfigError>(names.insert(tensor.name).second, "gguf",
                       "expected each tensor under a name of its own, got '", tensor.name,
                       "' twice");
  require<ConfigError>(tensor.dtype == DType::f32 || tensor.dtype == DType::bf16, "gguf",
                       "expected float32 or bfloat16 for '", tensor.name, "', got ", tensor.dtype);
  const int rank = tensor.values.rank();
  require<ConfigError>(rank >= 1 && rank <= kMostGgufDims, "gguf", "expected 1 to ", kMostGgufDims,
                       " dimensions of '", tensor.name, "', got ", rank);
}

}  // namespace

void GgufMetadata::begin(std::string_view key, uint32_t type) {
  put_text(bytes_, key);
  put_value(bytes_, type);
  ++n_pair_;
}

void GgufMetadata::begin_array(std::string_view key, uint32_t type, size_t n) {
  begin(key, kValueArray);
  put_value(bytes_, type);
  put_value<uint64_t>(bytes_, n);
}

void GgufMetadata::add_count(std::string_view key, int64_t value) {
  require<ConfigError>(value >= 0 && value <= std::numeric_limits<uint32_t>::max(), "gguf",
                       "expected a value of 32 bits for '", key, "', got ", value);
  begin(key, kValueU32);
  put_value(bytes_, static_cast<uint32_t>(value));
}

void GgufMetadata::add_number(std::string_view key, double value) {
  begin(key, kValueF32);
  put_value(bytes_, static_cast<float>(value));
}

void GgufMetadata::add_flag(std::string_view key, bool value) {
  begin(key, kValueBool);
  put_value<uint8_t>(bytes_, value ? 1 : 0);
}

void GgufMetadata::add_text(std::string_view key, std::string_view value) {
  begin(key, kValueText);
  put_text(bytes_, value);
}

void GgufMetadata::add_texts(std::string_view key, std::span<const std::string> values) {
  begin_array(key, kValueText, values.size());
  for (const std::string& value : values) put_text(bytes_, value);
}

void GgufMetadata::add_counts(std::string_view key, std::span<const int32_t> values) {
  begin_array(key, kValueI32, values.size());
  for (const int32_t value : values) put_value(bytes_, value);
}

void write_gguf(const std::filesystem::path& path, const GgufMetadata& metadata,
                std::vector<GgufTensor> tensors) {
  std::string header(kGgufMagic);
  put_value(header, kGgufVersion);
  put_value<uint64_t>(header, tensors.size());
  put_value<uint64_t>(header, metadata.size());
  header += metadata.bytes();
  std::set<std::string_view> names;
  uint64_t at = 0;
  for (const GgufTensor& tensor : tensors) {
    check_tensor(tensor, names);
    put_text(header, tensor.name);
    put_value(header, static_cast<uint32_t>(tensor.values.rank()));
    for (int dim = tensor.values.rank() - 1; dim >= 0; --dim)  // the fastest first
      put_value(header, static_cast<uint64_t>(tensor.values.dim(dim)));
    put_value(header, gguf_type(tensor.dtype));
    put_value(header, at);
    at += up_to_alignment(bytes_of(tensor));
  }
  header.resize(up_to_alignment(header.size()), '\0');

  AtomicFile out(path);
  out.write(header);
  for (GgufTensor& tensor : tensors) {
    const uint64_t size = bytes_of(tensor);
    const Tensor values = tensor.values.to(Device{}).to(tensor.dtype);
    tensor.values = Tensor();
    out.write(values.raw_data(), size);
    out.write(std::string(up_to_alignment(size) - size, '\0'));
  }
  out.commit();
}

}  // namespace farfield::hub
