#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/printout.h"
#include "apps/cli/progress.h"
#include "apps/cli/table.h"
#include "apps/inspect/commands.h"
#include "data/corpus.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::inspect {
namespace {

constexpr std::string_view kWhere = "inspect";

struct DataRequest {
  std::string path, named;
  data::CorpusOptions corpus;
  int64_t n_first = 16;
  bool verify = false, json = false;
};

cli::Cell count(int64_t n) { return n == data::kUnknown ? cli::Cell::missing() : cli::Cell(n); }

std::string end_name(const data::Tokenizer& tokenizer) {
  const int32_t id = tokenizer.end_of_document();
  return id == data::Tokenizer::kNone ? "none" : std::to_string(id);
}

std::vector<std::string> splits_of(const data::Corpus& corpus) {
  std::vector<std::string> names(data::kSplits.begin(), data::kSplits.end());
  std::erase_if(names, [&](const std::string& name) { return !corpus.has_split(name); });
  return names;
}

// Lengths of the documents, or pieces of documents, of a split, sorted; the id that ends a document
// counts.
std::vector<int64_t> document_lengths(const data::Corpus& corpus, const std::string& split) {
  std::vector<int64_t> lengths = corpus.document_begins(split);
  lengths.push_back(corpus.split(split).size());  // behind the last end there may be some left
  std::adjacent_difference(lengths.begin(), lengths.end(), lengths.begin());
  lengths.erase(lengths.begin());
  if (lengths.back() == 0) lengths.pop_back();
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

cli::Table splits_table(const data::Corpus& corpus) {
  cli::Table table = {"splits",
                      {"split", "documents", "tokens", "bytes", "bytes per token", "hash"}};
  for (const std::string& name : splits_of(corpus)) {
    const data::TokenCounts& counts = corpus.counts(name);
    const double ratio = static_cast<double>(counts.bytes) / static_cast<double>(counts.tokens);
    const std::string& hash = corpus.recorded_hash(name);
    table.rows.push_back(
        {name, count(counts.documents), count(counts.tokens), count(counts.bytes),
         counts.bytes == data::kUnknown ? cli::Cell::missing() : cli::fixed_cell(ratio, 3),
         hash.empty() ? cli::Cell::missing() : cli::Cell(hash)});
  }
  return table;
}

cli::Table lengths_table(const std::vector<std::string>& splits,
                         const std::vector<std::vector<int64_t>>& lengths) {
  cli::Table table = {"lengths",
                      {"tokens of a document",
                       {"shortest", "tokens"},
                       {"median", "tokens"},
                       {"mean", "tokens"},
                       {"longest", "tokens"}}};
  for (size_t i = 0; i < splits.size(); ++i) {
    const std::vector<int64_t>& l = lengths[i];
    if (l.empty()) continue;
    const double sum = static_cast<double>(std::accumulate(l.begin(), l.end(), int64_t{0}));
    table.rows.push_back({splits[i], l.front(), l[l.size() / 2],
                          cli::fixed_cell(sum / static_cast<double>(l.size()), 1), l.back()});
  }
  return table;
}

// A row for each power of two and one for documents without tokens, a column for each split.
cli::Table histogram(const std::vector<std::string>& splits,
                     const std::vector<std::vector<int64_t>>& lengths) {
  constexpr size_t kBins = 64;  // of lengths with so many binary digits: 0, 1, 2 and 3, 4 to 7, ...
  const auto bin_of = [](int64_t n) {
    return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(n)));
  };
  std::vector<std::vector<int64_t>> bins(splits.size(), std::vector<int64_t>(kBins));
  std::vector<int64_t> sums(kBins);
  for (size_t i = 0; i < splits.size(); ++i)
    for (const int64_t n : lengths[i]) {
      ++bins[i][bin_of(n)];
      ++sums[bin_of(n)];
    }
  size_t first = 0, last = sums.size();
  while (first < last && sums[first] == 0) ++first;
  while (last > first && sums[last - 1] == 0) --last;
  cli::Table table = {"histogram", {{"from", "tokens"}, {"to", "tokens"}}};
  for (const std::string& split : splits) table.columns.push_back({split, "documents"});
  for (size_t bin = first; bin < last; ++bin) {
    const auto end = static_cast<int64_t>(uint64_t{1} << bin);
    table.rows.push_back({end / 2, end - 1});
    for (const auto& of_split : bins) table.rows.back().push_back(of_split[bin]);
  }
  return table;
}

