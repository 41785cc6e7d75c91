#include "data/formats/row.h"

#include <utility>

#include "data/document_split.h"
#include "data/formats/sampled_hash.h"
#include "engine/base/error.h"

namespace farfield::data {

CorpusParts open_row(Row row, const std::filesystem::path& path, const CorpusOptions& options) {
  CorpusParts parts = std::move(row.parts);
  Hasher hasher;
  hasher.update(parts.format + parts.tokenizer->hash());
  hasher.update(&row.type, sizeof row.type);
  for (const auto& pieces : row.pieces) {
    const size_t n = pieces.size();
    hasher.update(&n, sizeof n);
    for (const Tokens::Piece& piece : pieces) add_sample(hasher, piece.name);
  }

  const int64_t n_vocab = parts.tokenizer->n_vocab();
  const auto set = [&](size_t i, Tokens tokens) {
    const int64_t n = tokens.size();
    parts.splits[i] = {std::move(tokens), {n, n == 0 ? 0 : kUnknown, n == 0 ? 0 : kUnknown}, ""};
  };
  if (row.is_split) {
    require<ConfigError>(options.split.empty(), "corpus", path.string(),
                         ": expected no --data-split, got '", options.split,
                         "': its files are its splits already; leave --data-split out");
    for (size_t i = 0; i < 3; ++i) set(i, Tokens(std::move(row.pieces[i]), row.type, n_vocab));
    parts.split_rule = row.split_rule;
    if (row.meta.has_value()) take_counts(parts, *row.meta, row.paths.meta);
  } else {
    const std::string shares = options.split.empty() ? kDefaultSplit : options.split;
    const Tokens all(std::move(row.pieces[0]), row.type, n_vocab);
    const RowCuts cuts =
        cut_row(all, read_split_weights(shares), parts.mark, parts.tokenizer->end_of_document());
    for (size_t i = 0; i < 3; ++i) set(i, all.slice(cuts.at[i], cuts.at[i + 1] - cuts.at[i]));
    hasher.update(cuts.at.data(), sizeof cuts.at);
    parts.split_rule = concat("in order, ", shares, " of the tokens, ",
                              cuts.is_at_documents ? "at the next end of a document"
                                                   : "within documents, for none ends near enough");
  }
  parts.hash = hasher.hex();
  return parts;
}

}  // namespace farfield::data
