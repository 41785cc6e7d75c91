#include <boost/test/unit_test.hpp>

#include "apps/eval/protocols/non_overlapping.h"
#include "apps/eval/protocols/position_wise.h"
#include "apps/eval/remembering.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/toy_models.h"

BOOST_AUTO_TEST_SUITE(test_remembering)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {

// Scores ids[t] + 100 target and counts the rows that it is asked for.
Scorer counted(int64_t& n_rows) {
  Scorer model = model_of(
      [](const int32_t* row, int64_t t, int32_t target) { return row[t] + 100.0 * target; });
  model.score = [score = model.score, &n_rows](const Scorer::Ids& ids, const Scorer::Ids& targets,
                                               int64_t batch) {
    n_rows += batch;
    return score(ids, targets, batch);
  };
  return model;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_row_is_scored_once_and_found_in_any_batch) {
  int64_t n_rows = 0;
  RowMemory memory;
  const Scorer model = remembering(counted(n_rows), memory);
  const std::vector<double> first = model.score({1, 2, 3, 4}, {5, 6, 7, 8}, 2);
  BOOST_TEST(n_rows == 2);
  const std::vector<double> want = {501, 602, 703, 804};
  BOOST_TEST(first == want, boost::test_tools::per_element());
  // The second row, a new one, and the first again.
  const std::vector<double> then = model.score({3, 4, 9, 9, 1, 2}, {7, 8, 1, 1, 5, 6}, 3);
  BOOST_TEST(n_rows == 3);
  const std::vector<double> mixed = {703, 804, 109, 109, 501, 602};
  BOOST_TEST(then == mixed, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(other_targets_make_another_row) {
  int64_t n_rows = 0;
  RowMemory memory;
  const Scorer model = remembering(counted(n_rows), memory);
  model.score({1, 2}, {3, 4}, 1);
  BOOST_TEST(model.score({1, 2}, {3, 5}, 1)[1] == 502);
  BOOST_TEST(model.score({1, 2}, {4}, 1)[0] == 402);
  BOOST_TEST(model.score({1, 2, 3}, {4}, 1)[0] == 403);  // the same numbers in a row of three
  BOOST_TEST(n_rows == 4);
}

BOOST_AUTO_TEST_CASE(a_full_memory_takes_nothing_in_and_scores_all_the_same) {
  int64_t n_rows = 0;
  RowMemory memory(200);  // one row
  const Scorer model = remembering(counted(n_rows), memory);
  for (int round = 0; round < 3; ++round)
    BOOST_TEST(model.score({1, 2, 3, 4}, {5, 6, 7, 8}, 2)[3] == 804);
  BOOST_TEST(n_rows == 2 + 1 + 1);
}

BOOST_AUTO_TEST_CASE(what_float32_cannot_hold_is_computed_again) {
  int64_t n_rows = 0;
  RowMemory memory;
  Scorer model = counted(n_rows);
  double value = 0.1;
  model.score = [&](const Scorer::Ids&, const Scorer::Ids&, int64_t) {
    ++n_rows;
    return std::vector<double>{value};
  };
  const Scorer remembered = remembering(model, memory);
  for (const double tried : {0.1, std::nan(""), 0.5, 0.25}) {
    value = tried;
    const double got = remembered.score({1}, {2}, 1)[0];
    if (!std::isnan(tried)) BOOST_TEST(got == (tried == 0.25 ? 0.5 : tried));
  }
  BOOST_TEST(n_rows == 3);
}

BOOST_AUTO_TEST_CASE(two_protocols_that_read_the_same_chunks_ask_the_model_once) {
  int64_t n_rows = 0;
  RowMemory memory;
  const Subject all = subject(remembering(counted(n_rows), memory), toy_text(500));
  CommonOptions common;
  common.lengths = {16, 30};
  common.batch_tokens = 100;
  PositionWiseOptions curve;
  curve.sequences = 10;
  const ProtocolResult by_position = position_wise(all, common, curve);
  BOOST_TEST(n_rows == 20);
  NonOverlappingOptions chunks;
  chunks.budget = "same-chunks";
  chunks.chunks = 10;
  const ProtocolResult by_chunk = non_overlapping(all, common, chunks);
  BOOST_TEST(n_rows == 20);
  for (size_t i = 0; i < 2; ++i) {
    BOOST_TEST(by_position.lengths[i].mean_nll == by_chunk.lengths[i].mean_nll,
               boost::test_tools::tolerance(1e-14));
    BOOST_TEST(by_position.lengths[i].tokens == by_chunk.lengths[i].tokens);
    BOOST_TEST(by_position.lengths[i].items == by_chunk.lengths[i].items,
               boost::test_tools::per_element());
  }
  // The whole text holds 31 chunks of 16 and 16 of 30, of which ten each are known.
  non_overlapping(all, common, {});
  BOOST_TEST(n_rows == 20 + 21 + 6);
}

BOOST_AUTO_TEST_SUITE_END()
