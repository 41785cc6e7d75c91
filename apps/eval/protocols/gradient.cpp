#include "apps/eval/protocols/gradient.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "apps/analysis/gradient_norms.h"
#include "apps/analysis/receptive_field.h"
#include "apps/analysis/spread.h"
#include "apps/eval/protocol.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/protocols/reach.h"
#include "engine/base/error.h"
#include "layers/transformer.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "gradient";
constexpr std::string_view kWhere = "eval:gradient";

// Memory per token as a multiple of the memory for scoring: measured 2.2 with 4 layers and 2.7 with
// 12 (width 64, 256 tokens), and growing with the layers, whose inputs are kept.
constexpr int64_t kMemoryOfGradient = 4;

const std::vector<std::pair<std::string, InputScalar>>& scalars() {
  static const std::vector<std::pair<std::string, InputScalar>> all = {
      {"nll", InputScalar::nll},
      {"logit", InputScalar::target_logit},
      {"top-logit", InputScalar::max_logit},
      {"entropy", InputScalar::negative_entropy}};
  return all;
}

InputScalar scalar_named(const std::string& name) {
  std::vector<std::string> words;
  for (const auto& [word, scalar] : scalars()) words.push_back(word);
  check_word("scalar", name, words);
  return std::find_if(scalars().begin(), scalars().end(),
                      [&](const auto& scalar) { return scalar.first == name; })
      ->second;
}

// The norm of each row of gradients [n, width]; NaN for a row that is not finite.
std::vector<double> norms_of(std::span<const double> gradients, int64_t width) {
  try {
    return analysis::gradient_norms(gradients, width);
  } catch (const Error&) {
    if (static_cast<int64_t>(gradients.size()) <= width)
      return {std::numeric_limits<double>::quiet_NaN()};
  }
  std::vector<double> norms;
  for (size_t at = 0; at < gradients.size(); at += static_cast<size_t>(width))
    norms.push_back(norms_of(gradients.subspan(at, static_cast<size_t>(width)), width).front());
  return norms;
}

Series by_position(const char* name, const std::vector<double>& y) {
  Series series;
  series.name = name;
  series.axis = "position (tokens)";
  series.x.resize(y.size());
  std::iota(series.x.begin(), series.x.end(), 1.0);
  series.y = y;
  return series;
}

void fill(LengthResult& to, const std::vector<std::vector<double>>& shares, double tau,
          const Transformer& model, uint64_t draw) {
  const int64_t n_inputs = to.length - 1, train_len = model.config().train_len;
  const analysis::EmpiricalField field = analysis::empirical_field(shares, train_len, tau);
  const auto add = [&](const char* name, double value, const char* word = "") {
    to.quantities.push_back({name, value, {}, word});
  };
  add("erf", static_cast<double>(field.field));
  add("erf_median", field.median_field);
  add("erf_deviation", analysis::deviation_of(field.fields));
  // The papers quote fields on the grid of their figures.
  add("erf_rounded", static_cast<double>(analysis::round_up_to_grid(
                         field.field, std::max<int64_t>(1, train_len / 2))));
  add("recent_share", field.recent);
  const ModelReach reach = reach_of(model.encoding(), n_inputs, train_len, draw);
  if (reach.is_windowed) add("trf_exact", static_cast<double>(reach.field.exact));
  if (n_inputs >= train_len) {
    const analysis::GradientJump jump = analysis::find_jump(field.s, train_len, train_len);
    add("jump", jump.found ? 1 : 0, jump.found ? "yes" : "no");
    add("jump_peak", static_cast<double>(jump.peak));
    add("jump_height", jump.height);
  }
  to.series = {by_position("normalised gradient", field.s),
               by_position("cumulative gradient", field.c)};
  to.series.back().may_log_y = false;  // as in the paper's figures
}

}  // namespace

void add_options(cli::Options& options, GradientOptions& own) {
  options.group("Gradient by the inputs")
      .add("gradient-segments", own.segments, "N", "predicted tokens, the same at every length")
      .add("tau", own.tau, "SHARE", "a receptive field holds more than this of the gradient")
      .add("scalar", own.scalar, "nll|logit|top-logit|entropy",
           "gradient of what: of the true token's nll or logit, the largest logit, or sum p ln p");
}

