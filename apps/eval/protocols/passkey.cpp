#include "apps/eval/protocols/passkey.h"

#include <algorithm>
#include <span>
#include <string>

#include "apps/eval/passkey_score.h"
#include "apps/eval/protocol.h"
#include "engine/base/error.h"
#include "layers/generate.h"
#include "layers/transformer.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "passkey";
constexpr std::string_view kWhere = "eval:passkey";
constexpr int64_t kAnswerTokens = 10;
constexpr int64_t kMostGarbage = 1'000'000;  // a mistyped number must not fill the memory

struct PasskeyPrompt {
  int64_t index = 0;
  data::PasskeyDraw draw;
  Scorer::Ids ids;
};

Scorer::Ids encoded(const TokenStream& text, const std::string& prompt) {
  Scorer::Ids ids;
  text.encode(prompt, ids);
  return ids;
}

// Refuses a run whose tokenizer loses a part of the prompts. The sample has all their characters.
void check_tokenizer(const Subject& subject) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr int64_t kWholeSentences = 100;
  const TokenStream& text = subject.text;
  require<ConfigError>(subject.model.task.empty(), kWhere,
                       "bad_argument: expected a run that was trained on text, got one that was "
                       "trained on ",
                       subject.model.task, "; --protocol task measures it");
  require<IoError>(static_cast<bool>(text.encode), kWhere,
                   "bad_token: expected a run whose tokenizer knows text, got one that knows "
                   "numbers alone; train --tokenizer names one");
  Scorer::Ids ids;
  try {
    ids = encoded(text,
                  concat(data::passkey_prompt(kWholeSentences, kWholeSentences, 1), ' ', kDigits));
  } catch (const IoError& error) {
    fail<IoError>(kWhere, "bad_token: expected a tokenizer that can read the prompt, got: ",
                  without_brackets(error.what()));
  }
  for (const int32_t id : ids)
    require<IoError>(id >= 0 && id < subject.model.scorer.vocab_size, kWhere,
                     "bad_token: expected ids below ", subject.model.scorer.vocab_size, ", got ",
                     id, " in the prompt");
  const std::string read = text.decode(ids);
  require<IoError>(read.find(kDigits) != std::string::npos, kWhere,
                   "bad_token: expected a tokenizer that keeps the digits of a key, got '",
                   shown_text(read.substr(read.size() - std::min<size_t>(read.size(), 24))),
                   "' for '", kDigits, "'; bytes and bpe keep them");
}

// The prompts of one amount of garbage, the shortest first.
std::vector<PasskeyPrompt> prompts_of(const TokenStream& text, const PasskeyOptions& own,
                                      int64_t n_garbage) {
  std::vector<PasskeyPrompt> prompts;
  for (int64_t i = 0; i < own.prompts; ++i) {
    const data::PasskeyDraw draw = data::draw_passkey(own.seed, n_garbage, i);
    prompts.push_back(
        {i, draw, encoded(text, data::passkey_prompt(n_garbage, draw.n_before, draw.key))});
  }
  std::stable_sort(prompts.begin(), prompts.end(),
                   [](const auto& a, const auto& b) { return a.ids.size() < b.ids.size(); });
  return prompts;
}

// The text of generated tokens, up to the end of the document.
std::string answer_text(const TokenStream& text, const std::vector<int32_t>& tokens) {
  const auto end = text.end_of_document < 0
                       ? tokens.end()
                       : std::find(tokens.begin(), tokens.end(), text.end_of_document);
  return text.decode(std::vector<int32_t>(tokens.begin(), end));
}

// Calls batch(first, n) for the prompts, which are in order of their size: each batch has prompts
// of one size.
template <class F>
void in_batches_of_one_size(const std::vector<PasskeyPrompt>& prompts, const CommonOptions& common,
                            const F& batch) {
  for (size_t begin = 0; begin < prompts.size();) {
    const size_t size = prompts[begin].ids.size();
    size_t end = begin;
    while (end < prompts.size() && prompts[end].ids.size() == size) ++end;
    in_batches(static_cast<int64_t>(end - begin), static_cast<int64_t>(size) + kAnswerTokens,
               common, [&](int64_t first, int64_t n) {
                 batch(begin + static_cast<size_t>(first), static_cast<size_t>(n));
               });
    begin = end;
  }
}

// Continues n prompts of one size from `first` on.
Generated continued(const Subject& subject, const std::vector<PasskeyPrompt>& prompts, size_t first,
                    size_t n) {
  const Transformer& model = *subject.model.transformer;
  const auto n_prompt = static_cast<int64_t>(prompts[first].ids.size());
  const auto n_row = static_cast<int64_t>(n);
  Scorer::Ids ids;
  for (size_t i = first; i < first + n; ++i)
    ids.insert(ids.end(), prompts[i].ids.begin(), prompts[i].ids.end());
  GenerateOptions options;
  options.n_new = kAnswerTokens;
  options.n_context = n_prompt + kAnswerTokens;  // all: fresh passes where a cache is impossible
  options.first_sequence = first;
  options.n_token = std::min(subject.text.n_vocab, model.config().vocab_size);
  options.draw = subject.model.transformer_draw();
  options.on_tokens = [&](std::span<const int32_t> next) {
    subject.session.pass(static_cast<int64_t>(next.size()));
    return true;
  };
  subject.session.pass(n_row * n_prompt);
  return generate(model, tensor_of(ids, n_row, subject.model.device), options);
}

