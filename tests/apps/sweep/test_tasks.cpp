#include <boost/test/unit_test.hpp>
#include <set>
#include <sstream>

#include "apps/sweep/cell_run.h"
#include "apps/sweep/corpora.h"
#include "apps/sweep/cost.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/merge.h"
#include "apps/sweep/rehearsal.h"
#include "apps/sweep/results.h"
#include "apps/sweep/sections.h"
#include "apps/sweep/task_arms.h"
#include "engine/base/error.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

using namespace farfield;
using namespace farfield::sweep;

namespace {

// Two models that answer with the first of four bits, the second from the weights of the first.
Experiment first_bit() {
  Arm base = two_models().arms[1];
  base.task = "first";
  base.task_lengths = "{1}";
  base.size = Size::algorithmic;
  Arm tuned = base;
  tuned.label = "tuned";
  tuned.starts_from = base.label;
  tuned.task_lengths = "{1}..{2}";
  tuned.train_len = 2;
  tuned.steps = 0.1;
  Experiment e = of_tasks(0, "test/first", "the first bit", "a test", {4, 4, 4}, {base, tuned});
  e.measures = {answers({1, 2}, 100)};
  e.outputs = {share_by_length("accuracy", "share of right answers")};
  return e;
}

PlanOptions at(Scale scale) {
  PlanOptions options;
  options.scale = scale;
  return options;
}

std::vector<const Experiment*> experiments_of_tasks() {
  std::vector<const Experiment*> all;
  for (const Experiment& e : experiments())
    if (e.is_of_tasks()) all.push_back(&e);
  return all;
}

CellResult made(const SweepFolder& folder, const Cell& cell) {
  std::ostringstream said;
  BOOST_TEST((run_cell(folder, cell, {.workers = 1}, said) == cli::kDone), said.str());
  return read_result(result_path(folder.results(), cell.hash()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_tasks)

BOOST_AUTO_TEST_CASE(models_are_trained_on_a_task_and_answer_it) {
  const Experiment e = first_bit();
  const TempFolder temp;
  SweepFolder folder(temp.path() / "sweep", at(Scale::smoke));
  folder.save();
  const Plan plan = plan_of(e, folder.options());
  BOOST_TEST_REQUIRE(plan.cells.size() == 2u);
  Results results;
  for (const Cell& cell : plan.cells) {
    write_cell(folder.cells(), cell);
    results.add(made(folder, read_cell(folder.cell(cell.hash()))));
  }
  const Measured m(plan, plan.datasets.front(), results);
  // 200 steps suffice for four bits, and 20 more for up to eight.
  BOOST_TEST(m.value("Rotary", kAnswers, "accuracy", 1) == 1);
  BOOST_TEST(m.value("Rotary", kAnswers, "answers", 2) == 100);
  BOOST_TEST(m.value("tuned", kAnswers, "bits_per_answer", 2) <
             m.value("Rotary", kAnswers, "bits_per_answer", 2));
  BOOST_TEST(beyond(m, "Rotary") == m.value("Rotary", kAnswers, "accuracy", 2));
  BOOST_TEST(std::isnan(beyond(m, "tuned")));  // trained at all lengths

  const Section section = section_of(plan, results);
  BOOST_TEST_REQUIRE(section.tables.size() == 1u);
  const ReportTable& table = section.tables.front();
  BOOST_TEST(table.caption == "share of right answers on first, 1 seed");
  BOOST_TEST(table.header == (std::vector<std::string>{"length", "Rotary", "tuned"}),
             boost::test_tools::per_element());
  BOOST_TEST(table.rows[0][0].text == "4");
  BOOST_TEST(table.rows[0][1].text == "1");
  BOOST_TEST(section.figures.size() == 1u);
  BOOST_TEST(section.facts.at(1) ==
             "task: first, trained on lengths 4; 2 layers, 4 heads, width 32; 200 steps of 32 "
             "samples, peak learning rate 0.003");
}

BOOST_AUTO_TEST_CASE(a_task_stands_where_a_corpus_does) {
  const Plan plan = plan_of(first_bit(), at(Scale::smoke));
  const Cell& cell = plan.cells.front();
  BOOST_TEST(cell.has_task());
  BOOST_TEST(cell.corpus == "first");
  BOOST_TEST(run::value_of(cell.key(), "task") == "first");
  BOOST_TEST(run::value_of(cell.key(), "task-lengths") == "4");
  BOOST_TEST(run::value_of(cell.key(), "corpus") == cell.corpus_hash);
  BOOST_TEST(cell.label() == "rope on first, L 5, seed 1");
  BOOST_TEST(cell.work() > cell.training_work);
  Experiment other = first_bit();
  other.arms[0].task = "parity_check";
  BOOST_TEST(plan_of(other, at(Scale::smoke)).cells.front().hash() != cell.hash());
}

BOOST_AUTO_TEST_CASE(no_text_is_needed) {
  const TempFolder temp;
  const SweepFolder folder(temp.path() / "sweep", at(Scale::smoke));
  const Experiment e = first_bit();
  const std::vector<Plan> plans = {plan_of(e, folder.options())};
  const std::vector<Cell> cells = cells_of(plans);
  BOOST_TEST(missing_corpora(folder, plans).empty());
  BOOST_CHECK_NO_THROW(require_corpora(folder, cells));
  BOOST_CHECK_NO_THROW(require_enough_text(plans, cells));
  PlanOptions some = at(Scale::smoke);
  some.on = {"github"};
  BOOST_TEST(plan_of(e, some).cells.empty());
}

BOOST_AUTO_TEST_CASE(what_does_not_go_together_is_refused) {
  const auto refused = [](const Experiment& e, const char* message) {
    BOOST_CHECK_EXCEPTION(plan_of(e, at(Scale::smoke)), ConfigError, says(message));
  };
  Experiment e = first_bit();
  e.arms[1].task.clear();
  e.arms[1].starts_from.clear();
  refused(e, "[sweep] test/first, tuned: expected a task, as other models of the experiment have");
  e = first_bit();
  e.measures[0].protocol = "last-token";
  refused(e,
          "[sweep] test/first: last-token: expected a protocol for models of a task (task, "
          "source-attention)");
  e = two_models();
  e.measures[0].protocol = "task";
  BOOST_CHECK_EXCEPTION(plan_of(e, made_up_options(Scale::smoke)), ConfigError,
                        says("[sweep] test/two: task: expected a protocol for models of text"));
  e = first_bit();
  e.arms[0].task = "frist";
  refused(e, "did you mean 'first'");
  e = first_bit();
  for (Arm& arm : e.arms) arm.task = "flip_flop";
  e.measures[0].lengths = {1.25};
  refused(e,
          "test/first, Rotary: [task] bad_argument: flip_flop(form=mixed, p_i=0.8, "
          "loss=clean): expected an even length");
}

BOOST_AUTO_TEST_CASE(lengths_differ_at_every_scale) {
  BOOST_TEST(experiments_of_tasks().size() >= 9u);
  for (const Experiment* e : experiments_of_tasks())
    for (const Scale scale : {Scale::smoke, Scale::tiny, Scale::small}) {
      const Plan plan = plan_of(*e, at(scale));
      BOOST_TEST(plan.cells.size() == e->arms.size(), e->id);
      for (const Measure& measure : e->measures) {
        std::set<int64_t> lengths;
        for (const double length : measure.lengths)
          BOOST_TEST(lengths.insert(plan.tokens(length)).second, e->id << ' ' << length);
      }
    }
}

BOOST_AUTO_TEST_CASE(the_papers_tasks_take_at_most_two_hours_of_a_core_at_tiny) {
  std::vector<Plan> plans;
  for (const Experiment* e : experiments_of_tasks())
    if (e->source != "our own") plans.push_back(plan_of(*e, at(Scale::tiny)));
  BOOST_TEST(seconds_of(work_of(cells_of(plans)), /*is_card=*/false) < 7200);
  BOOST_TEST(cells_of({plan_of(experiment_named("sandwich/parity"), at(Scale::tiny)),
                       plan_of(experiment_named("context/parity"), at(Scale::tiny))})
                 .size() ==
             plan_of(experiment_named("context/parity"), at(Scale::tiny)).cells.size());
}

BOOST_AUTO_TEST_CASE(results_of_other_machines_have_the_same_answers) {
  const TempFolder temp;
  const Experiment& e = experiment_named("context/eos");
  const auto write = [&](const char* name, double n_wrong) {
    SweepFolder folder(temp.path() / name, at(Scale::smoke));
    folder.add({&e}, 1);
    folder.save();
    const Cell cell = plan_of(e, folder.options()).cells.front();
    CellResult result;
    result.hash = cell.hash();
    result.key = cell.key();
    result.corpus = cell.corpus;
    eval::ProtocolResult& of = result.measured[cell.measurements.front().id()];
    of.protocol = "task";
    eval::LengthResult& length = of.lengths.emplace_back();
    length.length = 10;
    length.mean_nll = std::nan("");
    length.quantities = {{"wrong_answers", n_wrong}};
    write_result(folder.results(), result);
  };
  write("a", 3);
  write("b", 3);
  write("c", 4);
  BOOST_TEST(merge(temp.path() / "a", temp.path() / "b").n_there == 1);
  BOOST_CHECK_EXCEPTION(merge(temp.path() / "a", temp.path() / "c"), ConfigError,
                        says("expected the number that is there, 3 wrong answers, got 4 wrong"));
}

BOOST_AUTO_TEST_SUITE_END()
