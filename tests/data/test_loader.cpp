#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <numeric>

#include "data/loader.h"
#include "data/token_file.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_loader)  // ctest: threads arm64
namespace {

// A file with tokens 0, 1, 2, ... n - 1.
Tokens counting(const TempFolder& folder, int32_t n) {
  std::vector<int32_t> ids(static_cast<size_t>(n));
  std::iota(ids.begin(), ids.end(), 0);
  TokenWriter writer(folder / "train.tokens", std::max(n, 1));
  writer.append(ids);
  writer.count_document(n);
  writer.commit();
  return open_token_file(folder / "train.tokens").tokens;
}

BOOST_AUTO_TEST_CASE(targets_are_the_next_tokens) {
  const TempFolder folder;
  const Loader loader(counting(folder, 1000), 3, 7, 1);
  for (const int64_t step : {0, 1, 50}) {
    const Batch batch = loader.batch(step);
    BOOST_TEST(batch.inputs.size() == 21u);
    BOOST_TEST(batch.rows.size() == 3u);
    for (size_t i = 0; i < 21; ++i) {
      BOOST_TEST(batch.inputs[i] == batch.rows[i / 7].place.begin + static_cast<int64_t>(i % 7));
      BOOST_TEST(batch.targets[i] == batch.inputs[i] + 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_epoch_takes_every_window_once_in_an_order_of_its_own) {
  const TempFolder folder;
  const Loader loader(counting(folder, 1003), 4, 10, 9);  // 100 windows: 25 steps an epoch
  BOOST_TEST(loader.per_epoch() == 100);
  std::vector<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> order;
    for (int64_t step = 25 * epoch; step < 25 * (epoch + 1); ++step) {
      const Batch batch = loader.batch(step);
      for (const Batch::Row& row : batch.rows) {
        BOOST_TEST(row.place.epoch == epoch);
        order.push_back(row.place.begin);
      }
    }
    orders.push_back(order);
    std::sort(order.begin(), order.end());
    for (int64_t i = 0; i < 100; ++i) BOOST_TEST(order[static_cast<size_t>(i)] == 10 * i);
  }
  BOOST_CHECK(orders[0] != orders[1]);
  BOOST_CHECK(orders[1] != orders[2]);
}

BOOST_AUTO_TEST_CASE(batches_run_on_across_epochs) {
  const TempFolder folder;
  const Loader loader(counting(folder, 71), 4, 10, 9);  // 7 windows
  std::map<int64_t, int> times;
  for (int64_t step = 0; step < 7; ++step)
    for (const Batch::Row& row : loader.batch(step).rows) ++times[row.place.begin];
  BOOST_TEST(times.size() == 7u);
  for (const auto& [begin, n] : times) BOOST_TEST(n == 4);
}

BOOST_AUTO_TEST_CASE(a_batch_depends_on_seed_and_step_alone) {
  const TempFolder folder;
  const Tokens tokens = counting(folder, 5000);
  const Loader loader(tokens, 8, 16, 3);
  const Batch late = loader.batch(1000), early = loader.batch(2);
  const Loader again(tokens, 8, 16, 3);
  for (int64_t step = 0; step < 5; ++step) again.batch(step);
  BOOST_TEST(again.batch(2).inputs == early.inputs);
  BOOST_TEST(again.batch(1000).inputs == late.inputs);
  BOOST_TEST(Loader(tokens, 8, 16, 4).batch(2).inputs != early.inputs);
}

// Larger batches are the same rows in the same order: a step may be done in pieces.
BOOST_AUTO_TEST_CASE(the_order_of_windows_does_not_depend_on_the_batch_size) {
  const TempFolder folder;
  const Tokens tokens = counting(folder, 5000);
  const Loader large(tokens, 8, 16, 3), small(tokens, 2, 16, 3);
  std::vector<int32_t> inputs;
  for (int64_t step = 12; step < 16; ++step) {
    const Batch batch = small.batch(step);
    inputs.insert(inputs.end(), batch.inputs.begin(), batch.inputs.end());
  }
  BOOST_TEST(large.batch(3).inputs == inputs);
}

BOOST_AUTO_TEST_CASE(the_data_must_fill_one_window) {
  const TempFolder folder;
  const Tokens tokens = counting(folder, 100);
  BOOST_TEST(Loader(tokens, 1, 99, 0).per_epoch() == 1);
  BOOST_CHECK_EXCEPTION(Loader(tokens, 1, 100, 0), ConfigError,
                        says("[loader] expected at least 100 + 1 tokens for a length of 100, got "
                             "100; train shorter or prepare more text"));
  BOOST_CHECK_EXCEPTION(Loader(tokens, 0, 10, 0), ConfigError, says("got 0 and 10"));
  BOOST_CHECK_EXCEPTION(Loader(tokens, 1, 10, 0).batch(-1), ConfigError, says("got -1"));
  BOOST_CHECK_THROW(Loader(tokens, 2, 10, 0).batch(INT64_MAX / 2 + 1), ConfigError);
}

BOOST_AUTO_TEST_CASE(several_sources_are_mixed_by_weight_each_in_its_own_order) {
  const TempFolder folder;
  const Tokens tokens = counting(folder, 5000);
  const auto windows = [&] { return std::make_shared<ShuffledWindows>(tokens, 16, 3); };
  const Loader alone(tokens, 1, 16, 3), mixed({{windows(), 3}, {windows(), 1}}, 8, 16, 3);
  std::vector<int64_t> taken(2);
  for (int64_t step = 0; step < 512; ++step) {  // a round of 4096 rows
    const Batch batch = mixed.batch(step);
    for (size_t r = 0; r < batch.rows.size(); ++r) {
      const Batch::Row& row = batch.rows[r];
      ++taken[row.source];
      const Batch same = alone.batch(row.index);
      BOOST_REQUIRE(std::equal(same.inputs.begin(), same.inputs.end(),
                               batch.inputs.begin() + static_cast<ptrdiff_t>(r) * 16));
    }
  }
  BOOST_TEST(taken[0] == 3072);
  BOOST_TEST(taken[1] == 1024);
}

BOOST_AUTO_TEST_CASE(steps_have_the_lengths_of_their_shares) {
  const TempFolder folder;
  const Tokens tokens = counting(folder, 5000);
  const auto part = [&](double share, int64_t length) {
    return Loader::Part{share, length, {{std::make_shared<ShuffledWindows>(tokens, length, 3)}}};
  };
  const Loader loader({part(3, 16), part(1, 24)}, 2, 3);
  std::map<int64_t, int64_t> steps;
  std::map<int64_t, std::map<int64_t, int>> begins;
  for (int64_t step = 0; step < Mixture::kRound; ++step) {
    const Batch batch = loader.batch(step);
    BOOST_TEST_REQUIRE(batch.inputs.size() == static_cast<size_t>(2 * batch.seq_len));
    BOOST_TEST((batch.part == 0 ? 16 : 24) == batch.seq_len);
    BOOST_TEST(batch.targets.back() == batch.inputs.back() + 1);
    ++steps[batch.seq_len];
    for (const Batch::Row& row : batch.rows) ++begins[batch.seq_len][row.place.begin];
  }
  BOOST_TEST(steps[16] == Mixture::kRound * 3 / 4);
  BOOST_TEST(steps[24] == Mixture::kRound / 4);
  // The rows of a length take each of its windows equally often.
  for (const auto& [length, times] : begins)
    for (const auto& [begin, n] : times) BOOST_TEST(std::abs(n - times.begin()->second) <= 1);
  BOOST_TEST(loader.batch(7).inputs == Loader({part(3, 16), part(1, 24)}, 2, 3).batch(7).inputs);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
