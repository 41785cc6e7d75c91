#include "data/formats/id_file.h"

#include <cstring>

#include "engine/base/error.h"

namespace farfield::data {

std::string name_of(IdType type) {
  constexpr const char* kNames[] = {"u8", "i8", "i16", "u16", "i32", "u32", "i64"};
  return kNames[static_cast<size_t>(type)];
}

void IdFile::append(std::span<const int32_t> ids, Hasher& hasher) {
  const int32_t most = type_ == IdType::u16 ? UINT16_MAX : INT32_MAX;
  for (const int32_t id : ids)
    require<ConfigError>(id >= 0 && id <= most, "convert", name_, ": expected ids from 0 to ", most,
                         ", which is all that its ", name_of(type_), " hold, got ", id,
                         "; choose another --to");
  if (type_ == IdType::u16) {
    packed_.resize(ids.size() * sizeof(uint16_t));
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto id = static_cast<uint16_t>(ids[i]);
      std::memcpy(packed_.data() + i * sizeof id, &id, sizeof id);
    }
    file_.write(packed_);
    hasher.update(packed_);
  } else {
    file_.write(ids.data(), ids.size_bytes());
    hasher.update(ids.data(), ids.size_bytes());
  }
  tokens_ += static_cast<int64_t>(ids.size());
}

}  // namespace farfield::data
