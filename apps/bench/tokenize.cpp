#include <functional>
#include <optional>

#include "apps/bench/commands.h"
#include "apps/bench/peer.h"
#include "apps/bench/report.h"
#include "apps/bench/source.h"
#include "apps/cli/options.h"
#include "apps/cli/progress.h"
#include "apps/cli/threads.h"
#include "data/encode.h"
#include "data/source.h"
#include "data/tokenizers/bpe.h"
#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace farfield::bench {
namespace {

struct Text {
  std::vector<std::string> documents;
  int64_t size_bytes = 0;
};

Text read_text(data::SourceOptions source) {
  data::DocumentReader reader(std::move(source));
  Text text;
  for (std::string document; reader.next(document);) {
    text.size_bytes += static_cast<int64_t>(document.size());
    text.documents.push_back(std::move(document));
  }
  require<IoError>(text.size_bytes > 0, "bench", "expected text to measure with, got none");
  return text;
}

// One measured job, with its number of threads.
struct TimedWork {
  std::string name;
  int64_t n_threads;
  std::function<void()> run;
  analysis::Samples samples;
};

void encode_on_all_threads(const data::Tokenizer& tokenizer, const Text& text) {
  data::Encoder encoder(tokenizer, 1, [](size_t, std::span<const int32_t>) {});
  for (const std::string& document : text.documents)
    encoder.add(0, document, data::Encoder::End::document);
  encoder.flush();
}

// The number of pieces.
size_t cut_into_pieces(data::Pattern pattern, const Text& text) {
  size_t n = 0;
  for (const std::string& document : text.documents)
    data::for_each_piece(pattern, document, [&](std::string_view) { ++n; });
  return n;
}

cli::Cell megabytes_per_second(int64_t size_bytes, double time_s) {
  return cli::fixed_cell(static_cast<double>(size_bytes) / 1e6 / time_s, 1);
}

}  // namespace

int bench_tokenize(int argc, const char* const* argv, std::ostream& to) {
  std::string name = "bytes", peer;
  TableOptions table;
  std::vector<std::string> inputs;
  std::optional<int64_t> threads;
  data::SourceOptions source;
  int64_t rounds = 7;
  cli::Options options("bench tokenize",
                       "Measures a tokenizer on documents: 10^6 bytes of text a second.");
  options.group("Work")
      .add("tokenizer", name, "NAME|PATH", "as prepare takes it")
      .add_paths("input", inputs, "PATH", "text, as prepare reads it; may be given more than once")
      .add("text-key", source.jsonl.text_key, "KEY", "where JSON Lines hold the text")
      .add("max-bytes", source.max_bytes, "N", "no more text than this; 0: no limit");
  options.group("Measuring")
      .add("threads", threads, "N",
           "threads of the pool, beside one (default: FARFIELD_THREADS, or the number of "
           "processors)")
      .add("rounds", rounds, "N", "times that everything is measured; medians are shown")
      .add("peer", peer, "COMMAND",
           "another program to compare with, run as COMMAND FILE ROUNDS: FILE holds the documents "
           "as JSON Lines, and it prints the seconds of each round");
  table.add_to(options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  require<ConfigError>(rounds >= 1, "bench", "expected rounds >= 1, got ", rounds);
  require<ConfigError>(!inputs.empty(), "bench", "expected --input PATH, got none");
  table.check();
  cli::use_threads(threads, cli::remarks());
  const int64_t n_threads = thread_count();
  source.inputs.assign(inputs.begin(), inputs.end());

  const data::TokenizerPtr tokenizer = data::make_tokenizer(name);
  const Text text = read_text(std::move(source));
  std::vector<std::vector<int32_t>> ids(text.documents.size());
  int64_t n_tokens = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    tokenizer->encode(text.documents[i], ids[i]);
    n_tokens += static_cast<int64_t>(ids[i].size());
  }

  std::vector<int32_t> room;  // kept from document to document
  std::vector<TimedWork> works = {{"encode",
                                   1,
                                   [&] {
                                     for (const std::string& document : text.documents) {
                                       room.clear();
                                       tokenizer->encode(document, room);
                                     }
                                   },
                                   {}}};
  if (n_threads > 1)
    works.push_back({"encode", n_threads, [&] { encode_on_all_threads(*tokenizer, text); }, {}});
  size_t n_pieces = 0;
  if (const auto* bpe = dynamic_cast<const data::BpeTokenizer*>(tokenizer.get()))
    works.push_back(
        {"pieces alone",
         1,
         [&, pattern = bpe->definition().pattern] { n_pieces = cut_into_pieces(pattern, text); },
         {}});
  size_t n_decoded = 0;
  works.push_back({"decode",
                   1,
                   [&] {
                     n_decoded = 0;
                     for (const auto& document : ids)
                       n_decoded += tokenizer->decode(document).size();
                   },
                   {}});
  analysis::Samples of_peer;
  if (!peer.empty()) of_peer = run_peer(peer, text.documents, rounds);
  for (int64_t round = 0; round < rounds; ++round)
    for (TimedWork& work : works) work.samples.add(analysis::seconds(work.run));

  cli::Printout page(to, "bench tokenize", table.is_json);
  std::ostream& out = page.text();
  out << text.documents.size() << " documents, "
      << fixed(static_cast<double>(text.size_bytes) / 1e6, 1) << " MB, " << n_tokens
      << " tokens of " << tokenizer->n_vocab() << ", "
      << fixed(static_cast<double>(text.size_bytes) / static_cast<double>(n_tokens), 3)
      << " bytes per token";
  if (n_pieces > 0) out << ", " << n_pieces << " pieces";
  out << "\n\n";
  Report report(page,
                {"work",
                 "threads",
                 "MB/s",
                 {"slowest", "slowest, MB/s", "MB/s"},
                 {"fastest", "fastest, MB/s", "MB/s"},
                 "Mtokens/s",
                 "x peer"},
                14, table);
  const auto add = [&](const std::string& what, int64_t on, const analysis::Samples& samples) {
    report.add({what, on, megabytes_per_second(text.size_bytes, samples.median()),
                megabytes_per_second(text.size_bytes, samples.max()),
                megabytes_per_second(text.size_bytes, samples.min()),
                megabytes_per_second(n_tokens, samples.median()),
                of_peer.empty() || what != "encode" ? cli::Cell::missing("")
                                                    : ratio(of_peer.median() / samples.median())});
  };
  for (const TimedWork& work : works) add(work.name, work.n_threads, work.samples);
  if (!of_peer.empty()) add("peer", 1, of_peer);
  report.finish(source_line(machine_here(), argc, argv));
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::bench
