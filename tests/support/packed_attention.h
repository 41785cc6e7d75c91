#pragma once
// Attention to heads where they lie in the output of a QKV projection, turned or not, beside
// attention to copies of them: the same bits.

#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/autograd.h"
#include "engine/ops/attention.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/split_heads.h"
#include "engine/storage.h"
#include "tests/support/attention_problem.h"
#include "tests/support/column_sums.h"
#include "tests/support/messages.h"

namespace farfield::test::packed {

struct PackedCase {
  const char* name;
  Sizes sizes;  // keys as many as queries
  std::function<void(AttentionProblem&)> change;
};

inline void add_tables(AttentionProblem& p) {
  p.add_bias();
  p.add_weight();
  p.add_row_scale();
}
inline void drop(AttentionProblem& p) {
  p.rule.dropout = {.p = 0.25, .random = {5, 1}, .n_head = p.n_head()};
}
inline void add_ids(AttentionProblem& p) {
  std::vector<int32_t> ids;
  for (int64_t n = 0; n < p.n_key(); ++n) ids.push_back(static_cast<int32_t>(n / 2));
  p.rule.ids = Tensor::from(ids, {p.n_key()});
  p.add_bias();
  p.add_weight();
}

inline const std::vector<PackedCase> kPackedCases = {
    {"nothing", {1, 1, 1, 1, 8}, [](auto&) {}},
    {"nothing", {2, 3, 70, 70, 16}, [](auto&) {}},
    {"tables", {2, 2, 130, 130, 64}, add_tables},
    {"tables, unaligned", {2, 3, 70, 70, 5}, add_tables},
    {"window",
     {1, 2, 140, 140, 33},
     [](auto& p) { p.add_bias(), p.rule.window = 37, p.rule.sinks = 3; }},
    {"head_dim 80", {2, 2, 40, 40, 80}, [](auto& p) { p.add_bias(); }},
    {"head_dim 160", {1, 2, 40, 40, 160}, add_tables},
    {"ids", {2, 2, 60, 60, 8}, add_ids},
    {"dropout", {2, 2, 70, 70, 8}, drop},
    {"row bias", {2, 2, 50, 50, 8}, [](auto& p) { add_row_bias(p, kKnots); }},
    {"row bias, by warpgroups", {2, 2, 130, 130, 64}, [](auto& p) { add_row_bias(p, kKnots); }},
    {"relu",
     {2, 2, 50, 50, 8},
     [](auto& p) {
       p.rule.normalizer = {Normalizer::Kind::relu, 1, 2};
     }},
    {"linear", {2, 2, 50, 50, 8}, [](auto& p) { p.rule.normalizer = {Normalizer::Kind::linear}; }},
};

// The output and all gradients of what f makes of qkv and a rule.
inline std::map<std::string, Tensor> results(
    const Tensor& qkv_values, AttentionRule rule, const Tensor& dout,
    const std::function<Tensor(const Tensor&, const AttentionRule&)>& f) {
  Tensor qkv = qkv_values.clone();
  qkv.set_requires_grad(true);
  std::map<std::string, Tensor> leaves{{"dqkv", qkv}};
  for (auto [name, table] :
       {std::pair("dbias", &rule.bias), std::pair("dweight", &rule.weight),
        std::pair("dslope", &rule.row_bias.slope), std::pair("dfeature", &rule.row_bias.feature)})
    if (table->defined()) {
      *table = table->clone().set_requires_grad(true);
      leaves[name] = *table;
    }
  const Tensor out = f(qkv, rule);
  backward(out, dout);
  std::map<std::string, Tensor> found{{"out", out.detach()}};
  for (const auto& [name, leaf] : leaves) found[name] = leaf.grad();
  return found;
}

inline std::vector<DType> types_of(const Device& device) {
  std::vector<DType> types = {DType::f32, DType::bf16};
  if (device.kind == Device::Kind::cpu) types.push_back(DType::f64);  // elsewhere not packed
  return types;
}

inline void check_heads_where_they_lie(const Device& device,
                                       const std::vector<PackedCase>& cases = kPackedCases) {
  for (const DType dtype : types_of(device))
    for (const PackedCase& c : cases) {
      AttentionProblem p = make_problem(c.sizes, dtype);
      c.change(p);
      p = moved_to(device, p);
      const Sizes& s = c.sizes;
      const Tensor qkv =
          normal({s.batch, s.queries, 3 * s.heads * s.head_dim}, 12, dtype).to(device);
      const auto packed = results(
          qkv, p.rule, p.dout,
          [&](const Tensor& x, const AttentionRule& rule) { return attention(x, s.heads, rule); });
      // Features are made of copies, whose gradients come without sums.
      const bool has_copies = p.rule.normalizer.kind == Normalizer::Kind::linear;
      if (device.kind == Device::Kind::cuda && !has_copies) {
        const auto dqkv = std::make_shared<Tensor>();
        const auto summed =
            results(qkv, p.rule, p.dout, [&](const Tensor& x, const AttentionRule& rule) {
              return attention(with_column_sums_expected(x, dqkv), s.heads, rule);
            });
        has_column_sums(*dqkv, concat(c.name, ' ', s, ' ', dtype));
        BOOST_TEST(same_bits(summed.at("dqkv").to(Device{}), packed.at("dqkv").to(Device{})));
      }
      const auto copied =
          results(qkv, p.rule, p.dout, [&](const Tensor& x, const AttentionRule& rule) {
            const Heads heads = split_heads(x, s.heads);
            return attention(heads.q, heads.k, heads.v, rule);
          });
      for (const auto& [name, x] : copied)
        BOOST_TEST(same_bits(packed.at(name).to(Device{}), x.to(Device{})),
                   name << " of " << c.name << ' ' << s << ' ' << dtype << " on " << device);
    }
}

// A rotation of the first 2 half components of heads at n positions, each sequence at its own when
// n_batch > 0.
inline Rotation rotation_of(const Device& device, DType dtype, int64_t half, int64_t n,
                            int64_t n_batch, bool interleaved, bool has_scales) {
  const Shape shape = n_batch > 0 ? Shape{n_batch, n, half} : Shape{n, half};
  const auto table = [&](uint64_t stream) {
    return normal(shape, stream, accumulate_dtype(dtype)).to(device);
  };
  Rotation r{.cos = table(20), .sin = table(21), .interleaved = interleaved};
  if (has_scales) r.scale_q = table(22), r.scale_k = table(23);
  return r;
}

struct TurnedCase {
  const char* name;
  Sizes sizes;
  int64_t half;
  bool interleaved, has_scales, per_batch;
  void (*change)(AttentionProblem&);
};

inline const std::vector<TurnedCase> kTurnedCases = {
    {"all of a head", {2, 3, 70, 70, 64}, 32, false, false, false, [](auto&) {}},
    {"neighbours", {1, 2, 70, 70, 64}, 32, true, true, false, add_tables},
    {"a part of a head", {2, 2, 70, 70, 32}, 8, false, true, true, add_tables},
    {"a part of neighbours", {2, 1, 40, 40, 16}, 4, true, false, true, [](auto&) {}},
    {"a single pair", {1, 2, 20, 20, 8}, 1, false, false, false, [](auto&) {}},
    {"unaligned", {2, 2, 40, 40, 6}, 3, false, true, false, [](auto& p) { p.add_bias(); }},
    {"unaligned neighbours", {1, 2, 33, 33, 7}, 2, true, false, false, [](auto&) {}},
    {"a half that no piece holds", {1, 2, 40, 40, 40}, 12, false, false, false, [](auto&) {}},
    {"head_dim 160", {1, 2, 40, 40, 160}, 80, false, true, false, add_tables},
    {"head_dim 200, unaligned half", {1, 1, 40, 40, 200}, 99, false, false, false, [](auto&) {}},
    {"ids", {2, 2, 60, 60, 8}, 4, false, false, false, add_ids},
    {"dropout", {2, 2, 70, 70, 8}, 4, true, false, false, drop},
};

inline void check_heads_turned_where_they_lie(const Device& device,
                                              const std::vector<TurnedCase>& cases = kTurnedCases) {
  const bool sums_columns = device.kind == Device::Kind::cuda;
  for (const DType dtype : types_of(device))
    for (const TurnedCase& c : cases) {
      AttentionProblem p = make_problem(c.sizes, dtype);
      c.change(p);
      p = moved_to(device, p);
      const Sizes& s = c.sizes;
      const Rotation r = rotation_of(device, dtype, c.half, s.queries, c.per_batch ? s.batch : 0,
                                     c.interleaved, c.has_scales);
      const Tensor qkv =
          normal({s.batch, s.queries, 3 * s.heads * s.head_dim}, 12, dtype).to(device);
      // A leaf is its caller's too; what comes of an op is handed over, as layers do it.
      const auto dqkv = std::make_shared<Tensor>();
      const auto kept =
          results(qkv, p.rule, p.dout, [&](const Tensor& x, const AttentionRule& rule) {
            return attention(sums_columns ? with_column_sums_expected(x, dqkv) : x, s.heads, rule,
                             r);
          });
      if (sums_columns) has_column_sums(*dqkv, concat(c.name, ' ', s, ' ', dtype));
      const auto given =
          results(qkv, p.rule, p.dout, [&](const Tensor& x, const AttentionRule& rule) {
            return attention(x * 1.0, s.heads, rule, r);
          });
      const auto copied =
          results(qkv, p.rule, p.dout, [&](const Tensor& x, const AttentionRule& rule) {
            const Heads heads = split_heads(x, s.heads, r);
            return attention(heads.q, heads.k, heads.v, rule);
          });
      for (const auto& [name, x] : copied)
        for (const auto& [way, found] : {std::pair("kept", &kept), std::pair("given", &given)})
          BOOST_TEST(same_bits(found->at(name).to(Device{}), x.to(Device{})),
                     name << " of " << c.name << ", " << way << ", " << s << ' ' << dtype);
    }
}

inline void check_who_hands_heads_over(const Device& device) {
  const Rotation r = rotation_of(device, DType::f32, 4, 5, 0, false, false);
  const Tensor values = normal({1, 5, 24}, 12, DType::f32).to(device);
  const Tensor qkv = values.clone();
  attention(qkv, 1, {}, r);
  BOOST_TEST(same_bits(qkv.to(Device{}), values.to(Device{})));

  const int64_t before = memory_stats(device).current_bytes;
  reset_peak_memory(device);
  Tensor large = Tensor::zeros({8, 5, 24 * 4096}, DType::f32, device);
  attention(std::move(large), 4096, {}, r);
  // qkv, the output, a third of it, and each thread's working memory; no copy
  const double most = static_cast<double>(memory_stats(device).peak_bytes - before);
  BOOST_TEST(most < 1.9 * 8 * 5 * 24 * 4096 * 4);
}

inline void check_refusals(const Device& device) {
  const Tensor qkv = Tensor::zeros({2, 5, 24}, DType::f32, device);
  const Rotation r = rotation_of(device, DType::f32, 2, 4, 0, false, false);
  BOOST_CHECK_EXCEPTION(attention(qkv, 2, {}, r), ShapeError,
                        says("[attention] expected cos of shape [T, R/2] or [B, T, R/2]",
                             "T = 5 and R <= head_dim = 4, got [4, 2]"));

  const auto refuses = [&](const Shape& shape, int64_t n_head, const char* what) {
    BOOST_CHECK_EXCEPTION(attention(Tensor::zeros(shape, DType::f32, device), n_head), ShapeError,
                          says("[attention] expected ", what));
  };
  refuses({2, 3, 20}, 2, "qkv [B, T, 3 H K] with H = 2, got [2, 3, 20]");
  refuses({2, 24}, 2, "qkv [B, T, 3 H K] with H = 2, got [2, 24]");
  refuses({2, 0, 24}, 2, "qkv of shape [B, T, 3 H K], none of them 0, got [2, 0, 24]");
}

}  // namespace farfield::test::packed