// The histogram with a bar for all splits of a row together.
std::string with_bars(const cli::Table& histogram) {
  constexpr size_t kBar = 40;
  std::vector<int64_t> sums;
  for (const std::vector<cli::Cell>& row : histogram.rows) {
    sums.push_back(0);
    for (size_t i = 2; i < row.size(); ++i) sums.back() += std::get<int64_t>(row[i].value);
  }
  const int64_t most =
      sums.empty() ? 1 : std::max<int64_t>(1, *std::max_element(sums.begin(), sums.end()));
  std::istringstream lines(to_text(histogram));
  std::string text, line;
  std::getline(lines, line);
  text = line + '\n';
  for (const int64_t sum : sums) {
    std::getline(lines, line);
    const auto n = static_cast<size_t>(static_cast<double>(sum) / static_cast<double>(most) *
                                       static_cast<double>(kBar));
    const std::string bar(n == 0 && sum > 0 ? 1 : n, '#');
    text += line + (bar.empty() ? "" : "   " + bar) + '\n';
  }
  return text;
}

// A text on one line, as C would have it.
std::string quoted(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    if (c == '\n') {
      shown += "\\n";
    } else if (c == '\t') {
      shown += "\\t";
    } else if (c == '"' || c == '\\') {
      shown += {'\\', c};
    } else {
      shown += c;
    }
  }
  return '"' + cli::printable(shown) + '"';
}

// The ids that a split begins with, with their text where it is known.
std::string first_tokens(const data::Corpus& corpus, const std::string& split, int64_t n) {
  const data::Tokens& tokens = corpus.split(split);
  const data::Tokenizer& tokenizer = corpus.tokenizer();
  std::vector<int32_t> ids(static_cast<size_t>(std::min(n, tokens.size())));
  tokens.copy(0, static_cast<int64_t>(ids.size()), ids.data());
  if (!tokenizer.has_text()) return "  " + joined(ids, " ") + '\n';
  std::string text;
  for (const int32_t id : ids) {
    const bool is_end = id == tokenizer.end_of_document();
    text += concat("  ", id, ' ', quoted(tokenizer.decode_within({&id, 1})),
                   is_end ? " (ends a document)" : "", '\n');
  }
  std::erase(ids, tokenizer.end_of_document());
  return text + "  together " + quoted(tokenizer.decode(ids)) + '\n';
}

// The result of verify(), or how to request it.
std::string verified(const DataRequest& request, const data::Corpus& corpus) {
  if (!request.verify) return "tokens were not compared with their hashes; --verify does\n";
  const std::vector<std::string> splits = splits_of(corpus);
  int64_t total = 0, done = 0;
  for (const std::string& name : splits) total += corpus.split(name).size();
  std::array<std::string, 3> hashes;
  {
    cli::Progress progress = cli::Progress::on_stderr();
    hashes = corpus.verify([&](int64_t n) {
      done += n;
      progress.update(done, total, concat("looked at ", done, " of ", total, " tokens"),
                      /*keep=*/false);
    });
  }
  std::string text = concat("verified: all ", total, " tokens are ids of the tokenizer");
  std::string without;
  for (size_t i = 0; i < data::kSplits.size(); ++i)
    if (corpus.has_split(data::kSplits[i]) && corpus.recorded_hash(data::kSplits[i]).empty())
      without += concat("  ", data::kSplits[i], ": hash ", hashes[i], ", none recorded\n");
  return text + (without.empty() ? " and have the recorded hashes\n" : '\n' + without);
}

