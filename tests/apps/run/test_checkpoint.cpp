#include <boost/test/unit_test.hpp>

#include "apps/run/checkpoint.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_checkpoint)  // ctest: sanitize

using namespace farfield;
using namespace farfield::run;
namespace fs = std::filesystem;

namespace {

const NamedTensors kModel = {{"w", Tensor::from({1.5, -2, 3, 4}, {2, 2})},
                             {"b", Tensor::from({0.5}, {1})}};
const NamedTensors kOptimizer = {{"w.exp_avg", Tensor::from({1, 2, 3, 4}, {2, 2})}};

const std::string kDataHash(32, 'a');

TrainState state(int64_t step) {
  return {.step = step,
          .tokens = step * 4096,
          .optimizer_t = step,
          .time_s = 1.25,
          .skipped = {3, 7},
          .data_hash = kDataHash,
          .config = {{"posenc", "alibi"}, {"lr", "0.001"}}};
}

void save(const fs::path& folder, int64_t step, int64_t keep = 10) {
  save_checkpoint(folder, state(step), kModel, kOptimizer, {.last = keep});
}

std::vector<std::string> names(const fs::path& folder) {
  std::vector<std::string> list;
  for (const fs::path& path : list_checkpoints(folder)) list.push_back(path.filename().string());
  return list;
}

void overwrite(const fs::path& file, const std::string& bytes) { write_file_atomic(file, bytes); }

}  // namespace

BOOST_AUTO_TEST_CASE(a_checkpoint_reads_back) {
  const TempFolder folder;
  save(folder.path(), 300);
  const Checkpoint got = load_newest_checkpoint(folder.path());
  BOOST_TEST(got.state.step == 300);
  BOOST_TEST(got.state.tokens == 300 * 4096);
  BOOST_TEST(got.state.optimizer_t == 300);
  BOOST_TEST(got.state.time_s == 1.25);
  BOOST_TEST(got.state.skipped == (std::vector<int64_t>{3, 7}), boost::test_tools::per_element());
  BOOST_TEST(got.state.data_hash == kDataHash);
  BOOST_CHECK(got.state.config == state(0).config);
  BOOST_TEST(got.model.at("w").to_vector() == kModel[0].second.to_vector(),
             boost::test_tools::per_element());
  BOOST_TEST(got.optimizer.at("w.exp_avg").dim(1) == 2);
  BOOST_TEST(load_newest_checkpoint(folder.path(), false).optimizer.empty());
}

BOOST_AUTO_TEST_CASE(the_last_k_are_kept_and_nothing_else_is_left) {
  const TempFolder folder;
  for (int64_t step = 1; step <= 4; ++step) save(folder.path(), step, 2);
  BOOST_TEST(names(folder.path()) == (std::vector<std::string>{"step-00000003", "step-00000004"}),
             boost::test_tools::per_element());
  BOOST_TEST(folder.entries() == 2);
}

BOOST_AUTO_TEST_CASE(a_step_that_is_saved_again_is_replaced) {
  const TempFolder folder;
  save(folder.path(), 1);
  save_checkpoint(folder.path(), state(1), {{"w", Tensor::from({9}, {1})}}, {}, {.last = 2});
  BOOST_TEST(load_newest_checkpoint(folder.path()).model.at("w").item() == 9);
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(a_folder_without_checkpoints_is_an_error) {
  const TempFolder folder;
  BOOST_CHECK_EXCEPTION(load_newest_checkpoint(folder.path()), IoError,
                        says("[checkpoint] ", ": expected a checkpoint, got none"));
  BOOST_CHECK_THROW(load_newest_checkpoint(folder / "none"), IoError);
}

BOOST_AUTO_TEST_CASE(a_damaged_newest_checkpoint_names_the_file_and_the_older_ones) {
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    const TempFolder folder;
    for (int64_t step = 1; step <= 3; ++step) save(folder.path(), step);
    const fs::path file = folder / (std::string("step-00000003/") + name);
    std::string bytes = read_file(file);
    bytes[bytes.size() / 2] ^= 1;
    overwrite(file, bytes);
    BOOST_CHECK_EXCEPTION(load_newest_checkpoint(folder.path()), IoError,
                          says(file.string(),
                               "; whole and older: step-00000002, step-00000001; to "
                               "resume from there, move ",
                               "step-00000003 away"));
    BOOST_TEST(names(folder.path()).size() == 3);
  }
}

