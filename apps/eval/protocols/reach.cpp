#include "apps/eval/protocols/reach.h"

#include <algorithm>

#include "apps/eval/protocol.h"
#include "engine/base/error.h"
#include "layers/transformer.h"
#include "posenc/score_tables.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "reach";

bool is_one_window(const ModelReach& reach) {
  const auto& windows = reach.window_of_layer;
  return std::all_of(windows.begin(), windows.end(),
                     [&](const std::optional<int64_t>& w) { return w == windows.front(); });
}

// Facts that the numbers do not show by themselves.
std::string remark_on(const ModelReach& reach) {
  std::string text;
  if (!is_one_window(reach)) {
    text = "windows by layer:";
    for (const std::optional<int64_t>& window : reach.window_of_layer)
      text += ' ' + (window ? std::to_string(*window) : "none");
    text += reach.is_windowed ? "; trf_paper is their sum, trf_exact the sum of (w - 1), plus 1"
                              : "; a layer without one sees every input";
  }
  if (reach.n_sink > 0 && reach.is_windowed)
    text += concat(text.empty() ? "" : "; ", "trf_exact counts the first ", reach.n_sink,
                   " tokens, which windows leave visible, too");
  return text;
}

}  // namespace

ModelReach reach_of(const posenc::Composition& encoding, int64_t n_inputs, int64_t train_len,
                    uint64_t draw) {
  ModelReach reach;
  const auto plan = encoding.plan(1, n_inputs, posenc::Phase::eval, {1, draw});
  for (const posenc::Composition::Layer& layer : plan.layers) {
    require<ConfigError>(!posenc::hides_by_table(layer.rule), "eval:reach",
                         "bad_argument: expected masks without gaps, got '", encoding.canonical(),
                         "': its inputs are no range that ends at the last one");
    const bool has_window = layer.rule.window > 0;
    reach.window_of_layer.push_back(has_window ? std::optional(layer.rule.window) : std::nullopt);
    reach.is_windowed = reach.is_windowed && has_window;
    if (has_window) reach.n_sink = std::max(reach.n_sink, layer.rule.sinks);
  }
  reach.field = analysis::theoretical_field(reach.window_of_layer, n_inputs, train_len);
  if (reach.is_windowed) reach.field.exact = std::min(n_inputs, reach.field.exact + reach.n_sink);
  return reach;
}

ProtocolResult reach(const Subject& subject, const CommonOptions& common) {
  const Transformer& model = subject.model.inside(kProtocol);
  ProtocolResult result;
  result.protocol = kProtocol;
  result.parameters = "inputs=length";
  measure_lengths(result, subject, common.lengths, [&](LengthResult& to) {
    const ModelReach reach = reach_of(model.encoding(), to.length, model.config().train_len,
                                      subject.model.transformer_draw());
    to.quantities = {
        {"trf_paper", static_cast<double>(reach.field.paper)},
        {"trf_exact", static_cast<double>(reach.field.exact)},
        {"covered", reach.field.covered ? 1.0 : 0.0, {}, reach.field.covered ? "yes" : "no"}};
    if (const std::string remark = remark_on(reach); !remark.empty()) to.notes.push_back(remark);
  });
  return result;
}

Protocol reach_row() {
  return {.place = 6,
          .name = std::string(kProtocol),
          .help = "how far back its masks let a model look: the theoretical receptive field",
          .source = "Sandwich (arXiv:2212.10356) 1, 5",
          .synonyms = {"trf"},
          .has_lengths = true,
          .needs_model = true,
          .run = [](const Subject& subject, const EvalOptions& eval) {
            return reach(subject, eval.common);
          }};
}

}  // namespace farfield::eval
