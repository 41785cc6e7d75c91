#include "apps/eval/draws.h"

#include <algorithm>
#include <functional>

#include "apps/analysis/spread.h"
#include "engine/base/error.h"

namespace farfield::eval {
namespace {

double mean_at(const std::vector<const LengthResult*>& draws,
               const std::function<double(const LengthResult&)>& value) {
  double sum = 0;
  for (const LengthResult* draw : draws) sum += value(*draw);
  return sum / static_cast<double>(draws.size());
}

LengthResult mean_over(const std::vector<const LengthResult*>& draws) {
  LengthResult mean = *draws.front();
  for (const LengthResult* draw : draws)
    if (!draw->failure.empty()) return *draw;
  const auto n = static_cast<double>(draws.size());
  for (size_t i = 0; i < mean.quantities.size(); ++i) {
    mean.quantities[i].word.clear();  // the word describes only one draw
    mean.quantities[i].value =
        mean_at(draws, [i](const LengthResult& r) { return r.quantities.at(i).value; });
  }
  // A kept cell of an earlier version may lack the last series, which only pictures use.
  for (const LengthResult* draw : draws)
    mean.series.resize(std::min(mean.series.size(), draw->series.size()));
  for (size_t i = 0; i < mean.series.size(); ++i) {
    Series& series = mean.series[i];
    series.low.clear();
    series.high.clear();
    for (size_t at = 0; at < series.y.size(); ++at)
      series.y[at] =
          mean_at(draws, [i, at](const LengthResult& r) { return r.series.at(i).y.at(at); });
  }
  mean.n_draws = static_cast<int64_t>(draws.size());
  if (!mean.has_perplexity()) return mean;
  std::vector<double> nll, perplexity;
  std::fill(mean.items.begin(), mean.items.end(), 0);
  mean.mean_nll = 0;
  for (const LengthResult* draw : draws) {
    for (size_t i = 0; i < mean.items.size(); ++i) mean.items[i] += draw->items.at(i) / n;
    mean.mean_nll += draw->mean_nll / n;
    nll.push_back(draw->mean_nll);
    perplexity.push_back(draw->perplexity());
  }
  mean.nll_error = analysis::standard_error_of(mean.items);
  mean.nll_spread = analysis::deviation_of(nll);
  mean.perplexity_spread = analysis::deviation_of(perplexity);
  return mean;
}

}  // namespace

ProtocolResult mean_over_draws(const std::vector<ProtocolResult>& draws) {
  ProtocolResult mean = draws.at(0);
  if (draws.size() == 1) return mean;
  for (size_t i = 0; i < mean.lengths.size(); ++i) {
    std::vector<const LengthResult*> of_length;
    for (const ProtocolResult& draw : draws) of_length.push_back(&draw.lengths.at(i));
    mean.lengths[i] = mean_over(of_length);
  }
  mean.parameters += concat(" draws=", draws.size());
  return mean;
}

}  // namespace farfield::eval
