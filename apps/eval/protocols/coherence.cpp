#include "apps/eval/protocols/coherence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "apps/analysis/coherence.h"
#include "apps/analysis/curve.h"
#include "apps/analysis/spread.h"
#include "apps/eval/protocol.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/sequences.h"
#include "apps/eval/truncated.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/generate.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "coherence";
constexpr double kPromptLength = 1.37;  // of train_len: 2800 of 2048
constexpr double kTemperature = 0.8;
constexpr double kRegions[] = {0.75, 1, 1.25, 1.5, 2, 3, 4};  // bounds, in training lengths
constexpr int64_t kCurve = 4;                                 // training lengths of the curve
constexpr int64_t kMostNew = int64_t{1} << 22;                // far beyond the size of a cache
constexpr int64_t kReferenceShare = 32;  // of a training length: 16 positions of 512

std::vector<double> positions(size_t n, double first) {
  std::vector<double> x(n);
  std::iota(x.begin(), x.end(), first);
  return x;
}

// The mean perplexity of positions from `begin` to `end` training lengths.
double region_perplexity(const std::vector<double>& mean_nll, int64_t train_len, double begin,
                         double end) {
  const auto at = [&](double share) {
    return mean_nll.begin() + std::lround(share * static_cast<double>(train_len));
  };
  return std::exp(analysis::mean_of(std::vector<double>(at(begin), at(end))));
}

// The positions around the training length that the reference is a mean over.
int64_t reference_positions(int64_t train_len) {
  return std::max(analysis::kPositionsAt, 2 * (train_len / (2 * kReferenceShare)));
}

void add_curve(const std::vector<std::vector<double>>& nll, const Subject& subject,
               const std::vector<int64_t>& starts, LengthResult& to) {
  const int64_t train_len = subject.model.train_len;
  const int64_t n_reference = reference_positions(train_len);
  const TokenSet tokens = tokens_at(starts, train_len, n_reference);
  const analysis::PositionCurve curve = analysis::position_curve(nll);
  const std::vector<double> smooth = analysis::perplexities_of(
      analysis::smoothed(curve.mean_nll, std::max<int64_t>(1, train_len / 16)));
  const double reference = analysis::perplexity_at(curve.mean_nll, train_len, n_reference);
  const analysis::Coherence found = analysis::coherence(smooth, reference, train_len);
  to.quantities = {{"perplexity_at_train_len", reference},
                   {"coherent_share", found.share},
                   {"coherent_share_beyond", found.share_beyond},
                   {"breakdown_position",
                    found.breakdown ? static_cast<double>(*found.breakdown) : INFINITY,
                    {},
                    found.breakdown ? "" : "none"},
                   {"scored_tokens_at_train_len", static_cast<double>(tokens.size())}};
  for (size_t i = 0; i + 1 < std::size(kRegions); ++i)
    to.quantities.push_back(
        {concat("perplexity_", shortest(kRegions[i]), "_to_", shortest(kRegions[i + 1])),
         region_perplexity(curve.mean_nll, train_len, kRegions[i], kRegions[i + 1])});
  if (const double bytes = tokens.bytes_per_token(subject.text); bytes > 0)
    to.quantities.push_back(
        {"bits_per_byte_at_train_len", analysis::bits_per_byte_of(std::log(reference), bytes)});
  const analysis::Band band = analysis::confidence_band(curve);
  const std::vector<double> x = positions(smooth.size(), 1);
  const std::vector<double> by_residue = analysis::perplexity_by_residue(curve.mean_nll, train_len);
  const char* const axis = "position (tokens)";
  to.series = {
      {"perplexity", axis, x, analysis::perplexities_of(curve.mean_nll), band.low, band.high},
      {"smoothed perplexity", axis, x, smooth, {}, {}},
      {"perplexity by residue",
       "position modulo the training length (tokens)",
       positions(by_residue.size(), 0),
       by_residue,
       {},
       {}}};
}

struct Prompts {
  std::vector<int64_t> starts;
  int64_t n = 0;    // tokens of each
  Scorer::Ids ids;  // [prompt, n]

  std::string name(uint64_t i) const {
    return concat("prompt ", i, " (from token ", starts.at(i), ")");
  }
};

