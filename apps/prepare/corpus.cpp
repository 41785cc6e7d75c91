#include <iomanip>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/prepare/program.h"
#include "data/prepare.h"
#include "engine/base/error.h"

namespace farfield::prepare {
namespace {

std::string megabytes(int64_t bytes) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << static_cast<double>(bytes) / 1e6 << " MB";
  return text.str();
}

void print_summary(const data::Manifest& manifest, const std::string& output,
                   const std::string& text_key, std::ostream& out) {
  out << std::left << std::setw(8) << "split" << std::right << std::setw(12) << "documents"
      << std::setw(14) << "tokens" << std::setw(14) << "bytes" << '\n';
  for (size_t i = 0; i < data::kSplits.size(); ++i) {
    const data::TokenCounts& counts = manifest.splits[i].counts;
    out << std::left << std::setw(8) << data::kSplits[i] << std::right << std::setw(12)
        << counts.documents << std::setw(14) << counts.tokens << std::setw(14) << counts.bytes
        << '\n';
  }
  out << "split " << manifest.split_rule << '\n';
  for (const auto& [name, count] : data::named_counts(manifest.skipped))
    if (count > 0) out << name << ": " << count << '\n';
  if (manifest.skipped.missing_text > 0)
    out << data::missing_text_hint(manifest.skipped, text_key) << '\n';
  out << cli::printable(output) << ": corpus " << manifest.hash() << std::endl;
}

}  // namespace

int prepare_corpus(int argc, const char* const* argv, std::ostream& out) {
  data::PrepareOptions o;
  std::vector<std::string> inputs;
  std::string output;
  data::SourceOptions& source = o.source;
  cli::Options options("prepare", "Turns text into a corpus: token files with a manifest.");
  options.group("Text")
      .add_paths("input", inputs, "PATH", "file or folder to read; may be given more than once")
      .add("ext", source.endings, "ENDING",
           "of a folder only files that end so, as in h,cpp; none: names without a dot (all files)")
      .add("text-key", source.jsonl.text_key, "KEY", "where JSON Lines hold the text")
      .add("skip-bad-lines", source.jsonl.skip_bad_lines,
           "skip lines that are not JSON, instead of stopping")
      .add("strict", source.jsonl.is_strict, "stop at invalid UTF-8, instead of replacing it")
      .add("dedupe", source.drop_duplicates, "keep the first of documents with the same text")
      .add("max-bytes", source.max_bytes, "N",
           "stop after N bytes of text and read no further; 0: no limit")
      .add("max-line", source.jsonl.max_line_bytes, "BYTES",
           "refuse a longer line of JSON Lines, and a compressed text that grows beyond it and to "
           "more than 250 times its file; 0: no limit. Memory grows with the longest line")
      .add("allow-binary", source.jsonl.allow_binary,
           "read files that look binary as text, instead of stopping at them or, in a folder, "
           "leaving them out");
  options.group("Corpus")
      .add("output", output, "FOLDER", "the corpus to make")
      .add("tokenizer", o.tokenizer, "NAME", "how text becomes tokens: bytes")
      .add("force", o.force, "replace a corpus that is there");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!inputs.empty(), "prepare", "expected --input PATH, got none");
  source.inputs.assign(inputs.begin(), inputs.end());
  o.output = output;

  const cli::StopSignals signals;
  data::Manifest manifest;
  {
    cli::Progress progress = cli::Progress::on_stdout();
    manifest = data::prepare(o, [&](const data::PrepareProgress& p) {
      if (cli::stop_requested()) fail<Error>("prepare", "stopped on request; nothing was written");
      progress.update(p.bytes_read, p.bytes_total,
                      concat("read ", megabytes(p.bytes_read), " of ", megabytes(p.bytes_total),
                             ", ", p.documents, " documents"),
                      /*keep=*/false);
    });
  }
  print_summary(manifest, output, source.jsonl.text_key, out);
  return cli::kDone;
}

}  // namespace farfield::prepare
