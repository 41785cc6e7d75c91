#include "engine/safetensors_header.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/json.h"

namespace farfield {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::string_view kWhere = "safetensors";

constexpr StoredType kTypes[] = {
    {"F32", 4, DType::f32},   {"F16", 2, DType::f32},       {"BF16", 2, DType::bf16},
    {"F64", 8, DType::f64},   {"I32", 4, DType::i32},       {"BOOL", 1, std::nullopt},
    {"U8", 1, std::nullopt},  {"I8", 1, std::nullopt},      {"I16", 2, std::nullopt},
    {"U16", 2, std::nullopt}, {"U32", 4, std::nullopt},     {"I64", 8, std::nullopt},
    {"U64", 8, std::nullopt}, {"F8_E4M3", 1, std::nullopt}, {"F8_E5M2", 1, std::nullopt}};

// The value of a float16 of IEEE 754, which float32 holds exactly.
float from_half(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 0x1Fu,
                 fraction = half & 0x3FFu;
  if (exponent == 0) {
    const float size = std::ldexp(static_cast<float>(fraction), -24);
    return sign == 0 ? size : -size;
  }
  const uint32_t wide = exponent == 0x1F ? 0xFF : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

struct Entry {
  std::string name;
  std::string dtype;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> data_offsets;
};

// Takes the header's parts as they come: what cannot stand in one is refused before it takes
// memory.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;

  bool start_object(std::size_t) override {
    if (place_ == Place::start) return enter(Place::header);
    if (place_ == Place::header) {
      if (key_ == kSafetensorsMetadata) return enter(Place::metadata);
      entries.push_back({key_, {}, {}, {}});
      n_fields_ = 0;
      return enter(Place::tensor);
    }
    return refuse("an object");
  }

  bool key(string_t& key) override {
    require<IoError>(
        place_ != Place::tensor || key == "dtype" || key == "shape" || key == "data_offsets",
        kWhere, file_, ": expected dtype, shape and data_offsets for tensor '",
        entries.empty() ? "" : entries.back().name, "', got the field '", key, "'");
    n_fields_ += place_ == Place::tensor;
    key_ = key;
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      metadata[key_] = value;
      return true;
    }
    if (place_ != Place::tensor || key_ != "dtype") return refuse("a string");
    entries.back().dtype = value;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || key_ == "dtype") return refuse("an array");
    return enter(Place::array);
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::array) return refuse("a number");
    const bool is_shape = key_ == "shape";
    std::vector<uint64_t>& list = is_shape ? entries.back().shape : entries.back().data_offsets;
    const size_t most = is_shape ? Shape::kMaxRank : 2;
    require<IoError>(list.size() < most, kWhere, file_, ": expected at most ", most, " numbers in ",
                     key_, " of tensor '", entries.back().name, "', got more");
    list.push_back(value);
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      const Entry& entry = entries.back();
      require<IoError>(n_fields_ == 3 && entry.data_offsets.size() == 2, kWhere, file_,
                       ": expected dtype, shape and two data_offsets for tensor '", entry.name,
                       "', got less");
    }
    place_ = place_ == Place::header ? Place::end : Place::header;
    return true;
  }

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_integer(number_integer_t) override { return refuse("a negative number"); }
  bool number_float(number_float_t, const string_t& text) override {
    return refuse("the number " + text);
  }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;  // read_json() has thrown
  }

 private:
  enum class Place { start, header, metadata, tensor, array, end };

  bool enter(Place place) {
    place_ = place;
    return true;
  }

  // A value of a type that cannot stand where it was found.
  bool refuse(const std::string& got) const {
    const char* expected = "an object";
    if (place_ == Place::metadata) {
      expected = "a string";
    } else if (place_ == Place::array) {
      expected = "non-negative integers";
    } else if (place_ == Place::tensor) {
      expected = key_ == "dtype" ? "a string" : "an array";
    }
    fail<IoError>(kWhere, file_, ": expected ", expected, " in the header",
                  key_.empty() ? "" : " under '" + key_ + "'", ", got ", got);
  }

  const std::string& file_;
  Place place_ = Place::start;
  std::string key_;
  int n_fields_ = 0;  // of the tensor so far
};