// The new tokens of each prompt.
std::vector<std::vector<int32_t>> continuations(const Subject& subject, const CommonOptions& common,
                                                const Prompts& prompts, int64_t n_new,
                                                double temperature) {
  GenerateOptions options;
  options.n_new = n_new;
  options.temperature = temperature;
  options.seed = subject.model.seed;
  options.n_token = std::min(subject.text.n_vocab, subject.model.transformer->config().vocab_size);
  options.draw = subject.model.transformer_draw();
  options.on_tokens = [&](std::span<const int32_t> next) {
    subject.session.pass(static_cast<int64_t>(next.size()));
    return true;
  };
  std::vector<std::vector<int32_t>> all;
  in_batches(static_cast<int64_t>(prompts.starts.size()), prompts.n + n_new, common,
             [&](int64_t first, int64_t batch) {
               const std::span<const int32_t> rows(prompts.ids.data() + first * prompts.n,
                                                   static_cast<size_t>(batch * prompts.n));
               options.first_sequence = static_cast<uint64_t>(first);
               const Generated made =
                   generate(*subject.model.transformer,
                            Tensor::from(rows, {batch, prompts.n}, subject.model.device), options);
               all.insert(all.end(), made.tokens.begin(), made.tokens.end());
             });
  return all;
}

// The nll of the new tokens after a prompt. A pass over train_len tokens predicts its last
// `stride`.
std::vector<double> reread(const Subject& subject, const CommonOptions& common,
                           const int32_t* prompt, int64_t n_prompt,
                           const std::vector<int32_t>& fresh, int64_t stride) {
  const int64_t n = subject.model.train_len;
  Scorer::Ids ids(prompt + n_prompt - n, prompt + n_prompt);
  ids.insert(ids.end(), fresh.begin(), fresh.end() - 1);
  if (stride == 1)
    return truncated(subject.model.scorer, n, common.batch_tokens).score(ids, fresh, 1);
  std::vector<double> nll;
  const auto n_new = static_cast<int64_t>(fresh.size());
  for (int64_t first = 0; first < n_new; first += stride) {
    const int64_t end = std::min(first + stride, n_new);
    const std::vector<double> got =
        subject.model.scorer.score({ids.begin() + end - 1, ids.begin() + end - 1 + n},
                                   {fresh.begin() + first, fresh.begin() + end}, 1);
    nll.insert(nll.end(), got.begin(), got.end());
  }
  return nll;
}

// Continues the prompts and adds the quantities of the new text. False if the cell has failed.
bool add_generated(const Subject& subject, const CommonOptions& common, const Prompts& prompts,
                   const CoherenceOptions& own, double temperature, const std::string& name,
                   LengthResult& to) {
  std::vector<std::vector<int32_t>> texts;
  try {
    texts = continuations(subject, common, prompts, own.n_new, temperature);
  } catch (const NonfiniteLogits& error) {
    return !note_nonfinite(to, kProtocol, error.score,
                           concat("the ", name, " token at position ", error.position, " after ",
                                  prompts.name(error.sequence)));
  }
  std::vector<double> nll, distinct, cycle;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<double> all =
        reread(subject, common, prompts.ids.data() + static_cast<int64_t>(i) * prompts.n, prompts.n,
               texts[i], own.reread_stride);
    for (size_t t = 0; t < all.size(); ++t)
      if (note_nonfinite(
              to, kProtocol, all[t],
              concat("the ", name, " token at position ", prompts.n + static_cast<int64_t>(t),
                     " after ", prompts.name(i), ", read again")))
        return false;
    nll.push_back(analysis::mean_of(all));
    distinct.push_back(analysis::distinct_share(texts[i]));
    cycle.push_back(analysis::cycle_share(texts[i]));
  }
  to.quantities.push_back({name + "_nll", analysis::mean_of(nll)});
  to.quantities.push_back({name + "_distinct_4", analysis::mean_of(distinct)});
  to.quantities.push_back({name + "_cycle_share", analysis::mean_of(cycle)});
  if (subject.text.decode)
    to.notes.push_back(concat(name, ": \"", shown_text(subject.text.decode(texts.front())), '"'));
  return true;
}

std::string reread_text(int64_t stride, int64_t train_len) {
  return stride == 1 ? concat("each after ", train_len)
                     : concat(stride, " after ", train_len - stride + 1, "..", train_len);
}

}  // namespace

