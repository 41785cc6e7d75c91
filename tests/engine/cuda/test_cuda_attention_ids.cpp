// Ids that leave the tables of attention, which nobody looks at on a device.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/ops/view.h"
#include "tests/support/attention_problem.h"
#include "tests/support/both_devices.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_attention_ids)  // ctest: gpu
namespace {

using Kind = Normalizer::Kind;
using Ids = std::vector<int32_t>;

constexpr int64_t kLength = 70, kEntries = 40;
constexpr Sizes kSizes{1, 2, kLength, kLength, 8};

// Which entry query m and key n read.
using Entry = std::function<int64_t(int64_t m, int64_t n)>;

struct Case {
  const char* name;
  AttentionRule rule;
  Entry entry;
};

Ids from_zero() {
  Ids ids(kLength);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}
Tensor tensor_of(const Ids& ids) { return Tensor::from(ids, {kLength}); }

Case near_case(const char* name, const Ids& ids, int64_t window = 0) {
  Case c{name, {}, [ids](int64_t m, int64_t n) {
           return int64_t{ids[static_cast<size_t>(m)]} - ids[static_cast<size_t>(n)];
         }};
  c.rule.ids = tensor_of(ids);
  c.rule.window = window;
  return c;
}
// From distance 30 on, by ids of their own.
Case far_case(const char* name, const Ids& q, const Ids& k) {
  Case c{name, {}, [q, k](int64_t m, int64_t n) {
           return m - n < 30 ? m - n
                             : int64_t{q[static_cast<size_t>(m)]} - k[static_cast<size_t>(n)];
         }};
  c.rule.switch_distance = 30;
  c.rule.far_ids_q = tensor_of(q);
  c.rule.far_ids_k = tensor_of(k);
  return c;
}

std::vector<Case> cases() {
  const Ids ids = from_zero(), zeros(kLength, 0);
  const auto with = [](Ids all, size_t at, int32_t id) {
    all[at] = id;
    return all;
  };
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  std::vector<Case> all;
  all.push_back(near_case("ids that leave no table", ids, kEntries));
  all.push_back(near_case("the last entry and one beyond", ids));
  all.push_back(near_case("ids that fall", with(ids, 12, 30)));
  all.push_back(near_case("an id far beyond", with(ids, 50, 2000000000)));
  all.push_back(near_case("an id far below", with(ids, 50, -2000000000)));
  // -(2^32 - 1), which is 1 in 32 bits.
  all.push_back(near_case("more than 32 bits", with(with(zeros, 50, kMost), 60, kLeast)));
  all.push_back(far_case("far ids beyond", Ids(kLength, kLength), zeros));
  all.push_back(far_case("far ids below", with(zeros, 60, -1), zeros));
  all.push_back(far_case("a far id far below", zeros, with(zeros, 5, 2000000000)));
  return all;
}

// The middle of an array of ones, which would be read beside it.
Tensor amid_ones(const Tensor& table) {
  const Tensor ones = Tensor::full(table.shape(), 1, table.dtype());
  const Tensor all = concat({ones, table, ones}, 0).to(kCuda);
  return slice(all, 0, table.dim(0), 2 * table.dim(0));
}

bool sees(const AttentionRule& rule, int64_t m, int64_t n) {
  return n <= m && (rule.window == 0 || m - n < rule.window);
}

void check(const Case& c, DType dtype, const Normalizer& normalizer, double dropout) {
  AttentionProblem p = make_problem(kSizes, dtype);
  p.rule = c.rule;
  p.rule.normalizer = normalizer;
  p.rule.dropout = {.p = dropout, .random = {3, 5}};
  // Without ids of all pairs a table has as many entries as there are distances.
  const int64_t n_entry = c.rule.ids.defined() ? kEntries : kLength;
  p.add_bias(n_entry);
  p.add_weight(n_entry);

  std::vector<bool> leaves(kLength, false), is_of_such(static_cast<size_t>(n_entry), false);
  const auto is_inside = [&](int64_t entry) { return entry >= 0 && entry < n_entry; };
  const auto for_each_pair = [&](const auto& f) {
    for (int64_t m = 0; m < kLength; ++m)
      for (int64_t n = 0; n <= m; ++n)
        if (sees(c.rule, m, n)) f(static_cast<size_t>(m), c.entry(m, n));
  };
  for_each_pair([&](size_t m, int64_t entry) { leaves[m] = leaves[m] || !is_inside(entry); });
  for_each_pair([&](size_t m, int64_t entry) {
    if (leaves[m] && is_inside(entry)) is_of_such[static_cast<size_t>(entry)] = true;
  });

  const Tensor bias = amid_ones(p.rule.bias), weight = amid_ones(p.rule.weight);
  p = moved_to(kCuda, p);
  p.rule.bias = bias;
  p.rule.weight = weight;
  const Named got = run(p);
  const auto values = [&](const char* name) { return got.at(name).detach().to_vector(); };
  const std::string what = concat(c.name, ' ', dtype, ", normaliser ",
                                  static_cast<int>(normalizer.kind), ", dropout ", dropout);

  const std::vector<double> out = values("out");  // [1, T, H K]
  size_t n_wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) n_wrong += std::isnan(out[i]) != leaves[i / (2 * 8)];
  BOOST_TEST(n_wrong == 0u, n_wrong << " elements of out are wrong: " << what);