void measure_garbage(const Subject& subject, const CommonOptions& common, const PasskeyOptions& own,
                     LengthResult& to) {
  const std::vector<PasskeyPrompt> prompts = prompts_of(subject.text, own, to.length);
  PasskeyScore score(to.length);
  std::string uncached, sample;
  double n_token = 0;
  try {
    in_batches_of_one_size(prompts, common, [&](size_t first, size_t n) {
      const Generated made = continued(subject, prompts, first, n);
      uncached = made.uncached;
      for (size_t i = 0; i < n; ++i) {
        const PasskeyPrompt& prompt = prompts[first + i];
        const std::string text = answer_text(subject.text, made.tokens[i]);
        score.add(prompt.draw, text);
        n_token += static_cast<double>(prompt.ids.size());
        if (prompt.index == 0)
          sample = concat("the key ", prompt.draw.key, ": \"", shown_text(text), '"');
      }
    });
  } catch (const NonfiniteLogits& error) {
    note_nonfinite(
        to, kProtocol, error.score,
        concat("the token at position ", error.position, " after prompt ",
               prompts.at(error.sequence).index, " of ", to.length, " characters of garbage"));
    return;
  }
  to.quantities = score.quantities();
  to.quantities.push_back({"prompt_tokens", n_token / static_cast<double>(score.n_prompts())});
  if (Series by_place = score.by_place(); !by_place.x.empty())
    to.series.push_back(std::move(by_place));
  to.notes.push_back(sample);
  if (!uncached.empty())
    to.notes.push_back("a fresh pass for each token, since they cannot be cached: " + uncached);
}

}  // namespace

void add_options(cli::Options& options, PasskeyOptions& own) {
  options.group("Pass keys in text")
      .add("garbage", own.garbage, "N,...", "characters of garbage around the key")
      .add("passkey-prompts", own.prompts, "N", "prompts of each amount of garbage")
      .add("passkey-seed", own.seed, "N", "seed of the prompts, the same for every run");
}

void check(const PasskeyOptions& own) {
  require<ConfigError>(!own.garbage.empty(), kWhere,
                       "bad_argument: expected characters of garbage, got none");
  for (const int64_t n : own.garbage)
    require<ConfigError>(n >= 0 && n <= kMostGarbage, kWhere,
                         "bad_argument: expected garbage from 0 to ", kMostGarbage,
                         " characters, got ", n);
  check_positive(kProtocol, "passkey-prompts", own.prompts);
}

ProtocolResult measure_passkey(const Subject& subject, const CommonOptions& common,
                               const PasskeyOptions& own) {
  check_tokenizer(subject);
  subject.model.inside(kProtocol);
  ProtocolResult result;
  result.protocol = kProtocol;
  result.parameters = concat("prompts=", own.prompts, " seed=", own.seed, " new=", kAnswerTokens);
  measure_lengths(result, subject, own.garbage,
                  [&](LengthResult& to) { measure_garbage(subject, common, own, to); });
  return result;
}

Protocol passkey_row() {
  return {
      .place = 15,
      .name = std::string(kProtocol),
      .help =
          "the share of pass keys, numbers hidden in --garbage characters of text, that a model of "
          "text repeats when it is asked",
      .source = "Landmark Attention (arXiv:2305.16300)",
      .synonyms = {"pass-key", "retrieval", "needle", "niah"},
      .needs_model = true,
      .needs_tokenizer = true,
      .length_unit = "characters of garbage",
      .lengths = [](const EvalOptions& eval) { return eval.own<PasskeyOptions>().garbage; },
      .mapped_series = "accuracy",
      .amounts = {{"passkey-prompts", Amount::cached_predictions}},
      .add_options = add_own<PasskeyOptions>,
      .check = check_own<PasskeyOptions>,
      .run =
          [](const Subject& subject, const EvalOptions& eval) {
            return measure_passkey(subject, eval.common, eval.own<PasskeyOptions>());
          },
      .work =
          [](const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
            const auto n_bare =
                static_cast<int64_t>(data::passkey_prompt(0, 0, data::kMostPasskey).size());
            return static_cast<double>(eval.own<PasskeyOptions>().prompts) *
                   (static_cast<double>(n_bare + length) / subject.token_characters +
                    static_cast<double>(kAnswerTokens));
          },
      .conventions = [](const ProtocolResult&, int64_t) -> std::string {
        return "length: characters of garbage in a prompt";
      }};
}

}  // namespace farfield::eval
