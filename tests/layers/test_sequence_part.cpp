#include <boost/test/unit_test.hpp>

#include "engine/autograd.h"
#include "engine/ops/attention.h"
#include "engine/ops/view.h"
#include "layers/sequence_part.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_sequence_part)  // ctest: on_cuda
namespace {

constexpr int64_t kLength = 12, kHeads = 2, kBatch = 2;

Tensor heads_by(uint64_t seed) { return random_tensor({kBatch, kHeads, kLength, 4}, seed); }
Tensor ids_by(int64_t n, int32_t (*f)(int32_t)) {
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < n; ++i) ids.push_back(f(i));
  return Tensor::from(ids, {n});
}

// The keys of a part, gathered one by one.
Tensor keys_of(const Tensor& x, const SequencePart& part) {
  if (!x.defined()) return x;
  std::vector<Tensor> keys;
  for (int64_t n = 0; n < part.end; ++n)
    if (n < part.n_sink || n >= part.begin) keys.push_back(slice(x, 2, n, n + 1));
  return concat(keys, 2);
}

// Outputs of a part's queries, among its keys alone and among all.
void check_part(const AttentionRule& rule, const FarHeads& far, const SequencePart& part) {
  const NoGrad no_grad;
  const Tensor q = heads_by(1), k = heads_by(2), v = heads_by(3);
  const auto queries = [&](const Tensor& x) {
    return x.defined() ? slice(x, 2, part.first, part.end) : x;
  };
  const Tensor got = attention(queries(q), keys_of(k, part), keys_of(v, part), part_of(rule, part),
                               {queries(far.q), keys_of(far.k, part)});
  const Tensor want = slice(attention(q, k, v, rule, far), 1, part.first, part.end);
  BOOST_TEST(all_close(got, want, Tolerance(1e-13)),
             "queries " << part.first << " to " << part.end << ", keys from " << part.begin
                        << " behind " << part.n_sink << " sinks");
}

// A rule with everything that goes by distance or by query, and parts with and without a gap.
AttentionRule full_rule() {
  return {.bias = random_tensor({kHeads, kLength}, 4),
          .weight = random_tensor({kHeads, kLength}, 5),
          .row_scale = random_tensor({kLength}, 6, 0.5, 2),
          .window = 5,
          .sinks = 2};
}
const std::vector<SequencePart> kParts = {{.first = 0, .end = 3},
                                          {.first = 4, .end = 12},
                                          {.first = 11, .end = 12, .begin = 7, .n_sink = 2},
                                          {.first = 9, .end = 12, .begin = 5, .n_sink = 2},
                                          {.first = 9, .end = 11, .begin = 4, .n_sink = 2}};

BOOST_AUTO_TEST_CASE(tables_by_distance_and_by_query) {
  for (const SequencePart& part : kParts) check_part(full_rule(), {}, part);
  AttentionRule rule = full_rule();
  rule.sinks = 0;
  check_part(rule, {}, {.first = 9, .end = 12, .begin = 5});
  rule.weight = {};
  check_part(rule, {}, {.first = 10, .end = 12, .begin = 6});
}

BOOST_AUTO_TEST_CASE(tables_by_ids) {
  AttentionRule rule = full_rule();
  rule.ids = ids_by(kLength, [](int32_t n) { return 2 * n / 3; });
  for (const SequencePart& part : kParts) check_part(rule, {}, part);
  rule.ids = concat({rule.ids.view({1, kLength}),
                     ids_by(kLength, [](int32_t n) { return n / 2; }).view({1, kLength})},
                    0);
  for (const SequencePart& part : kParts) check_part(rule, {}, part);
}

// Far entries are not bounded by the distances among the keys at hand; the position from which
// pairs may be far is that in the whole sequence.
BOOST_AUTO_TEST_CASE(far_copies_and_far_entries) {
  const FarHeads far{heads_by(7), heads_by(8)};
  for (const int64_t switch_position : {0, 5, 10}) {
    AttentionRule rule = full_rule();
    rule.switch_distance = 4;
    rule.switch_position = switch_position;
    for (const SequencePart& part : kParts) check_part(rule, far, part);
    rule.far_ids_q = ids_by(kLength, [](int32_t m) { return m / 2 + 6; });
    rule.far_ids_k = ids_by(kLength, [](int32_t n) { return n / 2; });
    for (const SequencePart& part : kParts) check_part(rule, far, part);
    rule.sinks = 0;
    check_part(rule, far, {.first = 10, .end = 12, .begin = 6});
  }
}

BOOST_AUTO_TEST_CASE(row_biases_and_normalisers) {
  AttentionRule rule = full_rule();
  rule.sinks = 0;
  std::vector<double> feature;
  for (int d = 0; d < kLength; ++d) feature.push_back(0.3 * d);
  rule.row_bias = {.feature = Tensor::from(feature, {kLength}, DType::f64),
                   .row_factor = random_tensor({kLength}, 9, 0.5, 2),
                   .knots = Tensor::from({0.5, 2}, {2}, DType::f64),
                   .slope = random_tensor({kHeads, 3}, 10),
                   .offset = random_tensor({kHeads, 3}, 11)};
  check_part(rule, {}, {.first = 9, .end = 12, .begin = 5});
  check_part(rule, {}, {.first = 2, .end = 5});
  rule.sinks = 2;
  BOOST_TEST(message_of<ConfigError>([&] { part_of(rule, kParts.back()); }) ==
             "[attention] expected no row-dependent bias beside sinks whose neighbours are left "
             "out");
  rule = full_rule();
  for (const Normalizer::Kind kind :
       {Normalizer::Kind::relu, Normalizer::Kind::relu_seqlen, Normalizer::Kind::relu_plain,
        Normalizer::Kind::linear, Normalizer::Kind::clamp_relative}) {
    rule.normalizer = {.kind = kind, .parameter = 0.7};
    for (const SequencePart& part : kParts) check_part(rule, {}, part);
  }
}

BOOST_AUTO_TEST_CASE(rows_of_rotations) {
  const Tensor shared = random_tensor({kLength, 3}, 1), own = random_tensor({2, kLength, 3}, 2);
  Rotation rotation{.cos = own, .sin = own, .interleaved = true};
  rotation.far = {shared, shared, shared, shared};
  const Rotation part = part_of(rotation, 4, 7);
  BOOST_TEST(same_bits(part.cos, slice(own, 1, 4, 7)));
  BOOST_TEST(same_bits(part.far.sin_k, slice(shared, 0, 4, 7)));
  BOOST_TEST(!part.scale_q.defined());
  BOOST_TEST(part.interleaved);
  BOOST_TEST(part_of(rotation, 0, kLength).cos.raw_data() == own.raw_data());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