void add_options(cli::Options& options, CoherenceOptions& own) {
  options.group("Coherence beyond the training length")
      .add("coherence-sequences", own.sequences, "N",
           "sequences of 4 training lengths that the curve is a mean over")
      .add("prompts", own.prompts, "N", "texts of 1.37 training lengths that are continued")
      .add("new-tokens", own.n_new, "N", "tokens of a continuation")
      .add("reread-stride", own.reread_stride, "N",
           "tokens of a continuation that one pass over a training length reads again; with more "
           "than one, the first of them have fewer tokens before them, by up to N - 1");
}

void check(const CoherenceOptions& own) {
  check_positive(kProtocol, "coherence-sequences", own.sequences);
  check_positive(kProtocol, "prompts", own.prompts);
  require<ConfigError>(own.n_new >= 4 && own.n_new <= kMostNew, "eval:coherence",
                       "bad_argument: expected new-tokens from 4, which 4-grams need, to ",
                       kMostNew, ", got ", own.n_new);
  check_positive(kProtocol, "reread-stride", own.reread_stride);
}

ProtocolResult measure_coherence(const Subject& subject, const CommonOptions& common,
                                 const CoherenceOptions& own) {
  const int64_t train_len = subject.model.train_len, length = kCurve * train_len;
  require<ConfigError>(train_len >= 8, "eval:coherence",
                       "bad_argument: expected a training length from 8 on, got ", train_len,
                       "; perplexity there is a mean over the 16 positions around it");
  require<ConfigError>(own.reread_stride <= train_len, "eval:coherence",
                       "bad_argument: expected a reread-stride up to the training length of ",
                       train_len, ", got ", own.reread_stride);
  Prompts prompts;
  prompts.n = static_cast<int64_t>(std::lround(kPromptLength * static_cast<double>(train_len)));
  ProtocolResult result;
  result.protocol = kProtocol;
  result.starts = draw_segments(kProtocol, subject.text, length + 1, own.sequences,
                                subject.model.seed, common.allow_fewer);
  prompts.starts = draw_segments(kProtocol, subject.text, prompts.n, own.prompts,
                                 subject.model.seed, common.allow_fewer);
  result.parameters = concat(
      "sequences=", result.starts.size(), " positions=", length, " prompts=", prompts.starts.size(),
      " of ", prompts.n, " new=", own.n_new, " temperature=", kTemperature,
      " reread=", reread_text(own.reread_stride, train_len), documents_text(subject.text));
  prompts.ids.resize(prompts.starts.size() * static_cast<size_t>(prompts.n));
  for (size_t i = 0; i < prompts.starts.size(); ++i)
    read_tokens(kProtocol, subject.text, subject.model.scorer.vocab_size, prompts.starts[i],
                prompts.n, prompts.ids.data() + static_cast<int64_t>(i) * prompts.n);
  TokenSet predicted;
  for (const int64_t start : result.starts) {
    check_tokens(kProtocol, subject.text, subject.model.scorer.vocab_size, start, length + 1);
    predicted.add(start + 1, length);
  }

  measure_lengths(result, subject, {0}, [&](LengthResult& to) {
    set_predicted(to, predicted, subject.text);
    const auto nll = score_sequences(kProtocol, subject, common, result.starts, length, to);
    if (!to.failure.empty()) return;
    add_curve(nll, subject, result.starts, to);
    if (subject.model.transformer == nullptr) return;
    if (add_generated(subject, common, prompts, own, 0, "greedy", to))
      add_generated(subject, common, prompts, own, kTemperature, "sampled", to);
  });
  return result;
}

Protocol coherence_row() {
  return {.place = 12,
          .name = std::string(kProtocol),
          .help =
              "how far beyond the training length perplexity holds, and whether text that the "
              "model continues does",
          .source = "Extending Context is Hard (2023)",
          .has_text = true,
          .needs_model = true,
          .add_options = add_own<CoherenceOptions>,
          .check = check_own<CoherenceOptions>,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return measure_coherence(subject, eval.common, eval.own<CoherenceOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject& subject, int64_t) {
                const auto& own = eval.own<CoherenceOptions>();
                const double n_new =  // greedy, sampled
                    2.0 * static_cast<double>(own.prompts) * static_cast<double>(own.n_new);
                const auto train_len = static_cast<double>(subject.train_len);
                const double prompts =
                    2.0 * static_cast<double>(own.prompts) * kPromptLength * train_len;
                return static_cast<double>(own.sequences) * kCurve * train_len + prompts + n_new +
                       n_new * train_len / static_cast<double>(own.reread_stride);
              },
          .n_train_len = kCurve};
}

}  // namespace farfield::eval
