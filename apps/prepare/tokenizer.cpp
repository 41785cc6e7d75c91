#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <numeric>
#include <utility>

#include "apps/cli/commands.h"
#include "apps/cli/duration.h"
#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/printout.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/cli/verbose.h"
#include "apps/prepare/program.h"
#include "apps/prepare/source_report.h"
#include "apps/prepare/text_options.h"
#include "data/tokenizers/bpe.h"
#include "data/tokenizers/train.h"
#include "data/tokenizers/words.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/temporary.h"
#include "engine/base/text.h"

namespace farfield::prepare {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "prepare";
constexpr size_t kLongestShown = 8;

data::TokenizerKind parse_kind(const std::string& name) {
  require<ConfigError>(name == "bpe" || name == "words", kWhere,
                       "--kind: expected bpe or words, got '", name, "'",
                       did_you_mean(name, {"bpe", "words"}));
  return name == "bpe" ? data::TokenizerKind::bpe : data::TokenizerKind::words;
}

void check_output(const fs::path& output, bool force) {
  require<ConfigError>(!output.empty(), kWhere,
                       "expected a file for the tokenizer; name it with --output");
  require<ConfigError>(!is_folder(output), kWhere, output.string(),
                       ": expected a file for the tokenizer, got a folder; choose another "
                       "--output");
  require<ConfigError>(
      force || !is_there(output), kWhere, output.string(),
      ": expected a new file for the tokenizer, got an existing one; --force replaces it");
  remove_leftovers(output);
  require_writable_file(output);
}

// Shows the progress of training.
class Watch {
 public:
  void operator()(const data::TrainingProgress& p) {
    if (cli::stop_requested()) fail<Error>(kWhere, "stopped on request; nothing was written");
    if (p.tokens_wanted > 0) {
      merging_.update(p.tokens, p.tokens_wanted,
                      concat("learned ", p.tokens, " of ", p.tokens_wanted, " tokens"),
                      /*keep=*/false);
      return;
    }
    const double seconds = seconds_since(begin_);
    const bool is_known = p.bytes_total > 0;  // not of a pipe
    reading_.update(is_known ? p.bytes_read : 0, is_known ? p.bytes_total : 1,
                    concat("read ", megabytes(static_cast<double>(p.bytes_read)),
                           is_known ? " of " + megabytes(static_cast<double>(p.bytes_total)) : "",
                           ", ", p.documents, " documents, ",
                           megabytes(static_cast<double>(p.text_bytes) / std::max(seconds, 1e-3)),
                           " of text/s"),
                    /*keep=*/false);
  }

