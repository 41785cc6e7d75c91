#include <boost/test/unit_test.hpp>
#include <fstream>

#include "data/document_split.h"
#include "engine/base/error.h"
#include "tests/support/corpus_files.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_document_split)
namespace {

using Cuts = std::array<int64_t, 4>;

Cuts cuts(const std::string& weights, int64_t n) {
  return split_documents(read_split_weights(weights), n);
}

// Values from Python: int(round(w / sum * float(n))), as GPT-NeoX computes them.
BOOST_AUTO_TEST_CASE(documents_are_cut_as_gpt_neox_cuts_them) {
  BOOST_TEST(cuts("949,50,1", 1000) == (Cuts{0, 949, 999, 1000}), boost::test_tools::per_element());
  BOOST_TEST(cuts("949,50,1", 0) == (Cuts{0, 0, 0, 0}), boost::test_tools::per_element());
  BOOST_TEST(cuts("949,50,1", 1) == (Cuts{0, 1, 1, 1}), boost::test_tools::per_element());
  BOOST_TEST(cuts("949,50,1", 17) == (Cuts{0, 16, 17, 17}), boost::test_tools::per_element());
  // Halves go to the even neighbour, and what is missing at the end moves all cuts but the first.
  BOOST_TEST(cuts("1,1", 5) == (Cuts{0, 3, 5, 5}), boost::test_tools::per_element());
  BOOST_TEST(cuts("1,1", 7) == (Cuts{0, 3, 7, 7}), boost::test_tools::per_element());
  BOOST_TEST(cuts("1,1,1", 2) == (Cuts{0, 0, 1, 2}), boost::test_tools::per_element());
  BOOST_TEST(cuts("100", 3) == (Cuts{0, 3, 3, 3}), boost::test_tools::per_element());
  BOOST_TEST(cuts("0.9, 0.05, 0.05", 100) == (Cuts{0, 90, 95, 100}),
             boost::test_tools::per_element());
  BOOST_CHECK_EXCEPTION(cuts("0,1,1", 3), ConfigError, says("less than none for the first"));
}

BOOST_AUTO_TEST_CASE(other_weights_are_refused) {
  for (const char* bad :
       {"", ",", "1,", "1,,1", "a", "-1,2", "1,2,3,4", "0,0,0", "nan", "inf", "1 2"})
    BOOST_CHECK_EXCEPTION(read_split_weights(bad), ConfigError,
                          says("--data-split: expected the shares of train, valid and test, as in "
                               "949,50,1, got '",
                               bad, "'"));
}

struct Fixture {
  TempFolder folder;
  Tokens row(const std::vector<uint16_t>& ids) {
    put(folder / "ids", bytes_of(ids));
    const auto file = std::make_shared<const MappedFile>(folder / "ids");
    return {{{file, "ids", 0, static_cast<int64_t>(ids.size())}}, IdType::u16, 10};
  }
};

BOOST_FIXTURE_TEST_CASE(a_row_is_cut_at_the_next_document, Fixture) {
  const Tokens tokens = row({1, 2, 9, 1, 2, 3, 9, 1, 2, 9});
  const auto at = [&](const std::string& weights, DocumentMark mark) {
    return cut_row(tokens, read_split_weights(weights), mark, 9).at;
  };
  BOOST_TEST(at("3,1,6", DocumentMark::end_behind) == (Cuts{0, 3, 7, 10}),
             boost::test_tools::per_element());
  BOOST_TEST(at("4,3,3", DocumentMark::end_behind) == (Cuts{0, 7, 7, 10}),
             boost::test_tools::per_element());
  BOOST_TEST(at("3,3,4", DocumentMark::end_before) == (Cuts{0, 6, 6, 10}),
             boost::test_tools::per_element());
  BOOST_TEST(at("2,4,4", DocumentMark::end_before) == (Cuts{0, 2, 6, 10}),
             boost::test_tools::per_element());
  BOOST_TEST(at("1,0,0", DocumentMark::end_behind) == (Cuts{0, 10, 10, 10}),
             boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(without_a_document_near_the_share_itself_is_the_cut, Fixture) {
  std::vector<uint16_t> ids(100000, 1);
  ids.back() = 9;
  const Tokens tokens = row(ids);
  const SplitWeights weights = read_split_weights("50,25,25");
  const RowCuts near = cut_row(tokens, weights, DocumentMark::end_behind, 9, 20000);
  BOOST_TEST(near.at == (Cuts{0, 50000, 75000, 100000}), boost::test_tools::per_element());
  BOOST_TEST(!near.is_at_documents);
  const RowCuts far = cut_row(tokens, weights, DocumentMark::end_behind, 9, 60000);
  BOOST_TEST(far.at == (Cuts{0, 100000, 100000, 100000}), boost::test_tools::per_element());
  BOOST_TEST(far.is_at_documents);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
