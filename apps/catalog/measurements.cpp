#include "apps/catalog/measurements.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "apps/eval/cells.h"
#include "apps/eval/draws.h"
#include "apps/run/labels.h"

namespace farfield::catalog {
namespace {

auto place_of_measurement(const Measurement& one) {
  return std::tie(one.protocol, one.parameters, one.encoding, one.text, one.step,
                  one.result.length);
}

}  // namespace

std::vector<Measurement> measurements_of(const run::RunFolder& run,
                                         std::vector<std::filesystem::path>& damaged) {
  std::map<run::Settings, std::vector<eval::ProtocolResult>> draws;
  for (eval::KeptCell& cell : eval::read_cells(run.eval() / "cells", {}, &damaged))
    draws[run::without(cell.key, {"draw"})].push_back(std::move(cell.result));
  const std::string trained = run::value_of(run.config(), "posenc");
  std::vector<Measurement> all;
  for (const auto& [key, results] : draws) {
    const std::string posenc = run::posenc_of(key), baseline = run::value_of(key, "baseline");
    Measurement one;
    one.protocol = results.front().protocol;
    one.parameters = results.front().parameters;
    one.encoding = run::encoding_name(posenc, trained, baseline);
    one.is_own = posenc == trained && baseline.empty();
    one.step = std::strtoll(run::value_of(key, "step").c_str(), nullptr, 10);
    one.text = run::value_of(key, "text");
    one.result = eval::mean_over_draws(results).lengths.front();
    all.push_back(std::move(one));
  }
  std::sort(all.begin(), all.end(), [](const Measurement& a, const Measurement& b) {
    return place_of_measurement(a) < place_of_measurement(b);
  });
  return all;
}

std::vector<BestPerplexity> best_perplexities(const std::vector<Measurement>& all) {
  std::map<int64_t, BestPerplexity> best;
  for (const Measurement& one : all) {
    if (!one.is_own || !one.result.failure.empty() || !one.result.has_perplexity()) continue;
    const int64_t length = one.result.length;
    const double perplexity = one.result.perplexity();
    const auto known = best.find(length);
    if (known == best.end() || perplexity < known->second.perplexity)
      best[length] = {length, perplexity, one.protocol};
  }
  std::vector<BestPerplexity> list;
  for (const auto& entry : best) list.push_back(entry.second);
  return list;
}

}  // namespace farfield::catalog
