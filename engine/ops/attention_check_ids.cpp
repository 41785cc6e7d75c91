// Whether every entry that a pair reads is in its table, from the ids alone and in O(S).

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "engine/ops/attention_check.h"

namespace farfield {
namespace {

constexpr std::string_view kWhere = "attention";

void check_ids_kind(std::string_view name, const Tensor& x, const Device& device) {
  require<DTypeError>(x.dtype() == DType::i32, kWhere, "expected int32 ", name, ", got ",
                      x.dtype());
  require<DeviceError>(x.device() == device, kWhere, "expected ", name, " on ", device, ", got ",
                       x.device());
}

void check_ascending(std::string_view name, const int32_t* ids, int64_t n) {
  const int32_t* const bad = std::adjacent_find(ids, ids + n, std::greater<>());
  if (bad == ids + n) return;
  fail<ShapeError>(kWhere, "expected ", name, " that do not fall, got ", bad[0], " before ", bad[1],
                   " at position ", bad + 1 - ids);
}

// Which keys the query at position m sees, as far as the ends of ranges of them go.
struct Visible {
  const AttentionRule& rule;
  int64_t m;

  int64_t window_begin() const {
    return rule.window == 0 ? 0 : std::max<int64_t>(0, m - rule.window + 1);
  }
  /// The first visible key of [from, to), or the last.
  std::optional<int64_t> first(int64_t from, int64_t to) const {
    const int64_t n = from < rule.sinks ? from : std::max(from, window_begin());
    return n < to ? std::optional(n) : std::nullopt;
  }
  std::optional<int64_t> last(int64_t from, int64_t to) const {
    const int64_t n = to > window_begin() ? to - 1 : std::min(to, rule.sinks) - 1;
    return n >= from ? std::optional(n) : std::nullopt;
  }
};

// Query i is at position S - T + i.
struct IdCheck {
  const AttentionRule& rule;
  int64_t n_query, n_key, n_entry;

  int64_t position(int64_t i) const { return n_key - n_query + i; }
  // Keys [0, far_end) are far to query i, and read far_ids.
  int64_t far_end(int64_t i) const {
    const int64_t m = position(i);
    if (!rule.far_ids_q.defined() || m < rule.switch_position) return 0;
    return std::max<int64_t>(0, m - rule.switch_distance + 1);
  }

  void check_near(const int32_t* ids) const {
    for (int64_t i = 0; i < n_query; ++i) {
      const int64_t m = position(i);
      const auto n = Visible{rule, m}.first(far_end(i), m + 1);
      if (!n) continue;
      const int64_t entry = int64_t{ids[m]} - ids[*n];
      require<ShapeError>(entry < n_entry, kWhere, "expected ids[m] - ids[n] below the ", n_entry,
                          " entries of the tables, got ", entry, " for positions ", m, " and ", *n);
    }
  }
  void check_far(const int32_t* q, const int32_t* k) const {
    for (int64_t i = 0; i < n_query; ++i) {
      const Visible visible{rule, position(i)};
      for (const auto& n : {visible.first(0, far_end(i)), visible.last(0, far_end(i))}) {
        if (!n) continue;
        const int64_t entry = int64_t{q[i]} - k[*n];
        require<ShapeError>(entry >= 0 && entry < n_entry, kWhere,
                            "expected far_ids_q[i] - far_ids_k[n] of far pairs from 0 to ",
                            n_entry - 1, ", got ", entry, " for query ", i, " and key ", *n);
      }
    }
  }
};

}  // namespace

void check_attention_ids(const Heads& heads, const AttentionRule& rule) {
  const int64_t n_batch = heads.q.dim(0), n_query = heads.q.dim(2), n_key = heads.n_key();
  const Device& device = heads.q.device();
  const Tensor &ids = rule.ids, &far_q = rule.far_ids_q, &far_k = rule.far_ids_k;
  if (ids.defined()) {
    require<ShapeError>(ids.shape() == Shape{n_key} || ids.shape() == (Shape{n_batch, n_key}),
                        kWhere, "expected ids of shape [S] or [B, S] with B = ", n_batch,
                        ", S = ", n_key, ", got ", ids.shape());
    check_ids_kind("ids", ids, device);
  }
  require<ShapeError>(far_q.defined() == far_k.defined(), kWhere,
                      "expected far_ids_q and far_ids_k together, got one of them");
  if (far_q.defined()) {
    require<ShapeError>(far_q.shape() == Shape{n_query} && far_k.shape() == Shape{n_key}, kWhere,
                        "expected far_ids_q and far_ids_k of shapes ", Shape{n_query}, " and ",
                        Shape{n_key}, ", got ", far_q.shape(), " and ", far_k.shape());
    check_ids_kind("far_ids_q", far_q, device);
    check_ids_kind("far_ids_k", far_k, device);
    require<ConfigError>(rule.switch_distance > 0, kWhere,
                         "expected a switch_distance with far_ids_q and far_ids_k, got 0: no pair "
                         "is far");
  }
  const Tensor& table = rule.bias.defined() ? rule.bias : rule.weight;
  // Reading ids back would stall another device.
  if (!table.defined() || device.kind != Device::Kind::cpu) return;
  const IdCheck check{rule, n_query, n_key, table.dim(1)};
  if (ids.defined())
    for (int64_t row = 0; row < ids.numel(); row += n_key) {
      check_ascending("ids", ids.data<int32_t>() + row, n_key);
      check.check_near(ids.data<int32_t>() + row);
    }
  if (far_q.defined()) {
    check_ascending("far_ids_q", far_q.data<int32_t>(), n_query);
    check_ascending("far_ids_k", far_k.data<int32_t>(), n_key);
    check.check_far(far_q.data<int32_t>(), far_k.data<int32_t>());
  }
}

}  // namespace farfield
