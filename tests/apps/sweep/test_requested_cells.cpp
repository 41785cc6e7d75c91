#include <boost/test/unit_test.hpp>

#include "apps/sweep/folder.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/support/temp_folder.h"

using namespace farfield;
using namespace farfield::sweep;

namespace {

constexpr const char* kGrid = "encoding = alibi\nencoding = rope\ndataset = github, arxiv\n";
constexpr const char* kId = "own/mine";

SweepFolder folder_at(const std::filesystem::path& path) {
  return {path, made_up_options(Scale::tiny)};
}

// What a call of `sweep run` does before it makes cells.
void ask(const std::filesystem::path& path, const PartRequest& part) {
  SweepFolder folder = folder_at(path);
  folder.ask({kId}, part);
  folder.add_grid("mine", kGrid);
  folder.save();
}

size_t n_requested(const std::filesystem::path& path) {
  const SweepFolder folder(path);
  return folder.requested_cells(folder.plans()).size();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_requested_cells)

BOOST_AUTO_TEST_CASE(only_the_requested_models_and_data_sets_count) {
  const TempFolder temp;
  ask(temp.path() / "a", {.only = {"alibi"}, .on = {"github"}});
  const SweepFolder folder(temp.path() / "a");
  const std::vector<Cell> cells = folder.requested_cells(folder.plans());
  BOOST_REQUIRE(cells.size() == 1U);
  BOOST_TEST(cells.front().corpus == "github");
  BOOST_TEST(run::value_of(cells.front().training, "posenc") == "alibi");
  BOOST_TEST(cells_of(folder.plans()).size() == 4U);
}

BOOST_AUTO_TEST_CASE(parts_add_up_and_the_whole_holds_them_all) {
  const TempFolder temp;
  const auto a = temp.path() / "a";
  ask(a, {.only = {"alibi"}, .on = {"github"}});
  ask(a, {.only = {"alibi"}, .on = {"github"}});
  BOOST_TEST(n_requested(a) == 1U);
  ask(a, {.only = {"rope"}});
  BOOST_TEST(n_requested(a) == 3U);
  ask(a, {});
  BOOST_TEST(n_requested(a) == 4U);
  ask(a, {.only = {"rope"}});  // a part of what was asked for
  BOOST_TEST(n_requested(a) == 4U);
}

BOOST_AUTO_TEST_CASE(a_folder_without_parts_is_wanted_as_a_whole) {
  const TempFolder temp;
  ask(temp.path() / "a", {});
  BOOST_TEST(read_file(temp.path() / "a/sweep.json").find("parts") == std::string::npos);
  BOOST_TEST(n_requested(temp.path() / "a") == 4U);
}

BOOST_AUTO_TEST_CASE(what_another_process_asked_for_meanwhile_is_kept) {
  const TempFolder temp;
  const auto a = temp.path() / "a";
  SweepFolder ours = folder_at(a), whole = folder_at(a);
  ours.ask({kId}, {.only = {"rope"}, .on = {"arxiv"}});
  ours.add_grid("mine", kGrid);
  whole.ask({kId}, {});
  whole.add_grid("mine", kGrid);
  ask(a, {.only = {"alibi"}, .on = {"github"}});
  ours.save();
  BOOST_TEST(n_requested(a) == 2U);
  whole.save();
  BOOST_TEST(n_requested(a) == 4U);
}

BOOST_AUTO_TEST_SUITE_END()
