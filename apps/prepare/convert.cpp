#include "data/convert.h"

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/printout.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/cli/verbose.h"
#include "apps/prepare/program.h"
#include "apps/prepare/splits_table.h"
#include "data/document_split.h"
#include "data/formats/writer.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::prepare {
namespace {

void print_summary(const data::Conversion& made, const data::ConvertOptions& o,
                   cli::Printout& page) {
  std::ostream& out = page.text();
  print_splits(made.counts, page);
  page.fact("corpus", o.output.string());
  out << "split " << made.split_rule << '\n';
  out << std::flush;
  for (const std::string& note : made.notes)
    cli::remarks() << "note: " << cli::printable(note) << '\n';
  out << cli::printable(o.output.string()) << ": " << o.format << " corpus written, from "
      << made.from << cli::hash_remark(data::corpus_hash(o.output)) << std::endl;
}

}  // namespace

int prepare_convert(int argc, const char* const* argv, std::ostream& out) {
  data::ConvertOptions o;
  std::string input, output;
  bool json = false;
  cli::Options options("prepare convert", "Puts a corpus into another format.");
  options.group("Corpus")
      .add_positional("input", input,
                      "a corpus made by prepare, a .bin/.idx pair of GPT-NeoX or Megatron (or its "
                      "prefix), a .bin file of nanoGPT or llm.c or a folder of these")
      .add("tokenizer", o.corpus.tokenizer, "NAME",
           "tokenizer of the corpus, if the corpus does not name one: bytes, or a path")
      .add("vocab-size", o.corpus.vocab_size, "N",
           "instead of --tokenizer, if that cannot be read: its number of token ids")
      .add("end-of-text", o.corpus.end_of_text, "TOKEN",
           "token that ends a document, if the tokenizer does not say; with --vocab-size its id")
      .add("data-type", o.corpus.id_type, "u16|u32",
           "how token ids are stored in nanoGPT's files, if there is no meta.json")
      .add("data-split", o.corpus.split, "A,B,C",
           concat("shares of train, valid and test of a corpus without splits (default ",
                  data::kDefaultSplit, ")"));
  options.group("Result")
      .add("to", o.format, "FORMAT", listed(data::writer_names(), " or "))
      .add("output", output, "PATH",
           "the folder to make; for megatron the prefix of the .bin/.idx pair")
      .add("force", o.force, "replace an existing corpus");
  add_json_option(options, json);
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!input.empty(), "prepare", "expected a corpus to convert, got none");
  require<ConfigError>(!o.format.empty(), "prepare", "expected --to ",
                       listed(data::writer_names(), " or "), ", got none");
  o.input = input;
  o.output = output;

  const cli::StopSignals signals;
  data::Conversion made;
  {
    cli::Progress progress = cli::Progress::on_stderr();
    made = data::convert(o, [&](const data::ConvertProgress& p) {
      if (cli::stop_requested()) fail<Error>("prepare", "stopped on request; nothing was written");
      progress.update(
          p.tokens, p.tokens_total,
          concat(p.tokens, " of ", p.tokens_total, " tokens, ", p.documents, " documents"),
          /*keep=*/false);
    });
  }
  cli::Printout page(out, "prepare convert", json);
  print_summary(made, o, page);
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::prepare
