#include <boost/test/unit_test.hpp>
#include <fstream>
#include <numeric>

#include "data/prefetcher.h"
#include "data/token_file.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_prefetcher)  // ctest: threads
namespace {

struct Fixture {
  TempFolder folder;
  std::filesystem::path path = folder / "train.tokens";

  Fixture() {
    std::vector<int32_t> ids(1001);
    std::iota(ids.begin(), ids.end(), 0);
    TokenWriter writer(path, 1001);
    writer.append(ids);
    writer.count_document(1);
    writer.commit();
  }
  Loader loader() const { return {open_token_file(path).tokens, 4, 10, 1}; }
};

BOOST_FIXTURE_TEST_SUITE(prefetcher, Fixture)

BOOST_AUTO_TEST_CASE(batches_are_those_of_the_loader_in_any_order) {
  const Loader plain = loader();
  Prefetcher ahead(loader());
  for (const int64_t step : {0, 1, 2, 3, 7, 8, 2, 2, 3}) {
    const Batch batch = ahead.take(step);
    BOOST_TEST(batch.inputs == plain.batch(step).inputs);
    BOOST_TEST(batch.targets == plain.batch(step).targets);
  }
  BOOST_TEST(ahead.waited_s() > 0);
}

// A damaged id stops the step that reads it, not the one before it.
BOOST_AUTO_TEST_CASE(an_error_comes_with_the_step_that_it_is_of) {
  const Loader plain = loader();
  const int64_t bad = plain.batch(1).rows[0].place.begin;  // of the second step
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(64 + 2 * (bad + 5));
    file.write("\xFF\xFF", 2);
  }
  Prefetcher ahead(loader());
  BOOST_CHECK_NO_THROW(ahead.take(0));
  BOOST_CHECK_EXCEPTION(ahead.take(1), IoError,
                        says(path.string(), ": expected ids from 0 to 1000, got 65535 at byte "));
  BOOST_CHECK_NO_THROW(ahead.take(0));
  BOOST_CHECK_NO_THROW(ahead.take(2));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
