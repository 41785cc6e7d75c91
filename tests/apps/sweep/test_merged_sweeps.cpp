#include <boost/test/unit_test.hpp>
#include <string>

#include "apps/sweep/merge.h"
#include "apps/sweep/results.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

using namespace farfield;
using namespace farfield::sweep;
namespace fs = std::filesystem;

namespace {

const Experiment& experiment() { return experiment_named("alibi/no-scaling"); }

// A sweep of an experiment's first models, each with these perplexities at 1 L.
struct MadeUpSweep {
  MadeUpSweep(const fs::path& path, const PlanOptions& options = made_up_options(Scale::tiny))
      : folder(path, options) {
    folder.add({&experiment()}, {});
    folder.save();
  }
  CellResult result(size_t cell, double nll) const {
    const Plan plan = plan_of(experiment(), folder.options());
    return made_up_result(plan, plan.cells.at(cell), plan.experiment->measures.front().key, {nll});
  }
  void keep(const CellResult& result) const { write_result(folder.results(), result); }
  size_t n_kept() const { return Results::read({folder.results()}).all().size(); }

  SweepFolder folder;
};

void require_refused(const MadeUpSweep& into, const MadeUpSweep& from, const std::string& message) {
  const size_t before = into.n_kept();
  BOOST_CHECK_EXCEPTION(merge(into.folder.path(), from.folder.path()), ConfigError, says(message));
  BOOST_TEST(into.n_kept() == before);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_merged_sweeps)

BOOST_AUTO_TEST_CASE(cells_of_two_machines_come_together) {
  const TempFolder temp;
  const MadeUpSweep a(temp.path() / "a"), b(temp.path() / "b");
  a.keep(a.result(0, 1.5));
  b.keep(b.result(0, 1.5));
  b.keep(b.result(1, 2));
  const Merged merged = merge(a.folder.path(), b.folder.path());
  BOOST_TEST(merged.n_new == 1);
  BOOST_TEST(merged.n_there == 1);
  BOOST_TEST(a.n_kept() == 2U);
}

BOOST_AUTO_TEST_CASE(a_new_folder_becomes_a_sweep_like_the_other) {
  const TempFolder temp;
  PlanOptions options = made_up_options(Scale::tiny);
  options.datasets.set("github", "code", {(temp.path() / "b/corpora/code").string(), "h", "code"});
  const MadeUpSweep b(temp.path() / "b", options);
  b.keep(b.result(0, 2));
  BOOST_TEST(merge(temp.path() / "new", b.folder.path()).n_new == 1);
  const SweepFolder made(temp.path() / "new");
  BOOST_REQUIRE(made.experiments().size() == 1U);
  BOOST_TEST(made.options().datasets.corpus("code").path ==
             (temp.path() / "new/corpora/code").string());
}

BOOST_AUTO_TEST_CASE(what_was_asked_of_the_other_is_asked_of_the_new_one) {
  const TempFolder temp;
  SweepFolder part(temp.path() / "part", made_up_options(Scale::tiny));
  part.ask({experiment().id}, {.only = {"after the division"}});
  part.add({&experiment()}, {});
  part.save();
  const auto n_requested = [&] {
    const SweepFolder made(temp.path() / "new");
    return made.requested_cells(made.plans()).size();
  };
  merge(temp.path() / "new", part.path());
  BOOST_TEST(n_requested() == 1U);
  const MadeUpSweep whole(temp.path() / "whole");
  merge(temp.path() / "new", whole.folder.path());
  BOOST_TEST(n_requested() == 2U);
}

BOOST_AUTO_TEST_CASE(measurements_that_one_lacks_are_added) {
  const TempFolder temp;
  const MadeUpSweep a(temp.path() / "a"), b(temp.path() / "b");
  CellResult without = a.result(0, 1.5);
  without.measured.clear();
  a.keep(without);
  b.keep(b.result(0, 1.5));
  BOOST_TEST(merge(a.folder.path(), b.folder.path()).n_more == 1);
  const Results results = Results::read({a.folder.results()});
  BOOST_TEST(results.find(without.hash)->measured.size() == b.result(0, 1.5).measured.size());
}

BOOST_AUTO_TEST_CASE(another_number_of_a_cell_is_refused) {
  const TempFolder temp;
  const MadeUpSweep a(temp.path() / "a"), b(temp.path() / "b");
  a.keep(a.result(0, 1.5));
  b.keep(b.result(0, 1.5000001));
  b.keep(b.result(1, 2));
  require_refused(a, b, "expected the number that is there");
}

BOOST_AUTO_TEST_CASE(other_tokens_and_parameters_are_refused) {
  const TempFolder temp;
  const MadeUpSweep a(temp.path() / "a"), b(temp.path() / "b"), c(temp.path() / "c");
  a.keep(a.result(0, 1.5));
  CellResult other = b.result(1, 1.5);
  other.measured.begin()->second.lengths.front().tokens = "others";
  b.keep(other);
  require_refused(a, b, "expected the tokens of ");
  other = c.result(1, 1.5);
  other.measured.begin()->second.parameters = "segments=7";
  c.keep(other);
  require_refused(a, c, "expected the parameters of ");
}

BOOST_AUTO_TEST_CASE(another_scale_device_text_or_experiment_is_refused) {
  const TempFolder temp;
  const MadeUpSweep a(temp.path() / "a"), small(temp.path() / "b", made_up_options(Scale::small));
  require_refused(a, small, "expected a sweep of the same scale, tiny, got small");
  PlanOptions options = made_up_options(Scale::tiny);
  options.device = "cuda";
  const MadeUpSweep card(temp.path() / "c", options);
  require_refused(a, card, "expected a sweep of the same device, cpu, got cuda");
  options = made_up_options(Scale::tiny);
  options.datasets.set("github", "github", {"github", "another hash", "github"});
  const MadeUpSweep text(temp.path() / "d", options);
  require_refused(a, text, "expected a sweep of the same text for github");
  const MadeUpSweep b(temp.path() / "e");
  CellResult stranger = b.result(0, 1.5);
  stranger.key.emplace_back("zeta", "1");
  stranger.hash = hash_hex(run::to_text(stranger.key)).substr(0, 16);
  b.keep(stranger);
  require_refused(a, b, "expected a cell of the sweep's experiments");
}

BOOST_AUTO_TEST_SUITE_END()
