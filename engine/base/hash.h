#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace farfield {

/// XXH3-128 of bytes that come in pieces. Guards against damage and tells texts apart; it is not
/// cryptographic.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void update(const void* bytes, size_t size);
  void update(std::string_view bytes) { update(bytes.data(), bytes.size()); }
  /// 32 lower-case hexadecimal digits, as `xxhsum -H2` prints them; more may be added afterwards.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// XXH3-64 of bytes that come in pieces: hash64() of all of them.
class Hasher64 {
 public:
  Hasher64();
  ~Hasher64();
  Hasher64(Hasher64&&) noexcept;
  Hasher64& operator=(Hasher64&&) noexcept;

  void update(std::string_view bytes);
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Hasher::hex() of the bytes.
std::string hash_hex(std::string_view bytes);

/// XXH3-64 of the bytes.
uint64_t hash64(std::string_view bytes);

}  // namespace farfield
