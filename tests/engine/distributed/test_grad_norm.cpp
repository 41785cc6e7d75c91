#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/distributed/grad_norm.h"
#include "engine/optim.h"
#include "tests/support/group_work.h"

BOOST_AUTO_TEST_SUITE(test_grad_norm)

using namespace farfield;
using test::check_group;

namespace {

Parameter with_gradient(const std::string& name, double gradient, const Shard& shard) {
  Tensor value = Tensor::zeros({2});
  value.set_requires_grad();
  value.set_grad(Tensor::full({2}, gradient));
  return {.name = name, .value = value, .shard = shard};
}

// 2 (1 + 4 + 9) of shards and 2 16 of what all have.
BOOST_AUTO_TEST_CASE(what_all_have_counts_once) {
  check_group(3, [](const Group& group) {
    const int64_t r = group.rank();
    const Shard shard{.dim = 0, .begin = 2 * r, .end = 2 * r + 2, .n_whole = 6};
    const double norm = device_grad_norm({with_gradient("a", static_cast<double>(r + 1), shard),
                                          with_gradient("b", 4, {})},
                                         group)
                            .item();
    return std::abs(norm - std::sqrt(60.0)) < 1e-12 ? "" : concat(norm);
  });
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_in_one_shows_in_all) {
  check_group(2, [](const Group& group) {
    const Shard shard{
        .dim = 0, .begin = 2 * group.rank(), .end = 2 * group.rank() + 2, .n_whole = 4};
    const double norm =
        device_grad_norm({with_gradient("a", group.rank() == 1 ? std::nan("") : 1.0, shard)}, group)
            .item();
    return std::isnan(norm) ? "" : concat(norm);
  });
}

BOOST_AUTO_TEST_CASE(alone_it_is_the_norm_itself) {
  const std::vector<Parameter> all{with_gradient("a", 0.3, {}), with_gradient("b", 4, {})};
  BOOST_TEST(device_grad_norm(all, {}).item() == device_grad_norm(all).item());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
