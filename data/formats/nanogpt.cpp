#include "data/formats/nanogpt.h"

#include <memory>
#include <utility>

#include "data/formats/row.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "corpus";

Tokens::Piece open_ids(const fs::path& path, IdType type) {
  auto file = std::make_shared<const MappedFile>(path);
  const size_t size = file->bytes().size();
  const auto width = static_cast<size_t>(size_of(type));
  require<IoError>(size > 0 && size % width == 0, kWhere, path.string(), ": expected ids of ",
                   width, " bytes each, got a file of ", size, " bytes");
  return {std::move(file), path.string(), 0, static_cast<int64_t>(size / width)};
}

IdType type_of(const std::string& path, const std::optional<CorpusMeta>& meta,
               const std::string& option) {
  const std::string name = meta.has_value() ? meta->id_type : option;
  require<ConfigError>(!name.empty(), kWhere, path,
                       ": expected how its ids are stored, which the format does not say, got "
                       "nothing; give --data-type u16 (as nanoGPT writes them) or u32");
  require<ConfigError>(option.empty() || option == name, kWhere, path, ": expected --data-type ",
                       name, ", as its meta.json says, got '", option, "'");
  require<ConfigError>(name == "u16" || name == "u32", kWhere, path,
                       ": expected --data-type u16 or u32, got '", name, "'");
  return name == "u16" ? IdType::u16 : IdType::u32;
}

}  // namespace

CorpusParts open_nanogpt(const fs::path& path, const CorpusOptions& options) {
  const bool has_folder = is_folder(path);
  Row row;
  row.paths = has_folder ? meta_in(path) : meta_beside(path.parent_path() / path.stem());
  row.meta = read_meta(row.paths.meta);
  if (!has_folder && !row.meta.has_value()) {  // a file of a folder: what made it is said there
    row.paths = meta_in(path.parent_path());
    row.meta = read_meta(row.paths.meta);
  }
  // Another's train.bin alone is cut as any single file.
  row.is_split = has_folder && (row.meta.has_value() || is_file(path / kNanogptFiles[1]));
  row.type = type_of(path.string(), row.meta, options.id_type);
  row.parts.format = "nanogpt";
  row.parts.tokenizer = tokenizer_of(path.string(), row.paths, row.meta, options);
  row.parts.mark = DocumentMark::end_behind;
  if (row.is_split) {
    std::vector<std::string> names;
    for (size_t i = 0; i < 3; ++i) {
      if (i > 0 && !is_file(path / kNanogptFiles[i])) continue;
      row.pieces[i].push_back(open_ids(path / kNanogptFiles[i], row.type));
      names.emplace_back(kNanogptFiles[i]);
    }
    row.split_rule = concat("as its files say: ", listed(names, " and "));
  } else {
    row.pieces[0].push_back(open_ids(has_folder ? path / kNanogptFiles[0] : path, row.type));
  }
  return open_row(std::move(row), path, options);
}

}  // namespace farfield::data
