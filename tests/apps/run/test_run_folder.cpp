#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "apps/run/folder.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_run_folder)  // ctest: sanitize

using namespace farfield;
using namespace farfield::run;
namespace fs = std::filesystem;

namespace {
const Settings kConfig = {{"posenc", "alibi"}, {"steps", "5"}};
}

BOOST_AUTO_TEST_CASE(a_new_run_holds_its_files) {
  const TempFolder folder;
  const RunFolder run = RunFolder::create(folder / "runs/a", {kConfig, "{}\n", "step\n", ""});
  BOOST_TEST(read_file(run.path() / "config.conf") == "posenc = alibi\nsteps = 5\n");
  BOOST_TEST(read_file(run.manifest()) == "{}\n");
  BOOST_TEST(read_file(run.metrics()) == "step\n");
  BOOST_TEST(std::filesystem::is_directory(run.checkpoints()));
  BOOST_CHECK(RunFolder::open(folder / "runs/a").config() == kConfig);
}

BOOST_AUTO_TEST_CASE(an_existing_run_is_refused_and_left_alone) {
  const TempFolder folder;
  const std::string path = (folder / "a").string();
  { RunFolder::create(path, {kConfig, "{}", "step\n", ""}); }
  BOOST_CHECK_EXCEPTION(RunFolder::create(path, {{}, "new", "new", ""}), ConfigError,
                        says("[run] ",
                             ": expected a new folder, got one with files in it; "
                             "continue the run with --resume "));
  BOOST_TEST(read_file(folder / "a/manifest.json") == "{}");
  write_file_atomic(folder / "file", "x");
  BOOST_CHECK_THROW(RunFolder::create(folder / "file", {{}, "", "", ""}), ConfigError);
}

BOOST_AUTO_TEST_CASE(two_trainings_of_one_run_exclude_each_other) {
  const TempFolder folder;
  const RunFolder first = RunFolder::create(folder / "a", {kConfig, "{}", "step\n", ""});
  BOOST_CHECK_EXCEPTION(
      RunFolder::open_for_training(folder / "a"), ConfigError,
      says("/a: another process (", std::to_string(::getpid()), ") is training this run"));
  BOOST_CHECK_NO_THROW(RunFolder::open(folder / "a"));
}

BOOST_AUTO_TEST_CASE(the_lock_is_given_back) {
  const TempFolder folder;
  { const RunFolder first = RunFolder::create(folder / "a", {kConfig, "{}", "step\n", ""}); }
  BOOST_CHECK_NO_THROW(RunFolder::open_for_training(folder / "a"));
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_a_link_is_not_written_through) {
  const TempFolder folder;
  { const RunFolder run = RunFolder::create(folder / "a", {kConfig, "{}", "step\n", ""}); }
  write_file_atomic(folder / "precious", "not to be lost");
  fs::remove(folder / "a/lock");
  fs::create_symlink(folder / "precious", folder / "a/lock");
  BOOST_CHECK_EXCEPTION(RunFolder::open_for_training(folder / "a"), IoError,
                        says("/a/lock: expected a regular file, got a symbolic link; remove it"));
  BOOST_TEST(read_file(folder / "precious") == "not to be lost");
  fs::remove(folder / "a/lock");
  BOOST_TEST_REQUIRE(::mkfifo((folder / "a/lock").c_str(), 0666) == 0);
  BOOST_CHECK_EXCEPTION(RunFolder::open_for_training(folder / "a"), IoError,
                        says("/a/lock: expected a regular file, got something else; remove it"));
}