 private:
  cli::Progress reading_ = cli::Progress::on_stderr(), merging_ = cli::Progress::on_stderr();
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

const std::vector<std::string>& tokens_of(const data::Tokenizer& tokenizer) {
  static const std::vector<std::string> none;
  if (const auto* bpe = dynamic_cast<const data::BpeTokenizer*>(&tokenizer))
    return bpe->definition().tokens;
  if (const auto* words = dynamic_cast<const data::WordsTokenizer*>(&tokenizer))
    return words->words();
  return none;
}

// A token as JSON has it, so that blanks can be seen.
std::string shown(std::string_view token) {
  std::string text = "\"";
  for (const char c : token) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n')
      text += "\\n";
    else if (c == '\t')
      text += "\\t";
    else
      text += c;
  }
  return cli::printable(text + '"');
}

void print_longest(const data::Tokenizer& tokenizer, std::ostream& out) {
  const std::vector<std::string>& tokens = tokens_of(tokenizer);
  std::vector<size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t n = std::min(kLongestShown, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
      [&](size_t a, size_t b) {
        return tokens[a].size() != tokens[b].size() ? tokens[a].size() > tokens[b].size() : a < b;
      });
  out << "longest tokens:";
  for (size_t i = 0; i < n; ++i) out << ' ' << shown(tokens[order[i]]);
  out << '\n';
}

int train(int argc, const char* const* argv, std::ostream& out) {
  data::TokenizerTraining training;
  TextOptions text;
  std::string output, kind = "bpe";
  std::optional<int64_t> vocab_size;
  std::vector<std::string> special;
  bool is_nfc = false, force = false;
  cli::Options options("prepare tokenizer train",
                       "Learns a tokenizer from text and writes it as tokenizer.json, which "
                       "--tokenizer and Hugging Face's tokenizers read.");
  text.add_to(options);
  options.group("Tokenizer")
      .add("output", output, "FILE", "the tokenizer.json to write")
      .add("kind", kind, "KIND",
           "bpe: byte-level BPE, as in GPT-2; words: a token for each word between white space and "
           "for each line end")
      .add("vocab-size", vocab_size, "N",
           "number of tokens, special tokens included (default: 8192 for bpe, all words for words)")
      .add_paths("special", special, "TOKEN",
                 "another special token; its id is before that of <|endoftext|>. May be given more "
                 "than once")
      .add("nfc", is_nfc, "with bpe: first normalize the text to Unicode NFC")
      .add("force", force, "replace an existing file");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  training.source = text.source();
  training.source.output = output;
  training.kind = parse_kind(kind);
  const bool is_bpe = training.kind == data::TokenizerKind::bpe;
  require<ConfigError>(is_bpe || (special.empty() && !is_nfc), kWhere,
                       "--special and --nfc are for --kind bpe, got --kind ", kind);
  training.vocabulary = {vocab_size.value_or(is_bpe ? 8192 : 0), special,
                         is_nfc ? data::Normalizer::nfc : data::Normalizer::none};
  check_output(output, force);

  const cli::StopSignals signals;
  const auto begin = std::chrono::steady_clock::now();
  data::TrainedTokenizer trained;
  {
    Watch watch;
    trained = data::train_tokenizer(training, std::ref(watch));
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  write_file_atomic(output, trained.tokenizer->file());

  print_skipped(trained.skipped, training.source.jsonl, "", out);
  print_unread(trained.sources, cli::remarks());
  out << "read " << trained.documents << " documents, "
      << megabytes(static_cast<double>(trained.text_bytes)) << ", " << trained.n_pieces
      << " different " << (is_bpe ? "pieces" : "words") << '\n';
  if (trained.dropped > 0)
    std::cerr << "warning: dropped " << trained.dropped
              << " rare ones on the way, to keep memory bounded; counts of rare ones are too low\n";
  if (!trained.stopped.empty())
    out << "stopped early, with fewer tokens than --vocab-size: " << trained.stopped << '\n';
  out << "vocabulary " << trained.tokenizer->n_vocab() << ", "
      << fixed(static_cast<double>(trained.text_bytes) / static_cast<double>(trained.n_tokens), 3)
      << " bytes per token of the input\n";
  print_longest(*trained.tokenizer, out);
  out << cli::printable(output) << ": tokenizer written in " << cli::duration(time.count())
      << cli::hash_remark(trained.tokenizer->hash()) << std::endl;
  return cli::kDone;
}

const char* name_of(data::Pattern pattern) {
  switch (pattern) {
    case data::Pattern::none:
      return "none";
    case data::Pattern::gpt2:
      return "gpt2";
    case data::Pattern::cl100k_base:
      return "cl100k_base";
    case data::Pattern::cl100k_lines:
      return "cl100k_base, as tokenizer.json has it";
    case data::Pattern::qwen2:
      return "qwen2";
    case data::Pattern::gpt2_digits:
      return "gpt2, between single digits";
    case data::Pattern::bloom:
      return "bloom";
    case data::Pattern::blanks:
    case data::Pattern::blank_runs:
      return "blanks";
  }
  return "";
}

const char* kind_of(const data::BpeDefinition& d) {
  if (d.alphabet == data::Alphabet::bytes) return "byte-level BPE";
  return d.falls_back_to_bytes ? "BPE of characters, or else of bytes" : "BPE of characters";
}

// Where a blank is put that the text does not have.
const char* blank_remark(const data::BpeDefinition& d) {
  if (d.add_prefix_space) return ", with a blank in front";
  switch (d.blanks.in_front) {
    case data::BlankInFront::never:
      break;
    case data::BlankInFront::first:
      return ", with a blank in front of the text";
    case data::BlankInFront::always:
      return ", with a blank in front of each part between special tokens";
  }
  return "";
}

int show(int argc, const char* const* argv, std::ostream& to) {
  std::string path, text;
  bool json = false;
  data::TokenizerOptions reading;
  cli::Options options("prepare tokenizer show",
                       "Describes a tokenizer: kind, vocabulary, special tokens, hash.");
  options.group("Tokenizer")
      .add_positional("tokenizer", path, "name or path, as --tokenizer takes it")
      .add("text", text, "TEXT", "also print the tokens of this text: id and bytes")
      .add("special-as-text", reading.special_as_text,
           "read names of special tokens as ordinary text")
      .add("end-of-text", reading.end_of_text, "TOKEN",
           "the token that ends a document (default: from the tokenizer)")
      .add("tokenizer-pattern", reading.pattern, "NAME",
           "with a tiktoken rank file: how text is cut into words, gpt2 or cl100k_base");
  add_json_option(options, json);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  require<ConfigError>(!path.empty(), kWhere, "expected a tokenizer to show, got none");
  const data::TokenizerPtr tokenizer = data::make_tokenizer(path, reading);

  cli::Printout page(to, "prepare tokenizer show", json);
  std::ostream& out = page.text();
  page.fact("name", tokenizer->name());
  page.fact("vocabulary", tokenizer->n_vocab());
  page.fact("hash", tokenizer->hash());
  const auto* bpe = dynamic_cast<const data::BpeTokenizer*>(tokenizer.get());
  const bool is_words = dynamic_cast<const data::WordsTokenizer*>(tokenizer.get()) != nullptr;
  out << "kind        "
      << (bpe != nullptr           ? kind_of(bpe->definition())
          : is_words               ? "words"
          : !tokenizer->has_text() ? "numbers"
                                   : "bytes")
      << "\nname        " << cli::printable(tokenizer->name()) << "\nvocabulary  "
      << tokenizer->n_vocab() << "\nend of text ";
  if (tokenizer->end_of_document() == data::Tokenizer::kNone)
    out << "none\n";
  else
    out << tokenizer->end_of_document() << '\n';
  if (bpe != nullptr) {
    const data::BpeDefinition& d = bpe->definition();
    out << "merges      " << d.merges.size() << "\nnormalizer  "
        << (d.normalizer == data::Normalizer::nfc ? "NFC" : "none") << "\npattern     "
        << name_of(d.pattern) << blank_remark(d) << '\n';
    for (const auto& [said, ids] : {std::pair("before text ", tokenizer->begin_of_text()),
                                    std::pair("behind text ", tokenizer->end_of_text())})
      if (!ids.empty()) out << said << joined(ids, " ") << '\n';
    if (d.unknown >= 0)
      out << "unknown     " << d.unknown
          << (d.fuses_unknown ? ", one for all bytes side by side that have no token\n"
                              : ", for each byte that has no token\n");
    for (const data::AddedToken& token : d.added)
      out << (token.is_special ? "special     " : "added       ") << token.id << ' '
          << shown(token.content) << '\n';
  }
  out << "hash        " << tokenizer->hash() << '\n';
  if (!text.empty()) {
    std::vector<int32_t> ids;
    tokenizer->encode(text, ids);
    cli::Table tokens = {"tokens", {"id", "text"}};
    for (const int32_t id : ids) tokens.rows.push_back({id, tokenizer->decode_within({&id, 1})});
    page.add_for_programs(tokens);
    if (!page.is_json()) out << '\n';
    for (const int32_t id : ids)
      if (!page.is_json()) out << id << ' ' << shown(tokenizer->decode_within({&id, 1})) << '\n';
  }
  page.finish();
  return cli::kDone;
}

}  // namespace

int prepare_tokenizer(int argc, const char* const* argv, std::ostream& out) {
  return cli::run_command("prepare tokenizer", "Learns tokenizers from text, and describes them.",
                          {{"show", "describes a tokenizer, and shows the tokens of a text", show},
                           {"train", "learns a tokenizer from text", train}},
                          argc, argv, out);
}

}  // namespace farfield::prepare