  // Of rows that read the table alone there are gradients as ever.
  const bool is_softmax = normalizer.kind == Kind::softmax;
  const auto n_unlike = [&](const char* name, const auto& may_be_nan) {
    const std::vector<double> x = values(name);
    size_t n = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const bool may = may_be_nan(i);
      n += is_softmax ? std::isnan(x[i]) != may : std::isnan(x[i]) && !may;
    }
    return n;
  };
  BOOST_TEST(n_unlike("dq", [&](size_t i) { return leaves[i / 8 % kLength]; }) == 0u, what);
  const auto of_entry = [&](size_t i) { return is_of_such[i % static_cast<size_t>(n_entry)]; };
  BOOST_TEST(n_unlike("dbias", of_entry) == 0u, what);
  BOOST_TEST(n_unlike("dweight", of_entry) == 0u, what);
}

// Such a score is not a number: so the loss is none, and the update is refused. A pair that nobody
// sees may have any entry.
BOOST_AUTO_TEST_CASE(an_entry_outside_of_the_tables_is_not_a_number) {
  for (const Case& c : cases())
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const double dropout : {0.0, 0.5}) check(c, dtype, {}, dropout);
}

BOOST_AUTO_TEST_CASE(no_normaliser_hides_such_an_entry) {
  for (const Case& c : cases())
    for (const Normalizer& normalizer :
         {Normalizer{Kind::relu, 1, 2.5}, Normalizer{Kind::relu_seqlen},
          Normalizer{Kind::relu_plain}, Normalizer{Kind::linear},
          Normalizer{Kind::clamp_absolute, 0.2}, Normalizer{Kind::clamp_relative, 0.8}})
      check(c, DType::f32, normalizer, 0);
}

// For ids within the table the results equal the CPU's.
BOOST_AUTO_TEST_CASE(the_first_and_the_last_entry_are_those_of_the_table) {
  AttentionProblem p = make_problem(kSizes, DType::f32);
  p.rule.ids = tensor_of(from_zero());
  p.add_bias(kLength);
  p.add_weight(kLength);
  const Tensor bias = amid_ones(p.rule.bias), weight = amid_ones(p.rule.weight);
  AttentionProblem moved = moved_to(kCuda, p);
  moved.rule.bias = bias;
  moved.rule.weight = weight;
  Named got = run(moved);
  for (auto& [name, x] : got) x = x.detach().to(Device{});
  compare_results(p, got, "ids up to the last entry");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
