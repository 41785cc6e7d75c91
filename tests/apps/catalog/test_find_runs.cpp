#include <boost/test/unit_test.hpp>

#include "apps/catalog/find_runs.h"
#include "engine/base/file.h"
#include "tests/apps/catalog/made_runs.h"
#include "tests/support/messages.h"
#include "tests/support/unprivileged.h"

BOOST_AUTO_TEST_SUITE(test_find_runs)

using namespace farfield;
using farfield::catalog::find_runs;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> names_in(const fs::path& folder, const std::vector<fs::path>& runs) {
  std::vector<std::string> names;
  for (const fs::path& run : runs) names.push_back(run.lexically_relative(folder).string());
  return names;
}

void make_empty_run(const fs::path& path) {
  fs::create_directories(path);
  write_file_atomic(path / "config.conf", "");
}

}  // namespace

BOOST_AUTO_TEST_CASE(runs_are_found_at_any_depth_and_sorted) {
  const TempFolder folder;
  for (const char* name : {"b", "a/z", "a/deep/er/run"}) make_empty_run(folder / name);
  fs::create_directories(folder / "corpus");
  write_file_atomic(folder / "corpus/train.tokens", "x");
  const auto found = find_runs({folder.path().string()});
  BOOST_TEST(names_in(folder.path(), found.runs) ==
                 (std::vector<std::string>{"a/deep/er/run", "a/z", "b"}),
             boost::test_tools::per_element());
  BOOST_TEST(found.unreadable.empty());
}

BOOST_AUTO_TEST_CASE(a_run_counts_itself_and_hides_what_is_in_it) {
  const TempFolder folder;
  make_empty_run(folder / "run");
  make_empty_run(folder / "run/checkpoints/inner");
  const std::string run = (folder / "run").string();
  BOOST_TEST(find_runs({run}).runs.size() == 1u);
  BOOST_TEST(find_runs({run + "/"}).runs.front().string() == run);
  BOOST_TEST(find_runs({run, folder.path().string(), run + "/../run"}).runs.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_run_without_configuration_is_one_and_an_unfinished_one_is_none) {
  const TempFolder folder;
  fs::create_directories(folder / "lost/checkpoints");
  write_file_atomic(folder / "lost/manifest.json", "{}");
  make_empty_run(folder / "new.tmp-123");
  const auto found = find_runs({folder.path().string()});
  BOOST_TEST(names_in(folder.path(), found.runs) == std::vector<std::string>{"lost"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(links_lead_to_runs_alone) {
  const TempFolder folder, elsewhere;
  make_empty_run(elsewhere / "run");
  fs::create_directory_symlink(elsewhere / "run", folder / "best");
  fs::create_directory_symlink(elsewhere.path(), folder / "all");
  fs::create_directory_symlink(folder.path(), folder / "circle");
  const auto found = find_runs({folder.path().string()});
  BOOST_TEST(names_in(folder.path(), found.runs) == std::vector<std::string>{"best"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_read_is_named_and_the_rest_found) {
  const TempFolder folder;
  fs::permissions(folder.path(), fs::perms(0755));
  make_empty_run(folder / "run");
  fs::create_directories(folder / "secret");
  fs::permissions(folder / "secret", fs::perms(0));
  const Unprivileged reader;
  const auto found = find_runs({folder.path().string()});
  BOOST_TEST(found.runs.size() == 1u);
  BOOST_TEST_REQUIRE(found.unreadable.size() == 1u);
  BOOST_TEST(found.unreadable.front() == (folder / "secret").string() + ": Permission denied");
}

BOOST_AUTO_TEST_CASE(what_is_no_folder_is_refused) {
  const TempFolder folder;
  write_file_atomic(folder / "file", "");
  BOOST_CHECK_EXCEPTION(find_runs({(folder / "file").string()}), IoError,
                        says("[model] ", "file: expected a folder, got a file"));
  BOOST_CHECK_EXCEPTION(find_runs({(folder / "no").string()}), IoError,
                        says("no: expected a folder, got nothing of that name"));
}

BOOST_AUTO_TEST_SUITE_END()