BOOST_AUTO_TEST_CASE(a_file_cut_short_or_missing_is_named) {
  const TempFolder folder;
  save(folder.path(), 1);
  const fs::path file = folder / "step-00000001/optimizer.safetensors";
  const std::string bytes = read_file(file);
  overwrite(file, bytes.substr(0, bytes.size() - 4));
  BOOST_CHECK_EXCEPTION(load_newest_checkpoint(folder.path()), IoError,
                        says("optimizer.safetensors: expected ", " bytes, got ",
                             "; the file is cut short; no older checkpoint is whole"));
  fs::remove(file);
  BOOST_CHECK_EXCEPTION(load_newest_checkpoint(folder.path()), IoError,
                        says("optimizer.safetensors: expected ", "No such file"));
  fs::remove(folder / "step-00000001/state.json");
  BOOST_CHECK_EXCEPTION(load_newest_checkpoint(folder.path()), IoError, says("state.json"));
}

BOOST_AUTO_TEST_CASE(state_of_any_content_is_an_error_not_a_crash) {
  const TempFolder folder;
  save(folder.path(), 1);
  const fs::path file = folder / "step-00000001/state.json";
  for (const char* text : {"", "[]", "{}", "{\"hash\": 3}", "{\"hash\": \"x\"}", "\xff\xfe{",
                           "null", "{\"hash\":\"99aa06d3014798d86001c324468d497f\"}"}) {
    overwrite(file, text);
    BOOST_CHECK_THROW(load_newest_checkpoint(folder.path()), IoError);
  }
}

BOOST_AUTO_TEST_CASE(a_full_disk_leaves_the_older_checkpoints) {
  const TempFolder folder;
  save(folder.path(), 1, 1);
  {
    const FileSizeLimit full(100);
    BOOST_CHECK_EXCEPTION(save(folder.path(), 2, 1), IoError, says("File too large"));
  }
  BOOST_TEST(folder.entries() == 1);
  BOOST_TEST(load_newest_checkpoint(folder.path()).state.step == 1);
}

BOOST_AUTO_TEST_CASE(other_names_in_the_folder_are_not_checkpoints) {
  const TempFolder folder;
  save(folder.path(), 1);
  fs::create_directory(folder / "step-00000002.tmp-123");
  fs::create_directory(folder / "step-x");
  fs::create_directory(folder / "notes");
  BOOST_TEST(names(folder.path()) == std::vector<std::string>{"step-00000001"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_folder_of_another_step_than_its_state_is_refused) {
  const TempFolder folder;
  save(folder.path(), 300);
  fs::rename(folder / "step-00000300", folder / "step-00000400");
  BOOST_CHECK_EXCEPTION(load_newest_checkpoint(folder.path()), IoError,
                        says("step-00000400/state.json: expected step 400, as its folder is "
                             "called, got 300"));
}

BOOST_AUTO_TEST_CASE(a_hash_that_was_emptied_does_not_open_the_way_for_other_weights) {
  const TempFolder folder;
  save(folder.path(), 1);
  TrainState forged = state(1);
  const fs::path made = folder / "step-00000001";
  write_file_atomic(
      made / "state.json",
      train_state_text(forged,
                       {{"model.safetensors",
                         {static_cast<int64_t>(fs::file_size(made / "model.safetensors")), ""}}}));
  BOOST_CHECK_EXCEPTION(load_newest_checkpoint(folder.path(), false), IoError,
                        says("state.json: expected a hash of 32 hexadecimal digits as "
                             "'files.model.safetensors.xxh3_128', got \"\""));
}

BOOST_AUTO_TEST_CASE(another_configuration_than_the_checkpoints_names_both_values_and_the_file) {
  const Settings other = {{"posenc", "alibi"}, {"lr", "0.002"}};
  BOOST_CHECK_NO_THROW(check_same_config(state(1), "r/config.conf", state(1).config, true));
  BOOST_CHECK_EXCEPTION(check_same_config(state(1), "r/config.conf", other, true), IoError,
                        says("[checkpoint] r/config.conf: expected lr = 0.001, as in the "
                             "checkpoint of step 1, got 0.002"));
  const Settings cuda = {{"posenc", "alibi"}, {"lr", "0.001"}, {"device", "cuda"}};
  BOOST_CHECK_NO_THROW(check_same_config(state(1), "r/config.conf", cuda, false));
  BOOST_CHECK_THROW(check_same_config(state(1), "r/config.conf", cuda, true), IoError);
}

BOOST_AUTO_TEST_SUITE_END()
