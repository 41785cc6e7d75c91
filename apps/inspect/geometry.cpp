#include "apps/inspect/geometry.h"

#include <cmath>

#include "engine/base/error.h"

namespace farfield::inspect {
namespace {

// The angle from (cos, sin) at a to (cos, sin) at b: exact if the angle of a is 0, and independent
// of a common factor.
double angle_between(const double* cos, const double* sin, size_t a, size_t b) {
  return std::atan2(sin[b] * cos[a] - cos[b] * sin[a], cos[b] * cos[a] + sin[b] * sin[a]);
}

}  // namespace

std::vector<RemappedPosition> remapped_positions(const posenc::Composition& encoding,
                                                 const Spot& spot) {
  const posenc::Draw draw{1, spot.draw};
  const int64_t n = spot.n_key;
  const posenc::Positions p = encoding.positions(spot.layer, 1, n, spot.phase, draw);
  const AttentionRule rule =
      encoding.plan(1, n, spot.phase, draw).layers[static_cast<size_t>(spot.layer)].rule;
  std::vector<double> far_q, far_k;
  if (rule.far_ids_q.defined()) {
    far_q = rule.far_ids_q.to_vector();
    far_k = rule.far_ids_k.to_vector();
  }
  std::vector<RemappedPosition> all;
  for (int64_t t = 0; t < n; ++t) {
    const auto key = static_cast<size_t>(n - 1 - t);
    const bool is_far = rule.switch_distance > 0 && t >= rule.switch_distance &&
                        n - 1 >= rule.switch_position && !far_q.empty();
    double distance = std::nan("");
    const auto read = [&](double entry) { distance = p.distance[static_cast<size_t>(entry)]; };
    if (is_far)
      read(far_q.back() - far_k[key]);
    else if (p.entry == posenc::Positions::Entry::distance)
      read(static_cast<double>(t));
    else if (p.entry == posenc::Positions::Entry::ids)
      read(p.ids[static_cast<size_t>(n - 1)] - p.ids[key]);
    all.push_back({p.ids[static_cast<size_t>(t)], distance});
  }
  return all;
}

std::vector<TurnedPair> turned_pairs(const posenc::Composition& encoding, const Spot& spot,
                                     int64_t position) {
  require<ConfigError>(spot.n_key >= 2, "inspect",
                       "--rotation: expected a sequence of 2 tokens or more, got 1; --length makes "
                       "it longer");
  require<ConfigError>(position >= 0 && position + 1 < spot.n_key, "inspect",
                       "--position: expected one from 0 to ", spot.n_key - 2,
                       ", with another after it in ", spot.n_key, " tokens, got ", position,
                       "; --length makes the sequence longer");
  const Rotation r = encoding.plan(spot.n_key, spot.n_key, spot.phase, {1, spot.draw})
                         .layers[static_cast<size_t>(spot.layer)]
                         .rotation;
  if (!r.cos.defined()) return {};
  const int64_t n_pair = r.cos.shape()[-1];
  const auto values = [](const Tensor& x) {
    return x.defined() ? x.to_vector() : std::vector<double>();
  };
  const std::vector<double> cos = values(r.cos), sin = values(r.sin), scale_q = values(r.scale_q),
                            scale_k = values(r.scale_k);
  const std::vector<double> far_cos_q = values(r.far.cos_q), far_sin_q = values(r.far.sin_q),
                            far_cos_k = values(r.far.cos_k), far_sin_k = values(r.far.sin_k);
  std::vector<TurnedPair> pairs;
  for (int64_t i = 0; i < n_pair; ++i) {
    const auto at = static_cast<size_t>(position * n_pair + i),
               next = at + static_cast<size_t>(n_pair);
    TurnedPair pair;
    pair.frequency = angle_between(cos.data(), sin.data(), at, next);
    const double factor = std::hypot(cos[at], sin[at]);
    pair.scale_q = factor * (scale_q.empty() ? 1 : scale_q[at]);
    pair.scale_k = factor * (scale_k.empty() ? 1 : scale_k[at]);
    pair.far_frequency_q = pair.far_frequency_k = std::nan("");
    if (!far_cos_q.empty()) {
      pair.far_frequency_q = angle_between(far_cos_q.data(), far_sin_q.data(), at, next);
      pair.far_frequency_k = angle_between(far_cos_k.data(), far_sin_k.data(), at, next);
    }
    pairs.push_back(pair);
  }
  return pairs;
}

}  // namespace farfield::inspect
