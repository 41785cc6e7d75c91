#include <boost/test/unit_test.hpp>
#include <numeric>
#include <set>

#include "data/document_starts.h"
#include "data/token_file.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_document_starts)
namespace {

// Tokens 0, 1, 2, ... in documents of 4, 10, 6, 13 and 21 tokens.
const std::vector<int64_t> kBegins = {0, 4, 14, 20, 33, 54};

Tokens counting(const TempFolder& folder) {
  std::vector<int32_t> ids(static_cast<size_t>(kBegins.back()));
  std::iota(ids.begin(), ids.end(), 0);
  TokenWriter writer(folder / "train.tokens", kBegins.back());
  writer.append(ids);
  writer.count_document(kBegins.back());
  writer.commit();
  return open_token_file(folder / "train.tokens").tokens;
}

BOOST_AUTO_TEST_CASE(rows_begin_with_documents_that_are_long_enough) {
  const TempFolder folder;
  const DocumentStarts rows(counting(folder), kBegins, 9, 1);
  BOOST_TEST(rows.per_epoch() == 3);
  std::set<int64_t> begins;
  for (int64_t i = 0; i < 3; ++i) {
    std::vector<int32_t> ids(10);
    rows.copy(i, ids.data());
    begins.insert(rows.place(i).begin);
    for (size_t t = 0; t < 10; ++t)
      BOOST_TEST(ids[t] == rows.place(i).begin + static_cast<int64_t>(t));
    BOOST_TEST(rows.place(i).epoch == 0);
  }
  BOOST_TEST(begins == (std::set<int64_t>{4, 20, 33}));
  BOOST_TEST(rows.place(3).epoch == 1);
}

BOOST_AUTO_TEST_CASE(tokens_behind_the_last_end_are_a_document_too) {
  const TempFolder folder;
  const DocumentStarts rows(counting(folder), {0, 4, 14}, 16, 1);
  BOOST_TEST(rows.per_epoch() == 1);
  BOOST_TEST(rows.place(0).begin == 14);
}

BOOST_AUTO_TEST_CASE(each_epoch_has_an_order_of_its_own) {
  const TempFolder folder;
  const DocumentStarts one(counting(folder), kBegins, 2, 1), same(counting(folder), kBegins, 2, 1);
  std::set<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 6; ++epoch) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < 5; ++i) {
      order.push_back(one.place(5 * epoch + i).begin);
      BOOST_TEST(order.back() == same.place(5 * epoch + i).begin);
    }
    BOOST_TEST(std::set(order.begin(), order.end()).size() == 5u);
    orders.insert(order);
  }
  BOOST_TEST(orders.size() > 2u);
}

BOOST_AUTO_TEST_CASE(documents_that_are_all_too_short_are_refused) {
  const TempFolder folder;
  BOOST_CHECK_EXCEPTION(DocumentStarts(counting(folder), kBegins, 21, 1), ConfigError,
                        says("expected a document of 21 + 1 tokens for rows of 21 "
                             "that begin with a document, got at most 21 tokens"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
