#include <boost/test/unit_test.hpp>
#include <future>
#include <string>
#include <vector>

#include "apps/run/checkpoint_saver.h"
#include "engine/base/error.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_checkpoint_saver)  // ctest: threads

using namespace farfield;
using namespace farfield::run;

namespace {

TrainState state(int64_t step) {
  TrainState state;
  state.step = step;
  state.data_hash = std::string(32, '0');
  return state;
}

std::vector<int64_t> steps_in(const std::filesystem::path& folder) {
  std::vector<int64_t> steps;
  for (const auto& path : list_checkpoints(folder))
    steps.push_back(load_checkpoint(path).state.step);
  return steps;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_saved_is_what_was_there_at_the_call) {
  for (const bool is_beside : {true, false}) {
    const TempFolder folder;
    CheckpointSaver saver(folder.path(), {.last = 2}, is_beside);
    std::promise<void> go;
    const NamedTensors weights = {{"w", Tensor::from({1, 2}, {2})}};
    if (!is_beside) go.set_value();
    saver.save(state(1), weights, {{"w.exp_avg", Tensor::from({3, 4}, {2})}},
               [&] { go.get_future().wait(); });
    if (is_beside) {
      BOOST_TEST(list_checkpoints(folder.path()).empty());
      saver.report();  // does not wait
      Tensor w = weights[0].second;
      w.assign(Tensor::from({7, 8}, {2}));
      go.set_value();
    }
    saver.wait();
    const Checkpoint read = load_newest_checkpoint(folder.path());
    BOOST_TEST(read.model.at("w").to_vector() == (std::vector<double>{1, 2}),
               boost::test_tools::per_element());
    BOOST_TEST(read.optimizer.at("w.exp_avg").to_vector() == (std::vector<double>{3, 4}),
               boost::test_tools::per_element());
    const SaveFigures figures = saver.take_figures();
    BOOST_TEST(figures.n == 1);
    int64_t bytes = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(list_checkpoints(folder.path())[0]))
      bytes += static_cast<int64_t>(entry.file_size());
    BOOST_TEST(figures.bytes == bytes);
    BOOST_TEST(saver.take_figures().n == 0);
  }
}

BOOST_AUTO_TEST_CASE(what_nobody_else_holds_is_not_copied) {
  const TempFolder folder;
  CheckpointSaver saver(folder.path(), {}, true);
  constexpr int64_t n = 1 << 20;
  const Tensor held = Tensor::full({n}, 1);
  for (const bool is_held : {false, true}) {
    NamedTensors moments;
    moments.emplace_back("w.exp_avg", is_held ? held : Tensor::full({n}, 1));
    const int64_t before = memory_stats(Device{}).current_bytes;
    std::promise<void> go;
    saver.save(state(1), {}, std::move(moments), [&] { go.get_future().wait(); });
    BOOST_TEST((memory_stats(Device{}).current_bytes - before >= 4 * n) == is_held);
    go.set_value();
    saver.wait();
    const Checkpoint read = load_newest_checkpoint(folder.path());
    BOOST_TEST(read.optimizer.at("w.exp_avg").to_vector()[n - 1] == 1);
  }
}

BOOST_AUTO_TEST_CASE(the_training_has_waited_since_it_began_to_collect) {
  const TempFolder folder;
  CheckpointSaver saver(folder.path(), {}, true);
  const NamedTensors weights = {{"w", Tensor::zeros({1})}};
  saver.save(state(1), weights, {}, {}, CheckpointSaver::Clock::now() - std::chrono::hours(1));
  saver.wait();
  BOOST_TEST(saver.take_figures().waited_s >= 3600);
}

BOOST_AUTO_TEST_CASE(the_last_stay_and_those_of_every_so_many_steps) {
  const TempFolder folder;
  CheckpointSaver saver(folder.path(), {.last = 2, .every = 4}, true);
  for (int64_t step = 0; step <= 10; ++step)
    saver.save(state(step), {{"w", Tensor::from({1}, {1})}}, {});
  saver.wait();
  BOOST_TEST(steps_in(folder.path()) == (std::vector<int64_t>{0, 4, 8, 9, 10}),
             boost::test_tools::per_element());
  BOOST_TEST(saver.take_figures().n == 11);
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_told_at_the_next_look_and_keeps_what_was_there) {
  for (const bool is_beside : {true, false}) {
    const TempFolder folder;
    CheckpointSaver saver(folder.path(), {.last = 2}, is_beside);
    const NamedTensors weights = {{"w", Tensor::zeros({100'000})}};
    saver.save(state(1), weights, {});
    saver.wait();
    {
      const FileSizeLimit full(10'000);
      const auto save_and_look = [&] {
        saver.save(state(2), weights, {});
        saver.wait();
      };
      BOOST_CHECK_THROW(save_and_look(), IoError);
    }
    BOOST_TEST(folder.entries() == 1);
    saver.save(state(3), weights, {});
    saver.wait();
    BOOST_TEST(steps_in(folder.path()) == (std::vector<int64_t>{1, 3}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
