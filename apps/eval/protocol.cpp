#include "apps/eval/protocol.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/markdown.h"
#include "engine/base/text.h"

namespace farfield::eval {

namespace {

constexpr int64_t kMostDraws = 1'000'000;

// Null if this build does not have it.
const Protocol* find_protocol(const std::string& name) {
  for (const Protocol& protocol : protocols())
    if (protocol.name == name) return &protocol;
  return nullptr;
}

}  // namespace

std::vector<Protocol> protocol_rows();  // made by CMake, of the files in protocols/

const std::vector<Protocol>& protocols() {
  static const std::vector<Protocol> all = [] {
    std::vector<Protocol> rows = protocol_rows();
    std::sort(rows.begin(), rows.end(),
              [](const Protocol& a, const Protocol& b) { return a.place < b.place; });
    return rows;
  }();
  return all;
}

const Protocol& protocol_named(const std::string& name) {
  std::vector<std::string> names;
  std::vector<Synonym> synonyms;
  for (const Protocol& protocol : protocols()) {
    if (protocol.name == name) return protocol;
    names.push_back(protocol.name);
    for (const std::string& word : protocol.synonyms) synonyms.push_back({word, protocol.name});
  }
  refuse_word("protocol", name, names, synonyms);
}

const Protocol* protocol_of(const ProtocolResult& result) { return find_protocol(result.protocol); }

std::string length_unit_of(const std::string& protocol) {
  const Protocol* const found = find_protocol(protocol);
  return found == nullptr || found->length_unit.empty() ? "tokens" : found->length_unit;
}

std::string length_name(const std::string& protocol, int64_t length) {
  const bool has_length = length > 0 || length_unit_of(protocol) != "tokens";
  return has_length ? std::to_string(length) : "";
}

std::string conventions_of(const ProtocolResult& of, int64_t length) {
  const Protocol* const protocol = protocol_of(of);
  return protocol == nullptr || protocol->conventions == nullptr
             ? ""
             : protocol->conventions(of, length);
}

std::string protocols_text() {
  std::string text;
  for (const Protocol& protocol : protocols())
    text += concat(protocol.name, ": ", protocol.help, "\n    ", protocol.source,
                   protocol.has_lengths ? "; at each of --lengths" : "",
                   protocol.has_text || protocol.needs_tokenizer ? "" : "; reads no text", '\n');
  return text;
}

std::string protocols_markdown() {
  std::string text = markdown_head({"`--protocol`", "measures", "source"});
  for (const Protocol& protocol : protocols())
    text += markdown_row({markdown_code(protocol.name), protocol.help, protocol.source});
  return text;
}

double WorkSubject::tokens_of_rows(double n_row, int64_t n, int64_t scored) const {
  if (baseline.kind != Baseline::Kind::truncated) return n_row * static_cast<double>(n);
  return n_row * static_cast<double>(scored) * static_cast<double>(std::min(n, baseline.window));
}

double WorkSubject::n_chunks(int64_t size, int64_t length, int64_t most) const {
  return static_cast<double>(std::min(
      most, data::Grid::windows(std::max<int64_t>(0, size), document_tokens, length).size()));
}

void add_options(cli::Options& options, EvalOptions& eval) {
  options.group("Measurement")
      .add("protocol", eval.protocols, "NAME,...",
           "what to measure; --list explains each. "
           "Of encoders on masked text: masked")
      .add("baseline", eval.baselines, "NAME,...",
           "measure none (the model as it is), masked@W (no query sees more than the last W "
           "tokens, in any layer) and truncated@W (each token from a pass over the last W inputs "
           "alone) side by side")
      .add("lengths", eval.common.lengths, "N,...",
           "evaluation lengths in tokens; of a task its own measure (default there: the "
           "task's test lengths)")
      .add("allow-fewer", eval.common.allow_fewer, "accept fewer segments or chunks than asked for")
      .add("max-tokens", eval.common.max_tokens, "N",
           "where the whole text is read: only so many tokens from its beginning, 0: all")
      .add("batch-tokens", eval.common.batch_tokens, "N",
           "tokens of one forward pass; bounds the memory. 0: what half of the free memory holds, "
           "at most 16384")
      .add("draws", eval.common.draws, "N",
           "where positions are drawn at random: measure so often and report mean and spread");
  for (const Protocol& protocol : protocols())
    if (protocol.add_options != nullptr) protocol.add_options(options, eval);
}

void check(const EvalOptions& eval) {
  require<ConfigError>(!eval.protocols.empty(), "eval", "bad_argument: --protocol: expected one");
  require<ConfigError>(!eval.baselines.empty(), "eval", "bad_argument: --baseline: expected one");
  require<ConfigError>(eval.common.draws >= 1 && eval.common.draws <= kMostDraws, "eval",
                       "bad_argument: --draws: expected 1 to ", kMostDraws, ", got ",
                       eval.common.draws);
  for (const Protocol& protocol : protocols())
    if (protocol.check != nullptr) protocol.check(eval);
  for (const std::string& name : eval.protocols) {
    const Protocol& protocol = protocol_named(name);
    if (protocol.has_lengths) check_common(name, eval.common);
    for (const std::string& baseline : eval.baselines)
      require<ConfigError>(
          parse_baseline(baseline).kind != Baseline::Kind::truncated || !protocol.needs_model,
          concat("eval:", name), "bad_argument: expected a model to look inside, got ", baseline,
          ", which makes a pass of its own for each token; masked@W can be measured");
  }
}

}  // namespace farfield::eval