// The entry's type, once its shape and byte range agree.
const StoredType& check_entry(const Entry& entry, const std::string& file, bool is_any_type) {
  const auto known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const StoredType& t) { return t.name == entry.dtype; });
  require<IoError>(known != std::end(kTypes) && (is_any_type || known->dtype), kWhere, file,
                   ": expected dtype F32, F16, BF16, F64 or I32 for tensor '", entry.name,
                   "', got '", entry.dtype, "'");
  const uint64_t begin = entry.data_offsets[0], end = entry.data_offsets[1];
  require<IoError>(begin <= end, kWhere, file, ": the data_offsets of tensor '", entry.name,
                   "' run backwards, from ", begin, " to ", end);
  // A zero counts as one here: no product of some of the sizes may overflow either.
  uint64_t bytes = known->bytes;
  bool fits = true, is_empty = false;
  for (const uint64_t size : entry.shape) {
    is_empty = is_empty || size == 0;
    fits = fits && !__builtin_mul_overflow(bytes, std::max<uint64_t>(size, 1), &bytes) &&
           bytes <= INT64_MAX;
  }
  if (is_empty && fits) bytes = 0;
  require<IoError>(fits, kWhere, file, ": the size of tensor '", entry.name, "' overflows 64 bits");
  require<IoError>(bytes == end - begin, kWhere, file, ": expected ", bytes, " bytes for tensor '",
                   entry.name, "' of this shape and dtype, got ", end - begin);
  return *known;
}

// In the order of their bytes the tensors cover the data section exactly once.
void check_layout(const std::vector<Entry>& entries, uint64_t data_bytes, const std::string& file) {
  std::vector<const Entry*> order;
  for (const Entry& entry : entries) order.push_back(&entry);
  // An empty tensor comes before the one that starts at the same byte.
  std::sort(order.begin(), order.end(),
            [](const Entry* a, const Entry* b) { return a->data_offsets < b->data_offsets; });
  uint64_t at = 0;
  for (const Entry* entry : order) {
    require<IoError>(entry->data_offsets[0] == at, kWhere, file, ": expected tensor '", entry->name,
                     "' to begin at byte ", at, " of the data, got ", entry->data_offsets[0],
                     entry->data_offsets[0] < at ? "; it overlaps another" : "; there is a gap");
    at = entry->data_offsets[1];
  }
  require<IoError>(at == data_bytes, kWhere, file, ": expected ", at,
                   " bytes of data by the header, got ", data_bytes,
                   at > data_bytes ? "; the file is cut short" : "; there is something behind it");
}

}  // namespace

std::string_view name_in_file(DType dtype) {
  return std::find_if(std::begin(kTypes), std::end(kTypes),
                      [&](const StoredType& t) { return t.dtype == dtype; })
      ->name;
}

uint64_t safetensors_header_bytes(const std::string& file, std::string_view first,
                                  uint64_t file_bytes) {
  require<IoError>(first.size() >= kSafetensorsLengthBytes, kWhere, file,
                   ": expected at least 8 bytes, got ", first.size());
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, first.data(), kSafetensorsLengthBytes);
  require<IoError>(header_bytes <= kMaxSafetensorsHeader, kWhere, file,
                   ": expected a header of at most ", kMaxSafetensorsHeader, " bytes, got ",
                   header_bytes);
  require<IoError>(header_bytes <= file_bytes - kSafetensorsLengthBytes, kWhere, file,
                   ": expected a header of ", header_bytes, " bytes, got ",
                   file_bytes - kSafetensorsLengthBytes, "; the file is cut short");
  return header_bytes;
}

SafetensorsHeader read_safetensors_header(const std::string& file, std::string_view header,
                                          uint64_t data_bytes, bool is_any_type) {
  require<IoError>(header.starts_with('{'), kWhere, file,
                   ": expected a header that starts with '{', got something else");
  HeaderReader reader(file);
  read_json({kWhere, file, header, kSafetensorsLengthBytes}, reader);
  SafetensorsHeader result;
  for (const Entry& entry : reader.entries) {
    const StoredType& type = check_entry(entry, file, is_any_type);
    const std::vector<int64_t> sizes(entry.shape.begin(), entry.shape.end());
    result.tensors.push_back({entry.name, type, Shape(std::span<const int64_t>(sizes)),
                              entry.data_offsets[0], entry.data_offsets[1]});
  }
  check_layout(reader.entries, data_bytes, file);
  result.metadata = std::move(reader.metadata);
  return result;
}

void copy_stored_values(std::string_view values, const StoredType& type, void* to) {
  if (values.empty()) return;
  if (type.dtype && type.bytes == static_cast<uint64_t>(size_of(*type.dtype))) {
    std::memcpy(to, values.data(), values.size());
    return;
  }
  auto* const out = static_cast<float*>(to);
  for (size_t i = 0; i < values.size() / sizeof(uint16_t); ++i) {
    uint16_t half = 0;
    std::memcpy(&half, values.data() + i * sizeof half, sizeof half);
    out[i] = from_half(half);
  }
}

}  // namespace farfield
