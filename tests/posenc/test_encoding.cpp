#include <boost/test/unit_test.hpp>

#include "posenc/encoding.h"
#include "tests/support/all_close.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_encoding)
namespace {

BOOST_AUTO_TEST_CASE(plain_positions_count_from_zero) {
  const Positions p = Positions::plain(2, 5, Phase::train);
  BOOST_TEST((p.ids == std::vector<double>{0, 1, 2, 3, 4}));
  BOOST_TEST((p.query_ids() == std::vector<double>{3, 4}));
  BOOST_TEST(same_bits(p.distances(), Tensor::from({0, 1, 2, 3, 4}, {5}, DType::f64)));
}

BOOST_AUTO_TEST_CASE(more_queries_than_keys_are_refused) {
  BOOST_CHECK_EXCEPTION(Positions::plain(3, 2, Phase::eval), ShapeError,
                        says("[posenc] expected 1 <= n_query <= n_key, got n_query 3, n_key 2"));
  BOOST_CHECK_THROW(Positions::plain(0, 2, Phase::eval), ShapeError);
}

BOOST_AUTO_TEST_CASE(every_hook_leaves_things_as_they_are) {
  const Encoding encoding;
  const Positions p = Positions::plain(2, 3, Phase::eval);
  BOOST_TEST((encoding.positions(p).ids == p.ids));
  BOOST_TEST(!encoding.embed(p).table.defined());
  BOOST_TEST(!encoding.rotate(p).cos.defined());
  BOOST_TEST(!encoding.score(p).bias.defined());
  BOOST_TEST(encoding.parameters().empty());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
