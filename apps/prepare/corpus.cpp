#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/prepare/program.h"
#include "apps/prepare/splits_table.h"
#include "apps/prepare/text_options.h"
#include "data/prepare.h"
#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::prepare {
namespace {

void print_summary(const data::Manifest& manifest, const std::string& output,
                   const data::JsonlOptions& jsonl, std::ostream& out) {
  print_splits(manifest, out);
  out << "split " << manifest.split_rule << '\n';
  for (const auto& [name, count] : data::named_counts(manifest.skipped))
    if (count > 0) out << name << ": " << count << '\n';
  if (manifest.skipped.missing_text > 0)
    out << cli::printable(data::missing_text_hint(manifest.skipped, jsonl.text_key)) << '\n';
  const std::string subsets = data::missing_subsets_hint(manifest.skipped, jsonl.subsets);
  if (!subsets.empty()) out << "warning: " << cli::printable(subsets) << '\n';
  out << cli::printable(output) << ": corpus " << manifest.hash() << std::endl;
}

}  // namespace

std::array<int64_t, 3> split_shares(const std::vector<int64_t>& given) {
  require<ConfigError>(given.size() == 3, "prepare",
                       "--split: expected three shares for train, valid and test such as 949,50,1, "
                       "got ",
                       joined(given, ","));
  return {given[0], given[1], given[2]};
}

// What prepare() is at, for people to watch.
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
  std::vector<int64_t> shares(o.shares.begin(), o.shares.end());
  data::TokenizerOptions& tokenization = o.tokenizer_options;
  cli::Options options("prepare", "Turns text into a corpus: token files with a manifest.");
  for (const char* name : {"convert", "synthetic"})
    options.add_command(name, concat("prepare ", name, " --help"));
  text.add_to(options);
  options.group("Corpus")
      .add("output", output, "FOLDER", "the corpus to make")
      .add("split", shares, "A,B,C", "shares of train, valid and test, in documents")
      .add("force", o.force, "replace a corpus that is there");
  options.group("Tokens")
      .add("tokenizer", o.tokenizer, "NAME|PATH",
           "how text becomes tokens: " + listed(data::tokenizer_names(), " or ") +
               ", or a file or folder of a tokenizer; words: learned from all of the inputs, test "
               "among them, in a first pass")
      .add("special-as-text", tokenization.special_as_text,
           "names of special tokens, such as <|endoftext|>, are ordinary text: for text from "
           "strangers")
      .add("end-of-text", tokenization.end_of_text, "TOKEN",
           "the token that ends a document (what the tokenizer has for it)")
      .add("tokenizer-pattern", tokenization.pattern, "NAME",
           "how a tiktoken rank file cuts text: gpt2 or cl100k_base");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  o.source = text.source();
  o.shares = split_shares(shares);
  o.output = output;

  const cli::StopSignals signals;
  data::Manifest manifest;
  {
    Watch watch;
    manifest = data::prepare(o, std::ref(watch));
  }
  print_summary(manifest, output, o.source.jsonl, out);
  return cli::kDone;
}

}  // namespace farfield::prepare
