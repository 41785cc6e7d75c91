#include <boost/test/unit_test.hpp>
#include <fstream>
#include <numeric>

#include "data/neox_order.h"
#include "engine/base/error.h"
#include "tests/support/corpus_files.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_neox_order)
namespace {

using Numbers = std::vector<uint32_t>;
using boost::test_tools::per_element;

struct Digest {
  uint64_t value = 14695981039346656037u;
  void add(int64_t number) { value = (value ^ static_cast<uint64_t>(number)) * 1099511628211u; }
};

struct Fixture {
  TempFolder folder;
  // The token at each place is its place.
  Tokens places(int64_t n) {
    std::vector<uint16_t> ids(static_cast<size_t>(n));
    std::iota(ids.begin(), ids.end(), uint16_t{0});
    put(folder / "ids", bytes_of(ids));
    return {
        {{std::make_shared<const MappedFile>(folder / "ids"), "ids", 0, n}}, IdType::u16, 65536};
  }
  NeoxOrder order(const std::vector<int64_t>& begins, int64_t seq_len, int64_t samples,
                  uint32_t seed) {
    return {places(begins.back()), begins, seq_len, samples, seed};
  }
};

BOOST_FIXTURE_TEST_SUITE(neox_order, Fixture)

BOOST_AUTO_TEST_CASE(the_shuffle_is_that_of_numpy) {
  const auto shuffled = [](uint32_t seed) {
    Numbers values(10);
    std::iota(values.begin(), values.end(), 0u);
    std::mt19937 generator(seed);
    numpy_shuffle(values, generator);
    return values;
  };
  BOOST_TEST(shuffled(0) == (Numbers{2, 8, 4, 9, 1, 6, 7, 3, 0, 5}), per_element());
  BOOST_TEST(shuffled(42) == (Numbers{8, 1, 5, 0, 7, 2, 9, 4, 3, 6}), per_element());
  BOOST_TEST(shuffled(1234) == (Numbers{7, 2, 9, 1, 0, 8, 4, 5, 6, 3}), per_element());
  std::mt19937 generator(1234);
  for (const uint32_t first : {822569775u, 2137449171u, 2671936806u, 3512589365u})
    BOOST_TEST(generator() == first);
  Numbers none;
  BOOST_CHECK_NO_THROW(numpy_shuffle(none, generator));
}

BOOST_AUTO_TEST_CASE(documents_and_samples_come_in_the_published_order) {
  const NeoxOrder o = order({0, 3, 5, 10, 14}, 3, 8, 1234);
  BOOST_TEST(o.epochs() == 2);
  BOOST_TEST(o.documents() == (Numbers{2, 1, 2, 0, 0, 1, 3, 3}), per_element());
  BOOST_TEST(o.size() == 9);
  const std::pair<int64_t, int64_t> begins[] = {{0, 0}, {0, 3}, {1, 1}, {2, 2}, {3, 0},
                                                {4, 0}, {5, 0}, {6, 1}, {7, 0}, {7, 3}};
  for (int64_t s = 0; s <= 9; ++s) {
    BOOST_TEST(o.begin(s).entry == begins[s].first);
    BOOST_TEST(o.begin(s).offset == begins[s].second);
  }
  const int64_t samples[] = {6, 4, 0, 5, 3, 2, 8, 7, 1};
  for (int64_t i = 0; i < 9; ++i) BOOST_TEST(o.sample(i) == samples[i]);
  std::vector<int32_t> got(4);
  o.copy(5, got.data());  // sample 2: the end of document 1, the beginning of 2
  BOOST_TEST(got == (std::vector<int32_t>{4, 5, 6, 7}), per_element());
  BOOST_TEST(o.place(5).begin == 4);
  BOOST_TEST(o.place(5).epoch == 1);
  o.copy(4, got.data());  // sample 3: the end of document 2, then 0 from its beginning
  BOOST_TEST(got == (std::vector<int32_t>{7, 8, 9, 0}), per_element());
}

// Values from numpy.random.RandomState and the loops of GPT-NeoX's megatron/data/helpers.cpp.
BOOST_AUTO_TEST_CASE(orders_agree_with_numpy) {
  const struct {
    std::vector<int64_t> sizes;
    int64_t seq_len, samples;
    uint32_t seed;
    int64_t epochs, size;
    uint64_t documents, begins, order, tokens;  // FNV-1a over the numbers
  } cases[] = {
      {{4, 6, 3, 3, 7, 7, 7, 8, 8, 7, 6, 4, 0, 7, 0, 7, 6, 3, 5, 8},
       7,
       40,
       0u,
       3,
       45,
       2098067413312567543ull,
       7347504293320071820ull,
       10333425612781776867ull,
       5099312081534551830ull},
      {{14, 996, 659, 178, 364, 293, 1337},
       64,
       1000,
       31337u,
       17,
       1020,
       7359233771648885496ull,
       15553048850373959583ull,
       9938041994468633129ull,
       12934213076195087440ull},
      {{97},
       9,
       11,
       5u,
       2,
       21,
       590684067820433389ull,
       9869750417019280566ull,
       10808070626878297651ull,
       11805921320998124685ull},
  };
  for (const auto& c : cases) {
    std::vector<int64_t> begins = {0};
    for (const int64_t size : c.sizes) begins.push_back(begins.back() + size);
    const NeoxOrder o = order(begins, c.seq_len, c.samples, c.seed);
    BOOST_TEST(o.epochs() == c.epochs);
    BOOST_TEST(o.size() == c.size);
    Digest documents, starts, samples, tokens;
    for (const uint32_t document : o.documents()) documents.add(document);
    for (int64_t s = 0; s <= o.size(); ++s) {
      starts.add(o.begin(s).entry);
      starts.add(o.begin(s).offset);
    }
    std::vector<int32_t> ids(static_cast<size_t>(c.seq_len) + 1);
    for (int64_t i = 0; i < o.size(); ++i) {
      samples.add(o.sample(i));
      o.copy(i, ids.data());
      for (const int32_t id : ids) tokens.add(id);
    }
    BOOST_TEST(documents.value == c.documents);
    BOOST_TEST(starts.value == c.begins);
    BOOST_TEST(samples.value == c.order);
    BOOST_TEST(tokens.value == c.tokens);
  }
}

BOOST_AUTO_TEST_CASE(a_tail_without_an_end_is_a_document) {
  const NeoxOrder o(places(5), {0, 3}, 2, 2, 0);
  BOOST_TEST(o.documents().size() == 2u);
  BOOST_TEST(o.size() == 2);
}

BOOST_AUTO_TEST_CASE(a_list_that_is_too_short_is_an_error) {
  const NeoxOrder o = order({0, 3, 5, 10, 14}, 3, 8, 1234);
  std::vector<int32_t> out(4);
  BOOST_CHECK_EXCEPTION(o.copy(9, out.data()), ConfigError,
                        says("expected a sample within the 9 of this order, got 9"));
  BOOST_CHECK_THROW(o.sample(-1), ConfigError);
  BOOST_CHECK_THROW(o.begin(10), ConfigError);
}

BOOST_AUTO_TEST_CASE(sizes_that_make_no_order_are_refused) {
  BOOST_CHECK_THROW(order({0, 3}, 0, 1, 0), ConfigError);
  BOOST_CHECK_THROW(order({0, 3}, 1, 0, 0), ConfigError);
  BOOST_CHECK_THROW(order({0, 0}, 1, 1, 0), ConfigError);
  BOOST_CHECK_THROW(order({0, 2, 1, 3}, 1, 1, 0), ConfigError);
  BOOST_CHECK_THROW(NeoxOrder(places(3), {0, 4}, 1, 1, 0), ConfigError);
  BOOST_CHECK_THROW(NeoxOrder(places(3), {}, 1, 1, 0), ConfigError);
  BOOST_CHECK_THROW(order({0, 3}, INT64_MAX, 2, 0), ConfigError);
  BOOST_CHECK_EXCEPTION(order({0, 3}, 1, int64_t{1} << 33, 0), ConfigError,
                        says("expected fewer than 2^32 documents and samples"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
