#include "data/token_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "engine/base/error.h"

namespace farfield::data {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::string_view kWhere = "tokens";

struct Header {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t width;  // bytes of a token: 2 or 4
  uint64_t n_vocab;
  uint64_t tokens;
  uint64_t documents;
  uint64_t bytes;
  std::array<unsigned char, 16> hash;
};
static_assert(sizeof(Header) == 64);

constexpr std::array<char, 8> kMagic = {'F', 'F', 'T', 'O', 'K', 'E', 'N', 'S'};
constexpr uint32_t kVersion = 1;

uint32_t width_for(int64_t n_vocab) { return n_vocab <= 65536 ? 2 : 4; }

std::array<unsigned char, 16> from_hex(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::array<unsigned char, 16> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  return bytes;
}

std::string to_hex(const std::array<unsigned char, 16>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : bytes) hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  return hex;
}

template <class Token>
void narrow(std::span<const int32_t> ids, char* out) {
  for (const int32_t id : ids) {
    const auto token = static_cast<Token>(id);
    std::memcpy(out, &token, sizeof token);
    out += sizeof token;
  }
}

}  // namespace

Split open_token_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  auto file = std::make_shared<const MappedFile>(path);
  const std::span<const std::byte> bytes = file->bytes();
  Header header{};
  require<IoError>(bytes.size() >= sizeof header, kWhere, name, ": expected at least ",
                   sizeof header, " bytes, got ", bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  require<IoError>(header.magic == kMagic, kWhere, name,
                   ": expected a token file, got another magic; make one with prepare");
  require<IoError>(header.version == kVersion, kWhere, name, ": expected version ", kVersion,
                   ", got ", header.version);
  require<IoError>(header.n_vocab >= 1 && header.n_vocab <= uint64_t{INT32_MAX}, kWhere, name,
                   ": expected a vocabulary of 1 to ", INT32_MAX, " ids, got ", header.n_vocab);
  const uint32_t width = width_for(static_cast<int64_t>(header.n_vocab));
  require<IoError>(header.width == width, kWhere, name, ": expected ", width,
                   " bytes per token for ", header.n_vocab, " ids, got ", header.width);
  uint64_t size = 0;
  require<IoError>(!__builtin_mul_overflow(header.tokens, uint64_t{width}, &size) &&
                       !__builtin_add_overflow(size, sizeof header, &size) && size <= INT64_MAX,
                   kWhere, name, ": the size of ", header.tokens, " tokens overflows 64 bits");
  require<IoError>(size == bytes.size(), kWhere, name, ": expected ", size, " bytes for ",
                   header.tokens, " tokens, got ", bytes.size(),
                   size > bytes.size() ? "; the file is cut short" : "");
  require<IoError>(header.documents <= header.tokens && header.bytes <= INT64_MAX, kWhere, name,
                   ": expected counts that belong together, got ", header.documents,
                   " documents and ", header.bytes, " bytes of text in ", header.tokens, " tokens");
  const TokenCounts counts = {static_cast<int64_t>(header.tokens),
                              static_cast<int64_t>(header.documents),
                              static_cast<int64_t>(header.bytes)};
  return {Tokens({{std::move(file), name, sizeof header, counts.tokens}},
                 width == 2 ? IdType::u16 : IdType::u32, static_cast<int64_t>(header.n_vocab)),
          counts, to_hex(header.hash)};
}

TokenWriter::TokenWriter(const std::filesystem::path& path, int64_t n_vocab)
    : file_(path), n_vocab_(n_vocab) {
  require<ConfigError>(n_vocab >= 1 && n_vocab <= INT32_MAX, kWhere,
                       "expected a vocabulary of 1 to ", INT32_MAX, " ids, got ", n_vocab);
  const Header placeholder{};  // commit() writes the real one
  file_.write(&placeholder, sizeof placeholder);
}

void TokenWriter::append(std::span<const int32_t> ids) {
  const auto bad =
      std::find_if(ids.begin(), ids.end(), [&](int32_t id) { return id < 0 || id >= n_vocab_; });
  require<ConfigError>(bad == ids.end(), kWhere, "expected ids from 0 to ", n_vocab_ - 1, ", got ",
                       bad == ids.end() ? 0 : *bad);
  packed_.resize(ids.size() * width_for(n_vocab_));
  if (width_for(n_vocab_) == 2) {
    narrow<uint16_t>(ids, packed_.data());
  } else {
    narrow<uint32_t>(ids, packed_.data());
  }
  hasher_.update(packed_.data(), packed_.size());
  file_.write(packed_.data(), packed_.size());
  counts_.tokens += static_cast<int64_t>(ids.size());
}

void TokenWriter::count(int64_t documents, int64_t bytes) {
  counts_.documents += documents;
  counts_.bytes += bytes;
}

std::string TokenWriter::commit() {
  const std::string hash = hasher_.hex();
  const Header header = {kMagic,
                         kVersion,
                         width_for(n_vocab_),
                         static_cast<uint64_t>(n_vocab_),
                         static_cast<uint64_t>(counts_.tokens),
                         static_cast<uint64_t>(counts_.documents),
                         static_cast<uint64_t>(counts_.bytes),
                         from_hex(hash)};
  file_.rewrite_start(&header, sizeof header);
  file_.commit();
  return hash;
}

}  // namespace farfield::data