void check(const GradientOptions& own) {
  check_positive(kProtocol, "gradient-segments", own.segments);
  require<ConfigError>(own.tau > 0 && own.tau < 1, kWhere,
                       "bad_argument: expected tau between 0 and 1, got ", own.tau);
  scalar_named(own.scalar);
}

ProtocolResult gradient(const Subject& subject, const CommonOptions& common,
                        const GradientOptions& own) {
  const TokenStream& text = subject.text;
  const InputScalar scalar = scalar_named(own.scalar);
  const int64_t span = *std::max_element(common.lengths.begin(), common.lengths.end());

  ProtocolResult result;
  result.protocol = kProtocol;
  result.starts =
      draw_segments(kProtocol, text, span, own.segments, subject.model.seed, common.allow_fewer);
  const Transformer& model = subject.model.inside(kProtocol);
  const uint64_t draw = subject.model.transformer_draw();
  const auto n = static_cast<int64_t>(result.starts.size());
  result.parameters = concat("segments=", n, " longest=", span, " tau=", own.tau,
                             " scalar=", own.scalar, documents_text(text));

  std::vector<int32_t> tokens(static_cast<size_t>(n * span));  // [n, span]
  TokenSet predicted;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t start = result.starts[static_cast<size_t>(i)];
    read_tokens(kProtocol, text, model.config().vocab_size, start, span, tokens.data() + i * span);
    predicted.add(start + span - 1, 1);
  }

  measure_lengths(result, subject, common.lengths, [&](LengthResult& to) {
    set_predicted(to, predicted, text);
    const int64_t n_inputs = to.length - 1, width = model.config().d_model;
    std::vector<std::vector<double>> shares;
    in_batches(n, kMemoryOfGradient * n_inputs, common, [&](int64_t first, int64_t batch) {
      if (!to.failure.empty()) return;
      std::vector<int32_t> ids, targets;
      for (int64_t i = first; i < first + batch; ++i) {
        const int32_t* const end = tokens.data() + (i + 1) * span;
        ids.insert(ids.end(), end - 1 - n_inputs, end - 1);
        targets.push_back(end[-1]);
      }
      const auto compute = [&] {
        subject.session.pass(batch * n_inputs);
        return norms_of(
            model
                .input_gradient(tensor_of(ids, batch, subject.model.device),
                                Tensor::from(targets, {batch}, subject.model.device), scalar, draw)
                .to_vector(),
            width);
      };
      const std::vector<double> norms =
          subject.session.sharing == nullptr
              ? compute()
              : subject.session.sharing->values(ids, targets, batch, ids.size(), compute,
                                                subject.session.watch);
      for (int64_t i = 0; i < batch; ++i) {
        const size_t segment = shares.size(), size = static_cast<size_t>(n_inputs);
        try {
          shares.push_back(analysis::normalized_gradient(
              std::span(norms).subspan(static_cast<size_t>(i) * size, size)));
        } catch (const Error& error) {
          const std::string code = code_of(error);
          if (code != "nonfinite_gradient" && code != "zero_gradient") throw;
          const int64_t start = result.starts[segment];
          set_failure(to, code,
                      concat(error.what(), "; in segment ", segment, " (tokens ", start, " to ",
                             start + span - 1, ") at length ", to.length));
          return;
        }
      }
    });
    if (to.failure.empty()) fill(to, shares, own.tau, model, draw);
  });
  return result;
}

Protocol gradient_row() {
  return {.place = 5,
          .name = std::string(kProtocol),
          .help =
              "how far back a model looks: the gradient of its prediction by each input, the "
              "empirical receptive field",
          .source = "Sandwich (arXiv:2212.10356) 5.1",
          .synonyms = {"erf", "receptive-field"},
          .has_lengths = true,
          .has_text = true,
          .needs_model = true,
          .has_gradients = true,
          .is_shared = true,
          .amounts = {{"gradient-segments", Amount::gradients}},
          .add_options = add_own<GradientOptions>,
          .check = check_own<GradientOptions>,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return gradient(subject, eval.common, eval.own<GradientOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject&, int64_t length) {
                return static_cast<double>(eval.own<GradientOptions>().segments * length);
              }};
}

}  // namespace farfield::eval