void print(const DataRequest& request, const data::Corpus& corpus, cli::Printout& page) {
  std::ostream& out = page.text();
  const data::Tokenizer& tokenizer = corpus.tokenizer();
  out << cli::printable(request.path) << ": " << corpus.format() << " corpus, hash "
      << corpus.hash() << '\n'
      << "tokenizer " << cli::printable(tokenizer.name()) << ": " << tokenizer.n_vocab()
      << " ids, in models " << corpus.vocab_size() << ", " << end_name(tokenizer)
      << " ends a document, hash " << tokenizer.hash() << '\n'
      << "split " << cli::printable(corpus.split_rule()) << '\n';
  page.fact("format", corpus.format());
  page.fact("hash", corpus.hash());
  page.fact("tokenizer", tokenizer.name());
  page.fact("vocab_size", tokenizer.n_vocab());
  if (corpus.floor()) page.fact("floor, nats per token", cli::fixed_cell(*corpus.floor(), 4));
  for (const std::string& note : corpus.notes())
    cli::remarks() << "note: " << cli::printable(note) << '\n';
  if (corpus.document_tokens() > 0)
    out << "windows stay within documents, of " << corpus.document_tokens() << " tokens each\n";
  if (corpus.floor())
    out << "floor of test " << fixed(*corpus.floor(), 4) << " nats per token, perplexity "
        << fixed(std::exp(*corpus.floor()), 3)
        << ": the cross-entropy of an ideal predictor, which knows how documents are drawn\n";
  out << '\n';
  page.add(splits_table(corpus));
  out << '\n';
  const std::vector<std::string> splits = splits_of(corpus);
  std::vector<std::vector<int64_t>> lengths;
  for (const std::string& name : splits) lengths.push_back(document_lengths(corpus, name));
  page.add(lengths_table(splits, lengths));
  const cli::Table counted = histogram(splits, lengths);
  page.add_for_programs(counted);
  if (!page.is_json()) out << '\n' << with_bars(counted) << '\n';
  if (request.n_first > 0 && !splits.empty())
    out << splits.front() << " begins\n"
        << first_tokens(corpus, splits.front(), request.n_first) << '\n';
}

}  // namespace

int inspect_data(int argc, const char* const* argv, std::ostream& out) {
  DataRequest request;
  cli::Options options("inspect data",
                       "Describes a corpus in any format that training reads: splits, tokenizer, "
                       "lengths of documents, first tokens.");
  options.add_positional("PATH", request.path, "folder or file of a corpus");
  options.group("What")
      .add("data", request.named, "PATH", "the same as PATH")
      .add("tokenizer", request.corpus.tokenizer, "NAME|PATH",
           "tokenizer of a corpus that does not name one")
      .add("vocab-size", request.corpus.vocab_size, "N",
           "instead of --tokenizer, if that cannot be read: its number of token ids")
      .add("end-of-text", request.corpus.end_of_text, "TOKEN",
           "token that ends a document, if the tokenizer does not say; with --vocab-size its id")
      .add("data-type", request.corpus.id_type, "TYPE",
           "how token ids are stored, if the files do not say: u16 or u32")
      .add("data-split", request.corpus.split, "A,B,C",
           "shares of train, valid and test, if the corpus has no splits of its own")
      .add("tokens", request.n_first, "N", "number of first tokens to show")
      .add("verify", request.verify, "read every token and compare the recorded hashes");
  add_json_option(options, request.json);
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(request.path.empty() || request.named.empty(), kWhere,
                       "--data: expected one corpus, got ", request.path, " too");
  if (request.path.empty()) request.path = request.named;
  require<ConfigError>(!request.path.empty(), kWhere,
                       "expected a corpus, got none; inspect data PATH");
  require<ConfigError>(request.n_first >= 0 && request.n_first <= 4096, kWhere,
                       "--tokens: expected 0 to 4096, got ", request.n_first);
  const data::Corpus corpus = data::Corpus::open(request.path, request.corpus);
  // Damage is said of itself, not of the tables that were made from it.
  const std::string verdict = verified(request, corpus);
  cli::Printout page(out, "inspect data", request.json);
  print(request, corpus, page);
  page.text() << verdict;
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::inspect
