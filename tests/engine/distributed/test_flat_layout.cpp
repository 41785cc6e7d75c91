#include <boost/test/unit_test.hpp>

#include "engine/distributed/flat_layout.h"

BOOST_AUTO_TEST_SUITE(test_flat_layout)

using namespace farfield;

namespace {

FlatLayout layout_of(const std::vector<int64_t>& sizes) {
  std::vector<Parameter> parameters;
  for (const int64_t size : sizes)
    parameters.push_back(
        {.name = std::to_string(parameters.size()), .value = Tensor::empty({size})});
  return FlatLayout(parameters);
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_element_is_in_one_bucket_and_one_segment) {
  const FlatLayout layout = layout_of({5, 1'000'000, 0, 7, 300'000, 1});
  BOOST_TEST(layout.numel() == 1'300'013);
  BOOST_TEST(layout.n_bucket() > 2);
  int64_t at = 0;
  std::vector<int64_t> next(layout.n_parameter());
  for (int64_t k = 0; k < layout.n_bucket(); ++k) {
    const comm::Range bucket = layout.bucket(k);
    BOOST_TEST(bucket.begin == at);
    BOOST_TEST(bucket.begin % FlatLayout::unit() == 0);
    for (const FlatLayout::Segment& segment : layout.segments(bucket)) {
      BOOST_TEST(segment.at == at);
      BOOST_TEST(segment.begin == next[segment.parameter]);
      BOOST_TEST(layout.parameter(segment.parameter).begin + segment.begin == at);
      const comm::Range buckets = layout.buckets_of(segment.parameter);
      BOOST_TEST((buckets.begin <= k && k < buckets.end));
      next[segment.parameter] = segment.end;
      at += segment.end - segment.begin;
    }
    BOOST_TEST(bucket.end == at);
  }
  BOOST_TEST(at == layout.numel());
  BOOST_TEST(layout.buckets_of(2).size() == 0);  // of nothing
}

BOOST_AUTO_TEST_CASE(no_parameters_make_no_buckets) {
  BOOST_TEST(layout_of({}).n_bucket() == 0);
  BOOST_TEST(layout_of({0}).n_bucket() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
