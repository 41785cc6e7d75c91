#include "apps/protocols/coherence.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <span>

#include "apps/analysis/coherence.h"
#include "apps/analysis/curve.h"
#include "apps/analysis/spread.h"
#include "apps/protocols/last_token.h"
#include "apps/protocols/sequences.h"
#include "engine/base/error.h"
#include "layers/generate.h"

namespace farfield::apps {
namespace {

constexpr std::string_view kName = "coherence";
constexpr double kPromptLength = 1.37;  // of train_len: 2800 of 2048
constexpr double kTemperature = 0.8;

std::vector<double> positions(size_t n, double first) {
  std::vector<double> x(n);
  std::iota(x.begin(), x.end(), first);
  return x;
}

void add_curve(const std::vector<std::vector<double>>& nll, int64_t train_len, LengthResult& to) {
  const PositionCurve curve = position_curve(nll);
  const std::vector<double> smooth =
      perplexities_of(smoothed(curve.mean_nll, std::max<int64_t>(1, train_len / 16)));
  const double reference = perplexity_at(curve.mean_nll, train_len);
  const Coherence found = coherence(smooth, reference, train_len);
  to.quantities = {
      {"perplexity_at_train_len", reference},
      {"coherent_share", found.share},
      {"coherent_share_beyond", found.share_beyond},
      {"breakdown_position", found.breakdown ? static_cast<double>(*found.breakdown) : INFINITY}};
  const Band band = confidence_band(curve);
  const std::vector<double> x = positions(smooth.size(), 1);
  const std::vector<double> by_residue = perplexity_by_residue(curve.mean_nll, train_len);
  const char* const axis = "position (tokens)";
  to.series = {{"perplexity", axis, x, perplexities_of(curve.mean_nll), band.low, band.high},
               {"smoothed perplexity", axis, x, smooth, {}, {}},
               {"perplexity by residue",
                "position modulo the training length (tokens)",
                positions(by_residue.size(), 0),
                by_residue,
                {},
                {}}};
}

// The mean nll of the tokens of a text from `first` on, by windows of n inputs.
double reread_nll(const Subject& subject, const std::vector<int32_t>& text, int64_t first,
                  int64_t n) {
  const auto size = static_cast<int64_t>(text.size());
  double sum = 0;
  for (int64_t begin = first; begin < size; begin += std::max<int64_t>(1, n / 8)) {
    const int64_t end = std::min(size, begin + std::max<int64_t>(1, n / 8));
    const auto last = text.begin() + end - 1;
    for (const double nll :
         subject.scorer.score({last - n, last}, {text.begin() + begin, text.begin() + end}, 1))
      sum += nll;
  }
  return sum / static_cast<double>(size - first);
}

// A few lines of text that a terminal can show.
std::string shown(const Subject& subject, const std::vector<int32_t>& ids) {
  constexpr size_t kMost = 240;
  std::string text = subject.text.decode(ids);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isspace(byte)) c = ' ';
    if (byte < 32 || byte >= 127) c = std::isspace(byte) ? ' ' : '?';
  }
  return text;
}

