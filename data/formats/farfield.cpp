#include "data/formats/farfield.h"

#include <utility>

#include "data/manifest.h"
#include "data/token_file.h"
#include "data/tokenizers/kept.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "corpus";

// Whether that many documents can be so long each; 0: they need not be.
bool are_equal_documents(const Split& split, int64_t document_tokens) {
  int64_t size = 0;
  return document_tokens == 0 ||
         (!__builtin_mul_overflow(split.counts.documents, document_tokens + 1, &size) &&
          size == split.tokens.size());
}

}  // namespace

CorpusParts open_corpus_folder(const fs::path& folder) {
  const std::string file = (folder / "manifest.json").string();
  const RecordedManifest manifest = read_manifest(folder);
  CorpusParts parts;
  parts.format = "farfield";
  parts.tokenizer = kept_tokenizer(manifest.tokenizer, folder / kTokenizerFile, kWhere, file);
  parts.split_rule = manifest.split_rule;
  std::array<Manifest::Split, 3> found;
  for (size_t i = 0; i < kSplits.size(); ++i) {
    const fs::path path = split_path(folder, kSplits[i]);
    Split split = open_token_file(path);
    require<IoError>(split.tokens.n_vocab() == parts.tokenizer->n_vocab(), kWhere, path.string(),
                     ": expected a vocabulary of ", parts.tokenizer->n_vocab(), ", got ",
                     split.tokens.n_vocab());
    const auto& [counts, hash] = manifest.splits[i];
    require<IoError>(hash == split.hash, kWhere, path.string(), ": expected the hash ", hash,
                     " of the manifest, got ", split.hash,
                     "; the file belongs to another corpus, or is damaged");
    // Converted from a format that has fewer splits, it may lack the others.
    require<IoError>(split.tokens.size() > 0 || i > 0, kWhere, path.string(),
                     ": expected tokens, got none");
    // No hash covers these in the token file: here two records of them meet.
    for (const auto& [name, wanted, count] :
         {std::tuple("documents", counts.documents, split.counts.documents),
          {"tokens", counts.tokens, split.counts.tokens},
          {"bytes", counts.bytes, split.counts.bytes}})
      require<IoError>(wanted == count, kWhere, path.string(), ": expected ", wanted, ' ', name,
                       " as in ", file, ", got ", count,
                       "; one of the two is damaged, make the corpus again with prepare");
    require<IoError>(are_equal_documents(split, manifest.document_tokens), kWhere, path.string(),
                     ": expected documents of ", manifest.document_tokens,
                     " tokens and the id that ends each, as in ", file, ", got ",
                     split.counts.documents, " documents in ", split.tokens.size(), " tokens");
    found[i].hash = hash;
    parts.splits[i] = std::move(split);
  }
  parts.document_tokens = manifest.document_tokens;
  parts.floor = manifest.floor;
  parts.hash = manifest_hash(manifest.tokenizer.hash, found, manifest.document_tokens);
  require<IoError>(manifest.hash == parts.hash, kWhere, file, ": expected the hash ", parts.hash,
                   " of its tokenizer and splits, got ", manifest.hash, "; the file is damaged");
  return parts;
}

}  // namespace farfield::data
