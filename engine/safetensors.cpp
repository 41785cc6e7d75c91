#include "engine/safetensors.h"

#include <algorithm>
#include <set>

#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "engine/safetensors_header.h"

namespace farfield {
namespace {

constexpr std::string_view kWhere = "safetensors";

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

  const uint64_t header_bytes = safetensors_header_bytes(file, bytes, bytes.size());
  const std::string_view header = bytes.substr(kSafetensorsLengthBytes, header_bytes);
  const std::string_view data = bytes.substr(kSafetensorsLengthBytes + header_bytes);
  SafetensorsHeader read =
      read_safetensors_header(file, header, data.size(), /*is_any_type=*/false);
  SafetensorsFile result;
  result.metadata = std::move(read.metadata);
  for (const StoredTensor& stored : read.tensors) {
    Tensor tensor = Tensor::empty(stored.shape, *stored.type.dtype);
    copy_stored_values(data.substr(stored.begin, stored.end - stored.begin), stored.type,
                       tensor.raw_data());
    result.tensors.emplace(stored.name, std::move(tensor));
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
  std::set<std::string_view> names = {kSafetensorsMetadata};
  for (const auto& item : tensors) {
    require<ConfigError>(names.insert(item.first).second, kWhere,
                         "expected each tensor under a name of its own, got '", item.first,
                         item.first == kSafetensorsMetadata ? "', which is reserved" : "' twice");
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
    begin_member(std::string(kSafetensorsMetadata));
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
  header.append(
      (kSafetensorsLengthBytes - header.size() % kSafetensorsLengthBytes) % kSafetensorsLengthBytes,
      ' ');
  const uint64_t header_bytes = header.size();
  require<ConfigError>(header_bytes <= kMaxSafetensorsHeader, kWhere,
                       "expected a header of at most ", kMaxSafetensorsHeader, " bytes, got ",
                       header_bytes);

  AtomicFile out(path);
  Hasher hasher;
  const auto put = [&](const void* bytes, size_t size) {
    hasher.update(bytes, size);
    out.write(bytes, size);
  };
  put(&header_bytes, kSafetensorsLengthBytes);
  put(header.data(), header.size());
  for (const auto* item : order) {
    const Tensor host = item->second.to(Device{});
    put(host.raw_data(), static_cast<size_t>(host.size_bytes()));
  }
  out.commit();
  return hasher.hex();
}

}  // namespace farfield