// Continues the prompts [N, n_prompt] and says how healthy that is.
void add_generated(const Subject& subject, const CommonOptions& common, const Scorer::Ids& prompts,
                   int64_t n_prompt, int64_t n_new, double temperature, const std::string& name,
                   LengthResult& to) {
  const int64_t n = static_cast<int64_t>(prompts.size()) / n_prompt;
  std::vector<double> nll, distinct, cycle;
  std::vector<int32_t> sample;
  in_batches(n, n_prompt + n_new, common, [&](int64_t first, int64_t batch) {
    const std::vector<int32_t> rows(prompts.begin() + first * n_prompt,
                                    prompts.begin() + (first + batch) * n_prompt);
    GenerateOptions options;
    options.n_new = n_new;
    options.temperature = temperature;
    options.seed = subject.seed;
    options.first_sequence = static_cast<uint64_t>(first);
    options.n_token = std::min(subject.text.n_vocab, subject.model->config().vocab_size);
    options.draw = subject.model_draw();
    options.on_tokens = [&](std::span<const int32_t> next) {
      if (subject.watch) subject.watch(static_cast<int64_t>(next.size()));
      return true;
    };
    const Generated made = generate(
        *subject.model,
        Tensor::from(std::span<const int32_t>(rows), {batch, n_prompt}, subject.device), options);
    for (int64_t i = 0; i < batch; ++i) {
      const std::vector<int32_t>& fresh = made.tokens[static_cast<size_t>(i)];
      std::vector<int32_t> text(rows.begin() + i * n_prompt, rows.begin() + (i + 1) * n_prompt);
      text.insert(text.end(), fresh.begin(), fresh.end());
      nll.push_back(reread_nll(subject, text, n_prompt, subject.train_len));
      distinct.push_back(distinct_share(fresh));
      cycle.push_back(cycle_share(fresh));
      if (sample.empty()) sample = fresh;
    }
  });
  to.quantities.push_back({name + "_nll", mean_of(nll)});
  to.quantities.push_back({name + "_distinct_4", mean_of(distinct)});
  to.quantities.push_back({name + "_cycle_share", mean_of(cycle)});
  if (subject.text.decode) to.notes.push_back(concat(name, ": \"", shown(subject, sample), '"'));
}

}  // namespace

void add_options(Options& options, CoherenceOptions& own) {
  options.group("Coherence beyond the training length")
      .add("coherence-sequences", own.sequences, "N",
           "sequences of 4 training lengths that the curve is a mean over")
      .add("prompts", own.prompts, "N", "texts of 1.37 training lengths that are continued")
      .add("new-tokens", own.n_new, "N", "tokens of a continuation");
}

void check(const CoherenceOptions& own) {
  check_positive(kName, "coherence-sequences", own.sequences);
  check_positive(kName, "prompts", own.prompts);
  require<ConfigError>(own.n_new >= 4, "eval:coherence",
                       "bad_argument: expected new-tokens >= 4, which 4-grams need, got ",
                       own.n_new);
}

ProtocolResult measure_coherence(const Subject& subject, const CommonOptions& common,
                                 const CoherenceOptions& own) {
  check(own);
  const int64_t train_len = subject.train_len, length = 4 * train_len;
  require<ConfigError>(train_len >= 8, "eval:coherence",
                       "bad_argument: expected a training length from 8 on, got ", train_len,
                       "; perplexity there is a mean over the 16 positions around it");
  const auto n_prompt =
      static_cast<int64_t>(std::lround(kPromptLength * static_cast<double>(train_len)));
  ProtocolResult result;
  result.protocol = kName;
  result.starts = draw_segments(kName, subject.text.size, length + 1, own.sequences, subject.seed,
                                common.allow_fewer);
  const std::vector<int64_t> prompt_starts = draw_segments(
      kName, subject.text.size, n_prompt, own.prompts, subject.seed, common.allow_fewer);
  result.parameters = concat(
      "sequences=", result.starts.size(), " positions=", length, " prompts=", prompt_starts.size(),
      " of ", n_prompt, " new=", own.n_new, " temperature=", kTemperature, " reread=", train_len);
  Scorer::Ids prompts(prompt_starts.size() * static_cast<size_t>(n_prompt));
  for (size_t i = 0; i < prompt_starts.size(); ++i)
    read_tokens(kName, subject.text, subject.scorer.vocab_size, prompt_starts[i], n_prompt,
                prompts.data() + static_cast<int64_t>(i) * n_prompt);
  TokenSet predicted;
  for (const int64_t start : result.starts) predicted.add(start + 1, length);

  measure_lengths(result, subject, {0}, [&](LengthResult& to) {
    set_predicted(to, predicted, subject.text);
    const auto nll = score_sequences(kName, subject, common, result.starts, length, to);
    if (!to.failure.empty()) return;
    add_curve(nll, train_len, to);
    if (subject.model == nullptr) return;
    add_generated(subject, common, prompts, n_prompt, own.n_new, 0, "greedy", to);
    add_generated(subject, common, prompts, n_prompt, own.n_new, kTemperature, "sampled", to);
  });
  return result;
}

}  // namespace farfield::apps
