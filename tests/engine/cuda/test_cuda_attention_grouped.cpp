// Grouped queries on the device against the CPU.

#include <boost/test/unit_test.hpp>

#include "engine/ops/attention.h"
#include "engine/ops/split_heads.h"
#include "engine/ops/view.h"
#include "tests/support/both_devices.h"
#include "tests/support/grouped_attention.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_attention_grouped)  // ctest: gpu
namespace {

using Inputs = std::vector<Tensor>;

// By general kernels, which serve all grouped heads; ids take ungrouped heads there too.
BOOST_AUTO_TEST_CASE(heads_of_a_group_equal_heads_with_copied_keys) {
  std::vector<int32_t> ids;
  for (int32_t n = 0; n < 70; ++n) ids.push_back(n);
  for (const DType dtype : {DType::f32, DType::bf16})
    for (auto [name, rule] : grouped_rules(6, 70, DType::f32))
      BOOST_TEST_CONTEXT(name << ' ' << dtype) {
        rule.ids = Tensor::from(ids, {70}).to(kCuda);
        compare_with_copies(kCuda, dtype, {6, 2, rule.row_scale.defined() ? 70 : 40, 70, 12}, rule);
      }
}

BOOST_AUTO_TEST_CASE(groups_of_whole_vectors_agree_with_the_cpu) {
  devices_agree("float32",
                {random_tensor({1, 3, 70, 64}, 1, -1, 1, DType::f32),
                 random_tensor({1, 1, 70, 64}, 2, -1, 1, DType::f32),
                 random_tensor({1, 1, 70, 64}, 3, -1, 1, DType::f32)},
                Work::reduction,
                [](const Inputs& in) { return attention(in[0], in[1], in[2], {}); });
}

BOOST_AUTO_TEST_CASE(far_copies_of_groups_agree_with_the_cpu) {
  AttentionRule rule;
  rule.switch_distance = 30;
  devices_agree("far",
                {random_tensor({1, 4, 70, 16}, 1, -1, 1, DType::f32),
                 random_tensor({1, 2, 70, 16}, 2, -1, 1, DType::f32),
                 random_tensor({1, 2, 70, 16}, 3, -1, 1, DType::f32),
                 random_tensor({1, 4, 70, 16}, 4, -1, 1, DType::f32),
                 random_tensor({1, 2, 70, 16}, 5, -1, 1, DType::f32)},
                Work::reduction, [&](const Inputs& in) {
                  return attention(in[0], in[1], in[2], rule, {in[3], in[4]});
                });
}

BOOST_AUTO_TEST_CASE(projections_are_split_by_groups) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const bool has_far : {false, true})
      for (const int64_t head_dim : {6, 16}) {
        const HeadCounts counts(6, 2);
        devices_agree(concat("split ", dtype, ' ', head_dim),
                      {random_tensor({2, 7, counts.n_part() * head_dim}, 1, -1, 1, dtype)},
                      Work::pointwise, [&](const Inputs& in) {
                        uint64_t seed = 20;
                        const auto table = [&] {
                          return random_tensor({7, head_dim / 2}, seed++, -1, 1, DType::f32)
                              .to(in[0].device());
                        };
                        Rotation rotation;
                        rotation.cos = table(), rotation.sin = table();
                        if (has_far) rotation.far = {table(), table(), table(), table()};
                        const Heads heads = split_heads(in[0], counts, rotation);
                        std::vector<Tensor> parts{heads.q, heads.k, heads.v};
                        if (has_far) parts.insert(parts.end(), {heads.far.q, heads.far.k});
                        return concat(parts, 1);
                      });
      }
}

// The whole of a projection: split, since grouped heads are not read in place.
BOOST_AUTO_TEST_CASE(attention_of_a_projection_agrees) {
  devices_agree("projection", {random_tensor({2, 70, 8 * 16}, 1, -1, 1, DType::f32)},
                Work::reduction, [](const Inputs& in) {
                  return attention(in[0], {4, 2});
                });
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
