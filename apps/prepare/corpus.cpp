#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/printout.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/cli/verbose.h"
#include "apps/prepare/program.h"
#include "apps/prepare/source_report.h"
#include "apps/prepare/splits_table.h"
#include "apps/prepare/text_options.h"
#include "data/prepare.h"
#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::prepare {
namespace {

void print_summary(const data::Manifest& manifest, const std::string& output,
                   const data::JsonlOptions& jsonl, cli::Printout& page) {
  std::ostream& out = page.text();
  print_splits(manifest, page);
  page.fact("corpus", output);
  page.fact("hash", manifest.hash());
  out << "split " << cli::printable(manifest.split_rule) << '\n';
  print_skipped(manifest.skipped, jsonl, (std::filesystem::path(output) / "manifest.json").string(),
                out);
  print_unread(manifest.sources, cli::remarks());
  out << std::flush;
  for (const std::string& note : manifest.notes)
    cli::remarks() << "note: " << cli::printable(note) << '\n';
  out << cli::printable(output) << ": corpus written" << cli::hash_remark(manifest.hash())
      << std::endl;
}

// The texts of splits that are given.
struct GivenOptions {
  std::array<std::vector<std::string>, 3> inputs;

  void add_to(cli::Options& options) {
    options.group("Three given splits, instead of --input and --split");
    for (size_t i = 0; i < data::kSplits.size(); ++i)
      options.add_paths(concat(data::kSplits[i], "-input"), inputs[i], "PATH",
                        concat("text of ", data::kSplits[i],
                               ", as --input takes it; may be given more than once"));
  }
  bool is_any() const { return !(inputs[0].empty() && inputs[1].empty() && inputs[2].empty()); }
};

}  // namespace

data::Shares split_shares(const std::vector<int64_t>& given) {
  require<ConfigError>(given.size() == 3, "prepare",
                       "--split: expected three shares for train, valid and test such as 949,50,1, "
                       "got ",
                       joined(given, ","));
  return {given[0], given[1], given[2]};
}

// Shows the progress of prepare().
class Watch {
 public:
  void operator()(const data::PrepareProgress& p) {
    if (cli::stop_requested()) fail<Error>("prepare", "stopped on request; nothing was written");
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const bool keep = now - kept_ >= kKeepEach;
    if (keep) kept_ = now;
    const std::string rate =
        concat(megabytes(static_cast<double>(p.bytes_done) / std::max(seconds, 1e-3)), "/s");
    const auto read = static_cast<double>(p.bytes_read);
    if (p.bytes_total == 0) {  // of a pipe: no time left can be told
      progress_.update(
          0, 1, concat("read ", megabytes(read), ", ", p.documents, " documents, ", rate), keep);
      return;
    }
    const auto total = static_cast<double>(p.bytes_total);
    progress_.update(p.bytes_done, p.bytes_total,
                     concat("read ", megabytes(read), " of ", megabytes(total), ", ", p.documents,
                            " documents, ", rate),
                     keep);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kKeepEach{10};  // a line, where stderr is no terminal

  cli::Progress progress_ = cli::Progress::on_stderr();
  Clock::time_point begin_ = Clock::now(), kept_ = begin_;
};

int prepare_corpus(int argc, const char* const* argv, std::ostream& out) {
  data::PrepareOptions o;
  TextOptions text;
  std::string output;
  bool json = false;
  std::vector<int64_t> shares(o.shares.begin(), o.shares.end());
  data::TokenizerOptions& tokenization = o.tokenizer_options;
  cli::Options options("prepare", "Turns text into a corpus: token files with a manifest.");
  for (const char* name : {"convert", "synthetic", "task", "tokenizer"})
    options.add_command(name, concat("prepare ", name, " --help"));
  text.add_to(options);
  GivenOptions given;
  given.add_to(options);
  options.group("Corpus")
      .add("output", output, "FOLDER", "the corpus to make")
      .add("split", shares, "A,B,C", "shares of train, valid and test, in documents")
      .add("force", o.force, "replace an existing corpus");
  add_json_option(options, json);
  options.group("Tokens")
      .add("tokenizer", o.tokenizer, "NAME|PATH",
           "how text becomes tokens: " + listed(data::tokenizer_names(), " or ") +
               ", or a file or folder of a tokenizer. words learns its vocabulary in a first pass "
               "over --train-input, or over all of --input (test documents included)")
      .add("special-as-text", tokenization.special_as_text,
           "read names of special tokens, such as <|endoftext|>, as ordinary text: for untrusted "
           "text")
      .add("end-of-text", tokenization.end_of_text, "TOKEN",
           "the token that ends a document (default: from the tokenizer)")
      .add("tokenizer-pattern", tokenization.pattern, "NAME",
           "with a tiktoken rank file: how text is cut into words, gpt2 or cl100k_base");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  o.source = text.source(/*has_others=*/given.is_any());
  for (size_t i = 0; i < given.inputs.size(); ++i)
    o.given[i].assign(given.inputs[i].begin(), given.inputs[i].end());
  require<ConfigError>(!given.is_any() || !options.given("split"), "prepare",
                       "--split: expected no shares beside --train-input, --valid-input and "
                       "--test-input, got ",
                       joined(shares, ","), "; leave it out, or name one --input");
  o.shares = split_shares(shares);
  o.output = output;

  const cli::StopSignals signals;
  data::Manifest manifest;
  {
    Watch watch;
    manifest = data::prepare(o, std::ref(watch));
  }
  cli::Printout page(out, "prepare", json);
  print_summary(manifest, output, o.source.jsonl, page);
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::prepare
