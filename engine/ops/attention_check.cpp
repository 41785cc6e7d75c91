#include "engine/ops/attention_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <type_traits>

#include "engine/autograd.h"
#include "engine/kernels/dropout.h"

namespace farfield {
namespace {

constexpr std::string_view kWhere = "attention";

void check_same_kind(std::string_view name, const Tensor& x, DType dtype, const Device& device) {
  require<DTypeError>(x.dtype() == dtype, kWhere, "expected ", name, " in ", dtype, ", got ",
                      x.dtype());
  require<DeviceError>(x.device() == device, kWhere, "expected ", name, " on ", device, ", got ",
                       x.device());
}

void check_table(std::string_view name, const Tensor& x, const Shape& shape, const Tensor& q) {
  if (!x.defined()) return;
  require<ShapeError>(x.shape() == shape, kWhere, "expected ", name, " of shape ", shape, ", got ",
                      x.shape());
  check_same_kind(name, x, accumulate_dtype(q.dtype()), q.device());
}

void check_heads(const Heads& heads) {
  const Tensor &q = heads.q, &k = heads.k, &v = heads.v;
  require<ShapeError>(q.rank() == 4 && q.numel() > 0, kWhere,
                      "expected q of shape [B, H, T, K], none of them 0, got ", q.shape());
  require<DTypeError>(is_float(q.dtype()), kWhere, "expected q in a floating type, got ",
                      q.dtype());
  require<ShapeError>(
      k.rank() == 4 && heads.n_key() >= q.dim(2) && k.dim(1) > 0 && q.dim(1) % k.dim(1) == 0 &&
          k.shape() == q.shape().with(1, k.dim(1)).with(2, k.dim(2)),
      kWhere, "expected k of shape [B, G, S, K] with S >= T and G dividing H for q ", q.shape(),
      ", got ", k.shape());
  require<ShapeError>(v.shape() == k.shape(), kWhere, "expected v of the shape of k, ", k.shape(),
                      ", got ", v.shape());
  const auto [begin, end] = heads.key_rows;
  require<ShapeError>(begin >= 0 && begin <= end && end <= k.dim(2), kWhere,
                      "expected rows of keys among the ", k.dim(2), " of k, got ", begin, " to ",
                      end);
  require<ConfigError>(!heads.have_room() || !grad_enabled(), kWhere,
                       "expected no gradients (NoGrad) of keys with room for more");
  check_same_kind("k", k, q.dtype(), q.device());
  check_same_kind("v", v, q.dtype(), q.device());
}

void check_far(const Heads& heads, const AttentionRule& rule) {
  require<ConfigError>(rule.switch_distance >= 0 && rule.switch_position >= 0, kWhere,
                       "expected a switch_distance and a switch_position of 0 or more, got ",
                       rule.switch_distance, " and ", rule.switch_position);
  const FarHeads& far = heads.far;
  if (!far.defined()) return;
  require<ShapeError>(far.q.defined() && far.k.defined(), kWhere,
                      "expected far.q and far.k together, got one of them");
  require<ConfigError>(rule.switch_distance > 0, kWhere,
                       "expected a switch_distance with far.q and far.k, got 0: no pair is far");
  require<ShapeError>(far.q.shape() == heads.q.shape() && far.k.shape() == heads.k.shape(), kWhere,
                      "expected far.q and far.k of the shapes of q and k, ", heads.q.shape(),
                      " and ", heads.k.shape(), ", got ", far.q.shape(), " and ", far.k.shape());
  check_same_kind("far.q", far.q, heads.q.dtype(), heads.q.device());
  check_same_kind("far.k", far.k, heads.q.dtype(), heads.q.device());
}

// x[i] <= x[i + 1]; a NaN passes, and shows in the results.
void check_not_falling(std::string_view name, std::string_view how, const Tensor& x) {
  dispatch_float(x.dtype(), [&](auto type) {
    using A = decltype(type);
    if constexpr (!std::is_same_v<A, BFloat16>) {
      const A *const first = x.data<A>(), *const last = first + x.numel();
      const A* const bad = std::adjacent_find(first, last, std::greater<>());
      if (bad != last)
        fail<ShapeError>(kWhere, "expected ", name, ' ', how, ", got ", bad[0], " before ", bad[1],
                         " at ", bad + 1 - first);
    }
  });
}
void check_positive(std::string_view name, const Tensor& x) {
  dispatch_float(x.dtype(), [&](auto type) {
    using A = decltype(type);
    if constexpr (!std::is_same_v<A, BFloat16>) {
      const A *const first = x.data<A>(), *const last = first + x.numel();
      const A* const bad = std::find_if(first, last, [](A y) { return y <= 0; });
      if (bad != last)
        fail<ShapeError>(kWhere, "expected ", name, " above 0, got ", *bad, " at ", bad - first);
    }
  });
}

void check_row_bias(const Heads& heads, const RowBias& bias) {
  const bool given = bias.feature.defined();
  require<ShapeError>(given == bias.row_factor.defined() && given == bias.knots.defined() &&
                          given == bias.slope.defined() && given == bias.offset.defined(),
                      kWhere,
                      "expected all five tensors of the row bias or none, got some of them");
  if (!given) return;
  const Tensor& q = heads.q;
  require<ShapeError>(bias.knots.rank() == 1, kWhere, "expected row_bias.knots of shape [N], got ",
                      bias.knots.shape());
  const Shape segments{q.dim(1), bias.knots.numel() + 1};
  check_table("row_bias.feature", bias.feature, {heads.n_key()}, q);
  check_table("row_bias.row_factor", bias.row_factor, {q.dim(2)}, q);
  check_table("row_bias.knots", bias.knots, bias.knots.shape(), q);
  check_table("row_bias.slope", bias.slope, segments, q);
  check_table("row_bias.offset", bias.offset, segments, q);
  if (q.device().kind != Device::Kind::cpu) return;  // reading back would stall the device
  check_not_falling("row_bias.feature", "that does not fall", bias.feature);
  check_not_falling("row_bias.knots", "that do not fall", bias.knots);
  check_positive("row_bias.row_factor", bias.row_factor);
}

void check_normalizer(const Normalizer& n) {
  require<ConfigError>(n.kind == Normalizer::Kind::softmax || std::isfinite(n.parameter), kWhere,
                       "expected a finite normalizer.parameter, got ", n.parameter);
  require<ConfigError>(n.kind != Normalizer::Kind::relu || n.parameter > 0, kWhere,
                       "expected a normalizer.parameter above 0 for relu, got ", n.parameter);
  require<ConfigError>(n.kind != Normalizer::Kind::clamp_relative || n.parameter >= 0, kWhere,
                       "expected a normalizer.parameter of 0 or more for clamp_relative, got ",
                       n.parameter);
  require<ConfigError>(std::isfinite(n.penalty) && n.penalty >= 0, kWhere,
                       "expected a finite normalizer.penalty of 0 or more, got ", n.penalty);
  require<ConfigError>(n.penalty == 0 || !n.divides_by_sum(), kWhere,
                       "expected a normalizer.penalty for relu kinds alone");
}

// Its kernels know scores with tables by distance or ids, and no more.
void check_landmark(const AttentionRule& rule) {
  if (rule.normalizer.kind != Normalizer::Kind::landmark) return;
  require<ConfigError>(rule.normalizer.block >= 1, kWhere,
                       "expected a normalizer.block of 1 token or more for landmark, got ",
                       rule.normalizer.block);
  require<ConfigError>(
      rule.window == 0 && rule.switch_distance == 0 && !rule.row_bias.feature.defined(), kWhere,
      "expected no window, far pairs or row bias beside landmark");
}

}  // namespace

void check_attention(const Heads& heads, const AttentionRule& rule) {
  check_heads(heads);
  const Tensor& q = heads.q;
  const int64_t n_head = q.dim(1), n_query = q.dim(2), n_key = heads.n_key();
  // Entries are distances, or as many as the ids need.
  const Tensor& table = rule.bias.defined() ? rule.bias : rule.weight;
  const int64_t n_entry =
      rule.ids.defined() && table.defined() && table.rank() == 2 ? table.dim(1) : n_key;
  check_table("bias", rule.bias, {n_head, n_entry}, q);
  check_table("weight", rule.weight, {n_head, n_entry}, q);
  check_table("row_scale", rule.row_scale, {n_query}, q);
  require<ConfigError>(rule.window >= 0, kWhere, "expected a window of 0 (none) or more, got ",
                       rule.window);
  require<ConfigError>(rule.sinks >= 0, kWhere, "expected 0 or more sinks, got ", rule.sinks);
  check_far(heads, rule);
  check_attention_ids(heads, rule);
  check_row_bias(heads, rule.row_bias);
  check_normalizer(rule.normalizer);
  check_landmark(rule);
  require<ConfigError>(rule.dropout.p >= 0 && rule.dropout.p < 1, kWhere,
                       "expected a dropout of a share from 0 to below 1, got ", rule.dropout.p);
  check_stream(kWhere, rule.dropout.stream, heads.q.device());
  require<ConfigError>(rule.dropout.n_head == 0 || rule.dropout.n_head >= n_head, kWhere,
                       "expected a dropout for at least the ", n_head, " heads of q, got one for ",
                       rule.dropout.n_head);
}

}  // namespace farfield
