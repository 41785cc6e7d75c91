#include "data/formats/writer.h"

#include <utility>

#include "data/formats/meta.h"
#include "data/formats/writers.h"
#include "data/manifest.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/temporary.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "convert";

bool is_converted_folder(const fs::path& folder) {
  try {
    return read_meta(meta_in(folder).meta).has_value();
  } catch (const IoError&) {
    return true;  // ours, and damaged
  }
}

void check_folder(const fs::path& folder, bool force) {
  if (!is_there(folder) || is_empty_folder(folder)) return;
  require<ConfigError>(is_corpus_folder(folder) || is_converted_folder(folder), kWhere,
                       folder.string(),
                       ": expected a new folder for the corpus, got one with other things in it; "
                       "choose another --output");
  require<ConfigError>(force, kWhere, folder.string(),
                       ": expected a new folder for the corpus, got one that holds a corpus; "
                       "--force replaces it");
}

fs::path check_prefix(const fs::path& output, bool force) {
  const bool is_ending = output.extension() == ".bin" || output.extension() == ".idx";
  fs::path prefix = is_ending ? output.parent_path() / output.stem() : output;
  require<ConfigError>(prefix.has_filename() && !is_folder(prefix), kWhere, output.string(),
                       ": expected the name that the files .bin and .idx begin with, got a folder; "
                       "add a name, as in ",
                       (output / "corpus_text_document").string());
  for (const char* ending : {".bin", ".idx"})
    require<ConfigError>(force || !is_there(prefix.string() + ending), kWhere, prefix.string(),
                         ending,
                         ": expected a new name for the corpus, got one "
                         "that is there; --force replaces it");
  return prefix;
}

}  // namespace

std::array<std::string, 3> DocumentWriter::hashes() const {
  std::array<std::string, 3> hashes;
  for (size_t i = 0; i < hashes.size(); ++i)
    if (counts_[i].tokens > 0) hashes[i] = hashers_[i].hex();
  return hashes;
}

const std::vector<std::string>& writer_names() {
  static const std::vector<std::string> names = {"farfield", "megatron", "nanogpt", "llm.c"};
  return names;
}

std::unique_ptr<DocumentWriter> make_writer(const std::string& format, const fs::path& output,
                                            TokenizerPtr tokenizer, bool force) {
  require<ConfigError>(!output.empty(), kWhere, "expected where to write; name it with --output");
  if (format == "megatron") {
    const fs::path prefix = check_prefix(output, force);
    return make_megatron_writer(prefix, std::move(tokenizer));
  }
  require<ConfigError>(format != "farfield" || tokenizer->has_text(), kWhere,
                       "--to farfield: expected a tokenizer whose text is known, for our format "
                       "records bytes, got ",
                       tokenizer->name(), "; choose another --to");
  require<ConfigError>(format != "llm.c" || tokenizer->end_of_document() != Tokenizer::kNone,
                       kWhere,
                       "--to llm.c: expected a token that ends documents, got none; "
                       "name it with --end-of-text");
  const auto make = format == "farfield"  ? make_farfield_writer
                    : format == "nanogpt" ? make_nanogpt_writer
                                          : nullptr;
  require<ConfigError>(make != nullptr || format == "llm.c", kWhere, "--to: expected ",
                       listed(writer_names(), " or "), ", got '", format, "'",
                       did_you_mean(format, writer_names()));
  check_folder(output, force);
  remove_leftovers(output);
  return make != nullptr ? make(output, std::move(tokenizer), force)
                         : make_llmc_writer(output, std::move(tokenizer), force);
}

}  // namespace farfield::data
