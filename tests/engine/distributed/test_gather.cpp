#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "engine/distributed/gather.h"
#include "tests/support/all_close.h"
#include "tests/support/processes.h"
#include "tests/support/random_tensor.h"

BOOST_AUTO_TEST_SUITE(test_gather)

using namespace farfield;
using test::EndedProcess;
using test::in_processes;

namespace {

Shard shard_of(const Group& group, int dim, int64_t n) {
  return {.dim = dim,
          .begin = n * group.rank() / group.size(),
          .end = n * (group.rank() + 1) / group.size(),
          .n_whole = n};
}

std::string bits_of(const Tensor& x) {
  return {static_cast<const char*>(x.raw_data()), static_cast<size_t>(x.size_bytes())};
}

// Numbers whose bits a sum with zeros would change among them.
Tensor whole_tensor(const Shape& shape, DType dtype) {
  std::vector<double> values = random_tensor(shape, 3).to_vector();
  values[0] = -0.0;
  values[1] = std::numeric_limits<double>::infinity();
  values[2] = std::nan("");
  return Tensor::from(values, shape, dtype);
}

// Uneven shards, with one that is empty.
BOOST_AUTO_TEST_CASE(what_is_cut_up_comes_together_bit_for_bit) {
  for (const int size : {1, 2, 3, 4})
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16})
      for (const Shape& shape : {Shape{3, 5}, Shape{5, 3}, Shape{7}, Shape{2, 3, 4}}) {
        const Tensor whole = whole_tensor(shape, dtype);
        for (int dim = 0; dim < shape.rank(); ++dim) {
          const std::vector<EndedProcess> ended =
              in_processes(size, [&](std::shared_ptr<comm::Communicator> all) {
                const Group group(all);
                const Shard shard = shard_of(group, dim, shape[dim]);
                const Tensor own = own_shard(whole, shard);
                require<Error>(own.shape() == shard.own_of(shape), "test", own.shape());
                const Tensor back = gather_whole(own, shard, group);
                if (!group.is_first()) return std::string(back.defined() ? "something" : "none");
                require<Error>(back.shape() == shape && back.dtype() == dtype, "test",
                               back.shape());
                return bits_of(back);
              });
          for (size_t rank = 0; rank < ended.size(); ++rank) {
            BOOST_TEST(ended[rank].status == 0, ended[rank].said);
            BOOST_TEST((ended[rank].said == (rank == 0 ? bits_of(whole) : "none")),
                       shape << ' ' << dim << " in " << size);
          }
        }
      }
}

BOOST_AUTO_TEST_CASE(a_shard_is_the_slice) {
  const Tensor whole = Tensor::from({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 4});
  BOOST_TEST(same_bits(own_shard(whole, {.dim = 1, .begin = 1, .end = 3, .n_whole = 4}),
                       Tensor::from({1, 2, 5, 6, 9, 10}, {3, 2})));
  BOOST_TEST(same_bits(own_shard(whole, {.dim = 0, .begin = 2, .end = 3, .n_whole = 3}),
                       Tensor::from({8, 9, 10, 11}, {1, 4})));
  BOOST_TEST(own_shard(whole, {}).raw_data() == whole.raw_data());
}

BOOST_AUTO_TEST_CASE(a_whole_one_comes_from_the_first) {
  const std::vector<EndedProcess> ended =
      in_processes(2, [](std::shared_ptr<comm::Communicator> all) {
        const Group group(all);
        const Tensor x = Tensor::full({2}, group.rank());
        const Tensor whole = gather_whole(x, {}, group);
        return whole.defined() ? std::to_string(whole.to_vector()[0]) : std::string("none");
      });
  BOOST_TEST(ended[0].said == "0.000000");
  BOOST_TEST(ended[1].said == "none");
}

BOOST_AUTO_TEST_CASE(shards_that_are_no_parts_of_the_whole_are_refused) {
  const std::vector<EndedProcess> ended =
      in_processes(2, [](std::shared_ptr<comm::Communicator> all) {
        const Group group(all);
        gather_whole(
            Tensor::zeros({2}),
            {.dim = 0, .begin = 3 * group.rank(), .end = 3 * group.rank() + 2, .n_whole = 5},
            group);
        return std::string();
      });
  BOOST_TEST(ended[0].said == "[shard] expected process 1 to go on at 2 of 5, got 3 to 5");
  BOOST_CHECK_EXCEPTION(
      own_shard(Tensor::zeros({4, 3}), {.dim = 0, .begin = 1, .end = 2, .n_whole = 5}), ShapeError,
      says_exactly("[shard] expected 5 elements along dimension 0, got [4, 3]"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