BOOST_AUTO_TEST_CASE(going_on_removes_what_killed_processes_left) {
  const TempFolder folder;
  { const RunFolder run = RunFolder::create(folder / "a", {kConfig, "{}", "step\n", ""}); }
  const fs::path left[] = {
      folder / "a.tmp-99999999", folder / "a/checkpoints/step-00000003.tmp-99999999",
      folder / "a/checkpoints/step-00000001.tmp-old", folder / "a/eval/cells/x.json.tmp-99999999",
      folder / "a/eval/reach.csv.tmp-99999999"};
  for (const fs::path& path : left) fs::create_directories(path / "part");
  write_file_atomic(folder / "a/metrics.csv.tmp-99999999", "");
  { const RunFolder reading = RunFolder::open(folder / "a"); }
  for (const fs::path& path : left) BOOST_TEST(fs::exists(path), path);
  const RunFolder run = RunFolder::open_for_training(folder / "a");
  for (const fs::path& path : left) BOOST_TEST(!fs::exists(path), path);
  BOOST_TEST(!fs::exists(folder / "a/metrics.csv.tmp-99999999"));
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(a_new_run_removes_what_a_killed_start_left_of_it) {
  const TempFolder folder;
  fs::create_directories(folder / "a.tmp-99999999/checkpoints");
  fs::create_directories(folder / "b.tmp-99999999/checkpoints");
  { const RunFolder run = RunFolder::create(folder / "a", {kConfig, "{}", "step\n", ""}); }
  BOOST_TEST(!fs::exists(folder / "a.tmp-99999999"));
  BOOST_TEST(fs::exists(folder / "b.tmp-99999999"));
}

BOOST_AUTO_TEST_CASE(a_removed_run_leaves_nothing) {
  const TempFolder folder;
  {
    RunFolder run = RunFolder::create(folder / "a/", {kConfig, "{}", "step\n", ""});
    run.remove();
  }
  BOOST_TEST(folder.entries() == 0);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_not_a_run_is_an_error) {
  const TempFolder folder;
  BOOST_CHECK_EXCEPTION(RunFolder::open(folder / "none"), IoError,
                        says("expected the folder of a run, got nothing of that name"));
  BOOST_CHECK_EXCEPTION(RunFolder::open(""), IoError,
                        says("expected the folder of a run, got an empty path"));
  std::filesystem::create_directory(folder / "empty");
  const auto refused = [&](const char* name, const std::string& got) {
    BOOST_CHECK_EXCEPTION(RunFolder::open(folder / name), IoError,
                          says(name, ": expected the folder of a run, got " + got));
  };
  refused("empty", "one without config.conf; `train` makes runs");
  RunFolder::create(folder / "runs/b", {kConfig, "{}", "step\n", ""});
  RunFolder::create(folder / "runs/a", {kConfig, "{}", "step\n", ""});
  refused("runs", "a folder of runs; name one of them: " + (folder / "runs/a").string() + ", " +
                      (folder / "runs/b").string());
  refused("runs/a/checkpoints", "a part of a run; name " + (folder / "runs/a").string());
  std::filesystem::create_directory(folder / "corpus");
  write_file_atomic(folder / "corpus/train.tokens", "x");
  refused("corpus", "a corpus of `prepare`");
  // A part of a run that is a checkpoint, or a file.
  const std::string run = (folder / "runs/a").string();
  std::filesystem::create_directory(folder / "runs/a/checkpoints/step-00000300");
  write_file_atomic(folder / "runs/a/checkpoints/step-00000300/state.json", "{}");
  for (const char* path : {"runs/a/checkpoints/step-00000300", "runs/a/checkpoints/step-00000300/"})
    refused(path, "a checkpoint of one; name the run and the step: " + run + " --step 300");
  refused("runs/a/checkpoints/step-00000300/state.json", "a file of one; name " + run);
  // Models of others.
  std::filesystem::create_directory(folder / "llama");
  write_file_atomic(folder / "llama/config.json", R"({"architectures": ["LlamaForCausalLM"]})");
  const std::string only = "; only runs of `train` are read, no models of Hugging Face";
  refused("llama", "a Hugging Face model (LlamaForCausalLM)" + only);
  write_file_atomic(folder / "llama/config.json", "[");
  refused("llama", "a Hugging Face model" + only);
  for (const char* name : {"gpt2-of-nobody", "EleutherAI-of-nobody/pythia-70m"})
    BOOST_CHECK_EXCEPTION(RunFolder::open(name), IoError, says("got nothing of that name" + only));
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_written_is_an_error) {
  const TempFolder folder;
  write_file_atomic(folder / "file", "x");
  BOOST_CHECK_THROW(RunFolder::create(folder / "file/run", {kConfig, "{}", "step\n", ""}), IoError);
  const FileSizeLimit full(3);
  BOOST_CHECK_EXCEPTION(RunFolder::create(folder / "a", {kConfig, "{}", "step\n", ""}), IoError,
                        says("config.conf: cannot write: File too large"));
  BOOST_TEST(folder.entries() == 1);  // the file alone: nothing half-made stays
}

BOOST_AUTO_TEST_SUITE_END()
