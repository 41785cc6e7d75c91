#include "engine/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"

namespace farfield {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::string_view kWhere = "safetensors";
constexpr std::string_view kMetadata = "__metadata__";
constexpr uint64_t kLengthBytes = 8, kMaxHeaderBytes = 100'000'000;

// A type in files, its size there, and the type in memory. Tensors are written in the first
// matching type.
struct StoredType {
  std::string_view name;
  uint64_t bytes;
  DType dtype;
};
constexpr StoredType kTypes[] = {{"F32", 4, DType::f32},
                                 {"F16", 2, DType::f32},
                                 {"BF16", 2, DType::bf16},
                                 {"F64", 8, DType::f64},
                                 {"I32", 4, DType::i32}};

std::string_view name_in_file(DType dtype) {
  return std::find_if(std::begin(kTypes), std::end(kTypes),
                      [&](const StoredType& t) { return t.dtype == dtype; })
      ->name;
}

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

// Takes the values of a tensor out of a file.
void copy_values(std::string_view values, const StoredType& type, Tensor& to) {
  if (values.empty()) return;
  if (type.bytes == static_cast<uint64_t>(size_of(type.dtype))) {
    std::memcpy(to.raw_data(), values.data(), values.size());
    return;
  }
  float* const out = to.data<float>();
  for (size_t i = 0; i < values.size() / sizeof(uint16_t); ++i) {
    uint16_t half = 0;
    std::memcpy(&half, values.data() + i * sizeof half, sizeof half);
    out[i] = from_half(half);
  }
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
      if (key_ == kMetadata) return enter(Place::metadata);
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
const StoredType& check_entry(const Entry& entry, const std::string& file) {
  const auto known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const StoredType& t) { return t.name == entry.dtype; });
  require<IoError>(known != std::end(kTypes), kWhere, file,
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

HeaderReader read_header(std::string_view header, const std::string& file) {
  HeaderReader reader(file);
  read_json({kWhere, file, header, kLengthBytes}, reader);
  return reader;
}

}  // namespace

SafetensorsFile read_safetensors(const std::filesystem::path& path,
                                 std::string_view expected_hash) {
  const std::string file = path.string();
  const MappedFile mapped(path);
  const std::string_view bytes(reinterpret_cast<const char*>(mapped.bytes().data()),
                               mapped.bytes().size());
  if (!expected_hash.empty()) {
    const std::string hash = hash_hex(bytes);
    require<IoError>(hash == expected_hash, kWhere, file, ": expected the hash ", expected_hash,
                     ", got ", hash, "; the file is damaged or was replaced");
  }

  require<IoError>(bytes.size() >= kLengthBytes, kWhere, file, ": expected at least 8 bytes, got ",
                   bytes.size());
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  require<IoError>(header_bytes <= kMaxHeaderBytes, kWhere, file, ": expected a header of at most ",
                   kMaxHeaderBytes, " bytes, got ", header_bytes);
  require<IoError>(header_bytes <= bytes.size() - kLengthBytes, kWhere, file,
                   ": expected a header of ", header_bytes, " bytes, got ",
                   bytes.size() - kLengthBytes, "; the file is cut short");
  const std::string_view header = bytes.substr(kLengthBytes, header_bytes);
  const std::string_view data = bytes.substr(kLengthBytes + header_bytes);
  require<IoError>(header.starts_with('{'), kWhere, file,
                   ": expected a header that starts with '{', got something else");

  HeaderReader reader = read_header(header, file);
  std::vector<const StoredType*> types;
  for (const Entry& entry : reader.entries) types.push_back(&check_entry(entry, file));
  check_layout(reader.entries, data.size(), file);

  SafetensorsFile result;
  result.metadata = std::move(reader.metadata);
  for (size_t i = 0; i < types.size(); ++i) {
    const Entry& entry = reader.entries[i];
    const std::vector<int64_t> sizes(entry.shape.begin(), entry.shape.end());
    Tensor tensor = Tensor::empty(Shape(std::span<const int64_t>(sizes)), types[i]->dtype);
    const std::string_view values =
        data.substr(entry.data_offsets[0], entry.data_offsets[1] - entry.data_offsets[0]);
    copy_values(values, *types[i], tensor);
    result.tensors.emplace(entry.name, std::move(tensor));
  }
  return result;
}

namespace {

std::string quoted(const std::string& text) {
  require<ConfigError>(find_invalid_utf8(text) == text.npos, kWhere,
                       "expected names and metadata in UTF-8, got '", text, "'");
  return write_json(text);
}

}  // namespace

std::string write_safetensors(const std::filesystem::path& path,
                              const std::vector<std::pair<std::string, Tensor>>& tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::vector<const std::pair<std::string, Tensor>*> order;
  std::set<std::string_view> names = {kMetadata};
  for (const auto& item : tensors) {
    require<ConfigError>(names.insert(item.first).second, kWhere,
                         "expected each tensor under a name of its own, got '", item.first,
                         item.first == kMetadata ? "', which is reserved" : "' twice");
    order.push_back(&item);
  }
  // Large elements first: then each tensor is aligned to its element size.
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const int64_t size_a = size_of(a->second.dtype()), size_b = size_of(b->second.dtype());
    return size_a != size_b ? size_a > size_b : a->first < b->first;
  });

  std::string header = "{";
  const auto begin_member = [&](const std::string& name) {
    if (header.back() != '{') header += ',';
    header += quoted(name) + ":";
  };
  if (!metadata.empty()) {
    begin_member(std::string(kMetadata));
    header += '{';
    for (const auto& [key, value] : metadata) {
      begin_member(key);
      header += quoted(value);
    }
    header += '}';
  }
  int64_t at = 0;
  for (const auto* item : order) {
    const Tensor& tensor = item->second;
    begin_member(item->first);
    header += concat(R"({"dtype":")", name_in_file(tensor.dtype()), R"(","shape":[)");
    for (int i = 0; i < tensor.rank(); ++i) header += concat(i > 0 ? "," : "", tensor.dim(i));
    header += concat(R"(],"data_offsets":[)", at, ",", at + tensor.size_bytes(), "]}");
    at += tensor.size_bytes();
  }
  header += '}';
  header.append((kLengthBytes - header.size() % kLengthBytes) % kLengthBytes, ' ');
  const uint64_t header_bytes = header.size();
  require<ConfigError>(header_bytes <= kMaxHeaderBytes, kWhere, "expected a header of at most ",
                       kMaxHeaderBytes, " bytes, got ", header_bytes);

  AtomicFile out(path);
  Hasher hasher;
  const auto put = [&](const void* bytes, size_t size) {
    hasher.update(bytes, size);
    out.write(bytes, size);
  };
  put(&header_bytes, kLengthBytes);
  put(header.data(), header.size());
  for (const auto* item : order) {
    const Tensor host = item->second.to(Device{});
    put(host.raw_data(), static_cast<size_t>(host.size_bytes()));
  }
  out.commit();
  return hasher.hex();
}

}  // namespace farfield
