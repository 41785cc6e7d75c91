#include "data/formats/open.h"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <vector>

#include "data/formats/farfield.h"
#include "data/formats/llmc.h"
#include "data/formats/megatron.h"
#include "data/formats/nanogpt.h"
#include "data/manifest.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_error.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "corpus";

bool is_shard(const fs::path& path) {
  char begin[4] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(begin, sizeof begin);
  return file && is_llmc_shard(std::as_bytes(std::span(begin)));
}

bool begins_with(const fs::path& path, std::string_view magic) {
  std::string begin(magic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file && begin == magic;
}

// The files of a folder whose names fit the pattern, in the order of names.
std::vector<fs::path> files_like(const fs::path& folder, const std::string& pattern) {
  std::vector<fs::path> found;
  if (!is_folder(folder)) return found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0 && is_file(entry->path()))
      found.push_back(entry->path());
  }
  errno = error.value();
  if (error) fail_errno(folder, "list the folder");
  std::sort(found.begin(), found.end());
  return found;
}

fs::path without_ending(const fs::path& path) { return path.parent_path() / path.stem(); }

CorpusParts open_own(const fs::path& folder, const CorpusOptions& options) {
  for (const auto& [name, value] :
       {std::pair("--data-split", options.split), {"--data-type", options.id_type}})
    require<ConfigError>(
        value.empty(), kWhere, folder.string(), ": expected no ", name, ", got '", value,
        "': the corpus was made by prepare and has its splits already; leave ", name, " out");
  return open_corpus_folder(folder);
}

CorpusParts open_folder(const fs::path& folder, const CorpusOptions& options) {
  if (is_file(folder / "manifest.json")) return open_own(folder, options);
  const std::vector<fs::path> indices = files_like(folder, "*.idx");
  require<ConfigError>(indices.size() <= 1, kWhere, folder.string(),
                       ": expected one corpus, got the indices of several: ", joined(indices, ", "),
                       "; name one of them");
  if (!indices.empty()) return open_megatron(without_ending(indices.front()), options);
  const std::vector<fs::path> bins = files_like(folder, "*.bin");
  if (std::any_of(bins.begin(), bins.end(), is_shard)) return open_llmc(bins, folder, options);
  if (is_file(folder / "train.bin")) return open_nanogpt(folder, options);
  return open_own(folder, options);  // which says what is missing
}

CorpusParts open_file(const fs::path& file, const CorpusOptions& options) {
  if (file.extension() == ".idx" || begins_with(file, "MMIDIDX") || begins_with(file, "TNTIDX"))
    return open_megatron(without_ending(file), options);
  if (is_shard(file)) return open_llmc({file}, file, options);
  if (is_file(without_ending(file).string() + ".idx"))
    return open_megatron(without_ending(file), options);
  require<ConfigError>(!begins_with(file, "FFTOKENS") && file.filename() != "manifest.json", kWhere,
                       file.string(),
                       ": expected the folder of a corpus, got one of its files; "
                       "name the folder ",
                       parent_of(file).string());
  require<IoError>(file.extension() == ".bin", kWhere, file.string(),
                   ": expected a corpus (a folder made by prepare, or .bin and .idx files of "
                   "GPT-NeoX, nanoGPT or llm.c), got another file; prepare --input makes a corpus "
                   "of text");
  return open_nanogpt(file, options);
}

}  // namespace

CorpusParts open_parts(const fs::path& given, const CorpusOptions& options) {
  const fs::path path = given.has_filename() ? given : given.parent_path();  // "corpora/code/"
  const fs::file_status status = status_of(path);
  if (fs::is_directory(status)) return open_folder(path, options);
  require<IoError>(!fs::exists(status) || fs::is_regular_file(status), kWhere, path.string(),
                   ": expected a corpus, which is mapped and read in any order, got a pipe or a "
                   "device; write it to a file first");
  if (fs::exists(status)) return open_file(path, options);
  // A prefix, or a pattern that the shell has left to us.
  if (is_file(path.string() + ".idx")) return open_megatron(path, options);
  const std::string name = path.filename().string();
  const bool is_pattern = name.find_first_of("*?[") != std::string::npos;
  if (!is_pattern && is_file(path.string() + ".bin"))
    return open_file(path.string() + ".bin", options);
  const std::vector<fs::path> bins =
      files_like(parent_of(path), is_pattern ? name : name + "*.bin");
  if (std::any_of(bins.begin(), bins.end(), is_shard)) return open_llmc(bins, path, options);
  return open_own(path, options);  // which says what is missing
}

}  // namespace farfield::data
