// A run finds its corpus from any folder, and when one or both have moved.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <sstream>

#include "apps/eval/command.h"
#include "apps/run/corpus.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"
#include "tests/support/working_folder.h"

BOOST_AUTO_TEST_SUITE(test_run_corpus)

using namespace farfield;
using farfield::test::ToyRun;
namespace fs = std::filesystem;

namespace {

// root/corpus, and root/runs/a that was trained in root with --data corpus for 4 of 8 steps.
struct Fixture {
  ToyRun toy;
  fs::path root = fs::canonical(toy.folder.path());

  Fixture() {
    const WorkingFolder here(root);
    run::RunConfig config = toy.config("alibi");
    config.data = {"corpus"};
    train::TrainingRun run = train::TrainingRun::start(run::resolve(config), "runs/a");
    BOOST_TEST_REQUIRE(go(run, 4) == cli::kStopped);
    fs::create_directories("elsewhere/deep");
  }

  static cli::ExitCode go(train::TrainingRun& run, std::optional<int64_t> stop_after = {}) {
    std::ostringstream nowhere;
    cli::Progress progress(nowhere, false);
    return run.go(progress, stop_after);
  }
  static int eval(const std::string& run, const std::vector<std::string>& more = {}) {
    std::vector<const char*> argv = {"eval",       run.c_str(), "--lengths",    "16",
                                     "--segments", "5",         "--allow-fewer"};
    for (const std::string& word : more) argv.push_back(word.c_str());
    std::ostringstream out;
    return eval::eval_command(static_cast<int>(argv.size()), argv.data(), out);
  }
  static fs::path found(const fs::path& run) {
    return fs::weakly_canonical(run::find_corpus(run::RunFolder::open(run)));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(run_corpus, Fixture)

BOOST_AUTO_TEST_CASE(it_is_found_from_any_folder_by_eval_and_resume) {
  {
    const WorkingFolder here(root);
    BOOST_TEST(run::find_corpus(run::RunFolder::open("runs/a")) == "corpus");  // as written
  }
  const WorkingFolder here(root / "elsewhere/deep");
  BOOST_TEST(found("../../runs/a") == root / "corpus");
  BOOST_TEST(eval("../../runs/a") == cli::kDone);
  BOOST_TEST(eval((root / "runs/a").string()) == cli::kDone);
  run::RunConfig config =
      run::to_run_config("config.conf", run::RunFolder::open("../../runs/a").config());
  config.data = {run::find_corpus(run::RunFolder::open("../../runs/a"))};
  train::TrainingRun run = train::TrainingRun::resume(run::resolve(config), "../../runs/a");
  BOOST_TEST(go(run) == cli::kDone);
}

BOOST_AUTO_TEST_CASE(it_is_found_after_both_moved_together) {
  fs::create_directory(root / "new");
  fs::rename(root / "runs", root / "new/runs");
  fs::rename(root / "corpus", root / "new/corpus");
  const WorkingFolder here(root / "elsewhere");
  BOOST_TEST(found(root / "new/runs/a") == root / "new/corpus");
  BOOST_TEST(eval("../new/runs/a") == cli::kDone);
}

BOOST_AUTO_TEST_CASE(it_is_found_after_the_run_moved_alone) {
  fs::rename(root / "runs/a", root / "elsewhere/a");
  const WorkingFolder here(root / "elsewhere");
  BOOST_TEST(found("a") == root / "corpus");
  BOOST_TEST(eval("a") == cli::kDone);
}

BOOST_AUTO_TEST_CASE(a_resumed_run_records_where_it_is_now) {
  fs::rename(root / "runs/a", root / "elsewhere/a");
  fs::rename(root / "corpus", root / "elsewhere/text");
  run::RunConfig config =
      run::to_run_config("config.conf", run::RunFolder::open(root / "elsewhere/a").config());
  config.data = {(root / "elsewhere/text").string()};
  train::TrainingRun::resume(run::resolve(config), (root / "elsewhere/a").string());
  fs::rename(root / "elsewhere", root / "moved");
  BOOST_TEST(found(root / "moved/a") == root / "moved/text");
}

BOOST_AUTO_TEST_CASE(another_corpus_of_the_same_name_is_not_taken_for_it) {
  const ToyRun other(2);
  fs::copy(other.data, root / "elsewhere/corpus", fs::copy_options::recursive);
  const WorkingFolder here(root / "elsewhere");
  BOOST_TEST(found(root / "runs/a") == root / "corpus");
  BOOST_TEST(eval("../runs/a") == cli::kDone);
  // Where no place has the right one, it is left to the caller to compare.
  fs::rename(root / "corpus", root / "hidden");
  BOOST_TEST(run::find_corpus(run::RunFolder::open("../runs/a")) == "corpus");
  BOOST_CHECK_EXCEPTION(eval("../runs/a"), IoError, says("got other data", "--data corpus"));
}

BOOST_AUTO_TEST_CASE(a_run_from_before_the_record_finds_it_below_its_parent_folders) {
  const fs::path file = root / "runs/a/manifest.json";
  std::string manifest = read_file(file);
  for (const std::string key : {"\"absolute\"", "\"from_run\""}) {
    const size_t at = manifest.find(key);
    BOOST_TEST_REQUIRE(at != std::string::npos);
    manifest.erase(at, manifest.find('\n', at) - at);
  }
  write_file_atomic(file, manifest);
  const WorkingFolder here(root / "elsewhere");
  BOOST_TEST(found("../runs/a") == root / "corpus");
}

BOOST_AUTO_TEST_CASE(where_there_is_none_the_way_out_is_named) {
  fs::rename(root / "corpus", root / "hidden");
  const WorkingFolder here(root / "elsewhere");
  BOOST_CHECK_EXCEPTION(
      eval("../runs/a"), IoError,
      says("[run] ../runs/a: expected the corpus that it was trained on (hash ",
           "), got none at corpus, nor at ", "/corpus; name its folder with --data"));
  BOOST_TEST(eval("../runs/a", {"--data", "../hidden"}) == cli::kDone);
}

BOOST_AUTO_TEST_CASE(the_identity_of_a_run_knows_nothing_of_places) {
  const std::string config = read_file(root / "runs/a/config.conf");
  BOOST_TEST(config.find("data = corpus\n") != std::string::npos);
  BOOST_TEST(config.find(root.string()) == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
