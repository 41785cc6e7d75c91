#include "engine/base/hash.h"

#include <xxhash.h>

#include <new>

namespace farfield {
namespace {

std::string to_hex(const XXH128_hash_t& hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

struct XxhState {
  XxhState() : xxh(XXH3_createState()) {
    if (xxh == nullptr) throw std::bad_alloc();
  }
  ~XxhState() { XXH3_freeState(xxh); }
  XxhState(const XxhState&) = delete;
  XxhState& operator=(const XxhState&) = delete;

  XXH3_state_t* xxh;
};

}  // namespace

struct Hasher::State : XxhState {
  State() { XXH3_128bits_reset(xxh); }
};

struct Hasher64::State : XxhState {
  State() { XXH3_64bits_reset(xxh); }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::update(const void* bytes, size_t size) {
  if (size > 0) XXH3_128bits_update(state_->xxh, bytes, size);
}

std::string Hasher::hex() const { return to_hex(XXH3_128bits_digest(state_->xxh)); }

Hasher64::Hasher64() : state_(std::make_unique<State>()) {}
Hasher64::~Hasher64() = default;
Hasher64::Hasher64(Hasher64&&) noexcept = default;
Hasher64& Hasher64::operator=(Hasher64&&) noexcept = default;

void Hasher64::update(std::string_view bytes) {
  if (!bytes.empty()) XXH3_64bits_update(state_->xxh, bytes.data(), bytes.size());
}

uint64_t Hasher64::value() const { return XXH3_64bits_digest(state_->xxh); }

std::string hash_hex(std::string_view bytes) {
  return to_hex(XXH3_128bits(bytes.data(), bytes.size()));
}

uint64_t hash64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace farfield
