#include <boost/test/unit_test.hpp>

#include "apps/run/training_data.h"
#include "engine/base/error.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"

namespace farfield::run {
BOOST_AUTO_TEST_SUITE(test_training_data)
namespace {

using farfield::test::ToyRun;

BOOST_AUTO_TEST_CASE(a_weight_stands_behind_the_last_colon) {
  const struct {
    std::string text, path;
    double weight;
  } cases[] = {{"a/b", "a/b", 1}, {"a:0.25", "a", 0.25}, {"c:d:2", "c:d", 2}, {"a:b", "a:b", 1}};
  for (const auto& c : cases) {
    const DataUse use = parse_data_use(c.text);
    BOOST_TEST(use.path == c.path);
    BOOST_TEST(use.weight == c.weight);
    BOOST_TEST(to_text(use) == c.text);
  }
  for (const std::string bad : {"a:0", "a:-1", "a:inf", "a:nan"})
    BOOST_CHECK_EXCEPTION(
        parse_data_use(bad), ConfigError,
        says("--data: expected PATH or PATH:WEIGHT with a weight above 0, got '", bad));
  const TempFolder folder;
  const std::string there = (folder / "a:2").string();
  std::filesystem::create_directory(there);
  BOOST_TEST(parse_data_use(there).path == there);
  BOOST_TEST(parse_data_use(there + ":3").path == there);
}

BOOST_AUTO_TEST_CASE(the_hash_of_one_corpus_is_its_own_and_of_several_knows_the_weights) {
  const ToyRun a(1), b(2);
  const auto corpus = [](const ToyRun& toy) { return data::Corpus::open(toy.data); };
  const TrainingData one = corpus(a);
  BOOST_TEST(one.hash() == corpus(a).hash());
  const TrainingData both({corpus(a), corpus(b)}, {1, 2}), same({corpus(a), corpus(b)}, {1, 2}),
      other({corpus(a), corpus(b)}, {2, 1});
  BOOST_TEST(both.hash() == same.hash());
  BOOST_TEST(both.hash() != other.hash());
  BOOST_TEST(both.hash() != one.hash());
}

BOOST_AUTO_TEST_CASE(rows_come_from_each_corpus_by_its_weight) {
  const ToyRun a(1), b(2);
  RunConfig request = a.config();
  request.data = {a.data + ":3", b.data};
  const ResolvedConfig config = resolve(request);
  const TrainingData data = open_data(config);
  const data::Loader loader = loader_of(config, data);
  int64_t n_first = 0;
  const int64_t n_step = data::Mixture::kRound / config.batch;
  for (int64_t step = 0; step < n_step; ++step)
    for (const data::Batch::Row& row : loader.batch(step).rows) n_first += row.source == 0;
  BOOST_TEST(n_first == data::Mixture::kRound * 3 / 4);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::run
