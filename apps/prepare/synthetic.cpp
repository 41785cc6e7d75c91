#include <algorithm>
#include <cmath>

#include "apps/cli/commands.h"
#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/printout.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/cli/verbose.h"
#include "apps/prepare/program.h"
#include "apps/prepare/splits_table.h"
#include "data/synthetic/synthesize.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::prepare {
namespace {

constexpr const char* kTopic =
    "Makes a corpus of symbols that rewards a long context: each document has its "
    "own\ndistribution of symbols. The more of the document a model has read, the better it can "
    "estimate that.";
constexpr const char* kInduction =
    "Makes the topic corpus with repetition: now and then the document repeats some of "
    "its\nearlier symbols, which rewards looking up where the last few symbols occurred before.";

int make(const std::string& task, const char* summary, int argc, const char* const* argv,
         std::ostream& out) {
  data::SyntheticOptions o = data::synthetic_options(task);
  const bool has_copies = o.copies.probability > 0;
  std::string output;
  bool json = false;
  std::vector<int64_t> documents(o.documents.begin(), o.documents.end());
  cli::Options options("prepare synthetic " + task, summary);
  options.group("Corpus")
      .add("output", output, "FOLDER", "the corpus to make")
      .add("documents", documents, "A,B,C", "documents of train, valid and test")
      .add("document-tokens", o.document_tokens, "N",
           "symbols of each document; no window of training or evaluation crosses the end of a "
           "document")
      .add("seed", o.topic.seed, "N",
           "seed of the corpus: successors and documents follow from it, the same on every machine")
      .add("force", o.force, "replace an existing corpus");
  add_json_option(options, json);
  options.group("Text")
      .add("alphabet", o.topic.alphabet, "N",
           "number of symbols, each a printable character; at most 94")
      .add("local", o.topic.local, "P",
           "probability that a symbol is drawn from the four successors of the symbol before it, "
           "which are the same in all documents; else it is drawn from the document's own "
           "distribution")
      .add("alpha", o.topic.alpha, "X",
           "concentration of the Dirichlet prior of the documents' distributions: the smaller, the "
           "fewer symbols are frequent in a document");
  if (has_copies)
    options.add("copy", o.copies.probability, "P", "probability that a copy begins at a symbol")
        .add("copy-length", o.copies.length, "N", "length of a copy in symbols");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(documents.size() == o.documents.size(), "prepare",
                       "--documents: expected three numbers, of train, valid and test, such as "
                       "2048,128,512, got ",
                       joined(documents, ","));
  std::copy(documents.begin(), documents.end(), o.documents.begin());
  require<ConfigError>(!has_copies || o.copies.probability > 0, "prepare",
                       "--copy: expected a probability above 0, got ", o.copies.probability,
                       "; without copies it is `prepare synthetic topic`");
  o.output = output;

  const cli::StopSignals signals;
  data::Manifest manifest;
  {
    cli::Progress progress = cli::Progress::on_stderr();
    manifest = data::synthesize(o, [&](const data::SynthesisProgress& p) {
      if (cli::stop_requested()) fail<Error>("prepare", "stopped on request; nothing was written");
      progress.update(p.documents, p.documents_total,
                      concat("made ", p.documents, " of ", p.documents_total, " documents"),
                      /*keep=*/false);
    });
  }
  cli::Printout page(out, "prepare synthetic " + task, json);
  print_splits(manifest, page);
  page.fact("corpus", output);
  page.fact("hash", manifest.hash());
  page.fact("floor, nats per symbol", cli::fixed_cell(*manifest.floor, 4));
  page.text() << "floor of test " << fixed(*manifest.floor, 4) << " nats per symbol, perplexity "
              << fixed(std::exp(*manifest.floor), 3)
              << ": the cross-entropy of an ideal predictor, which knows how documents are drawn\n"
              << cli::printable(output) << ": corpus written" << cli::hash_remark(manifest.hash())
              << std::endl;
  page.finish();
  return cli::kDone;
}

int topic(int argc, const char* const* argv, std::ostream& out) {
  return make("topic", kTopic, argc, argv, out);
}

int induction(int argc, const char* const* argv, std::ostream& out) {
  return make("induction", kInduction, argc, argv, out);
}

}  // namespace

int prepare_synthetic(int argc, const char* const* argv, std::ostream& out) {
  return cli::run_command(
      "prepare synthetic", "Makes a corpus that needs no text: documents of symbols.",
      {{"induction", "each document has its own distribution of symbols, and repeats itself",
        induction},
       {"topic", "each document has its own distribution of symbols", topic}},
      argc, argv, out);
}

}  // namespace farfield::prepare
