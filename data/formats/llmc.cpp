#include "data/formats/llmc.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "data/formats/llmc_header.h"
#include "data/formats/row.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "corpus";

struct Shard {
  Tokens::Piece piece;
  IdType type;
};

Shard open_shard(const fs::path& path) {
  const std::string name = path.string();
  auto file = std::make_shared<const MappedFile>(path);
  const std::span<const std::byte> bytes = file->bytes();
  LlmcHeader header{};
  require<IoError>(bytes.size() >= sizeof header, kWhere, name, ": expected at least ",
                   sizeof header, " bytes, got ", bytes.size(), "; the file is cut short");
  std::memcpy(&header, bytes.data(), sizeof header);
  require<IoError>(is_llmc_shard(bytes), kWhere, name, ": expected a token shard of llm.c (magic ",
                   kLlmcMagic16, " or ", kLlmcMagic32, "), got the magic ", header[0]);
  const bool is_short = header[0] == kLlmcMagic16;
  const int32_t version = is_short ? kLlmcVersion16 : kLlmcVersion32;
  require<IoError>(header[1] == version, kWhere, name, ": expected version ", version, ", got ",
                   header[1]);
  const IdType type = is_short ? IdType::u16 : IdType::u32;
  const int64_t n = header[2], size = int64_t{sizeof header} + n * size_of(type);
  require<IoError>(
      n >= 0 && static_cast<uint64_t>(size) == bytes.size(), kWhere, name, ": expected ", size,
      " bytes for ", n, " tokens, got ", bytes.size(),
      n >= 0 && static_cast<uint64_t>(size) > bytes.size() ? "; the file is cut short" : "");
  return {{std::move(file), name, sizeof header, n}, type};
}

// The split that a name says: kSplits' place, or 3 for none.
size_t split_of(const fs::path& path) {
  const std::string stem = path.stem().string();
  size_t found = 3;
  for (const auto& [word, split] : {std::pair("_train", size_t{0}), {"_val", 1}, {"_test", 2}}) {
    const size_t at = stem.rfind(word), end = at + std::strlen(word);
    if (at != std::string::npos && (end == stem.size() || stem[end] == '_')) found = split;
  }
  return found;
}

}  // namespace

bool is_llmc_shard(std::span<const std::byte> bytes) {
  int32_t magic = 0;
  if (bytes.size() < sizeof magic) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == kLlmcMagic16 || magic == kLlmcMagic32;
}

CorpusParts open_llmc(const std::vector<fs::path>& shards, const fs::path& path,
                      const CorpusOptions& options) {
  require<ConfigError>(options.id_type.empty(), kWhere, path.string(),
                       ": expected no --data-type, got '", options.id_type,
                       "': llm.c's shards say how ids are stored; leave --data-type out");
  std::vector<fs::path> sorted = shards;
  std::sort(sorted.begin(), sorted.end());
  Row row;
  row.parts.format = "llm.c";
  row.parts.mark = DocumentMark::end_before;
  row.is_split = split_of(sorted.front()) < 3;
  row.split_rule = "as the names of its shards say";
  for (const fs::path& file : sorted) {
    Shard shard = open_shard(file);
    if (file == sorted.front()) row.type = shard.type;
    require<IoError>(shard.type == row.type, kWhere, file.string(),
                     ": expected ids as they are stored in ", sorted.front().string(),
                     ", got others");
    const size_t split = split_of(file);
    require<IoError>(
        (split < 3) == row.is_split, kWhere, file.string(), ": expected ",
        row.is_split ? "a split in its name (_train, _val or _test)" : "no split in its name",
        ", as in ", sorted.front().string(), "; name the shards of one corpus alone");
    row.pieces[row.is_split ? split : 0].push_back(std::move(shard.piece));
  }
  row.paths = meta_in(sorted.front().parent_path());
  row.meta = read_meta(row.paths.meta);
  row.parts.tokenizer = tokenizer_of(path.string(), row.paths, row.meta, options);
  // The record of a folder covers all shards in it.
  if (!is_folder(path)) row.meta.reset();
  return open_row(std::move(row), path, options);
}

}  // namespace farfield::data
