#include <boost/test/unit_test.hpp>
#include <set>

#include "apps/eval/protocol.h"
#include "apps/sweep/grid.h"
#include "apps/sweep/plan.h"
#include "engine/base/error.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/support/messages.h"

using namespace farfield;
using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_plan)

BOOST_AUTO_TEST_CASE(a_cell_is_named_by_its_training_and_its_corpus) {
  const Experiment e = two_models();
  PlanOptions options = made_up_options(Scale::tiny);
  const Cell cell = plan_of(e, options).cells.front();
  BOOST_TEST(cell.hash().size() == 16U);
  BOOST_TEST(plan_of(e, options).cells.front().hash() == cell.hash());
  Cell other = cell;
  other.corpus_hash = "another";
  BOOST_TEST(other.hash() != cell.hash());
  // Where the corpus lies, and what is measured, do not name it.
  options.datasets.set("arxiv", "arxiv", {"elsewhere", "hash of arxiv", ""});
  BOOST_TEST(plan_of(e, options).cells.front().hash() == cell.hash());
  other = cell;
  other.measurements.clear();
  BOOST_TEST(other.hash() == cell.hash());
}

BOOST_AUTO_TEST_CASE(names_of_finished_cells_stay) {
  // Committed results are found by these: a change here loses them.
  const Plan plan = plan_of(two_models(), made_up_options(Scale::tiny));
  BOOST_TEST(run::to_text(plan.cells.front().key()) ==
             "preset = tiny\nposenc = alibi_shift(delta=-3)\nn-layer = 4\nd-model = 64\nd-ff = "
             "256\ntrain-len = 64\nsteps = 1200\nlr = 0.002\ncorpus = hash of arxiv\n");
}

// ALiBi, and a fine-tune of it under another expression.
Experiment with_fine_tune() {
  Experiment e = two_models();
  Arm& arm = e.arms[1];
  arm.label = "ALiBi, tuned";
  arm.posenc = "alibi + log_n";
  arm.starts_from = "ALiBi";
  arm.steps = 0.1;
  arm.training = {{"lengths", "0.5:{1},0.5:{1.5}"}, {"lora", "rank=2,targets=q,v"}};
  return e;
}

BOOST_AUTO_TEST_CASE(an_arm_starts_from_the_model_of_another) {
  PlanOptions options = made_up_options(Scale::tiny);
  options.seeds = 2;
  const Plan plan = plan_of(with_fine_tune(), options);
  for (const size_t seed : {0U, 1U}) {
    const Cell &base = plan.cell(0, 0, seed), &tuned = plan.cell(0, 1, seed);
    BOOST_TEST_REQUIRE((tuned.base != nullptr && base.base == nullptr));
    BOOST_TEST(tuned.base->hash() == base.hash());
    BOOST_TEST(tuned.base->measurements.empty());
    BOOST_TEST(run::value_of(tuned.key(), "init-hash") == base.hash());
    BOOST_TEST(run::value_of(tuned.key(), "lengths") == "0.5:64,0.5:96");
    BOOST_TEST(run::value_of(tuned.key(), "init-from") == "");
    BOOST_TEST(tuned.label().find("120 steps from alibi_shift") != std::string::npos,
               tuned.label());
  }
  Experiment other = with_fine_tune();
  other.arms[0].steps = 0.5;
  BOOST_TEST(plan_of(other, options).cells.back().hash() != plan.cells.back().hash());
  other.arms[1].starts_from = "Rotary";
  BOOST_CHECK_EXCEPTION(plan_of(other, options), ConfigError,
                        says("expected an arm 'Rotary' to start from, got none"));
  other = with_fine_tune();
  std::swap(other.arms[0], other.arms[1]);
  BOOST_CHECK_EXCEPTION(plan_of(other, options), ConfigError,
                        says("expected the arm 'ALiBi' before the arm that starts from it"));
}

BOOST_AUTO_TEST_CASE(experiments_share_cells_and_measure_them_once) {
  const Experiment one = two_models();
  Experiment two = one;
  two.measures.push_back({.key = "P6", .protocol = "gradient", .lengths = {4}});
  const PlanOptions options = made_up_options(Scale::tiny);
  const std::vector<Cell> cells = cells_of({plan_of(one, options), plan_of(two, options)});
  BOOST_TEST(cells.size() == 2U);
  BOOST_TEST(cells.front().measurements.size() == 2U);
}

BOOST_AUTO_TEST_CASE(the_first_seed_of_all_models_comes_first) {
  PlanOptions options = made_up_options(Scale::tiny);
  options.seeds = 2;
  std::vector<uint64_t> seeds;
  for (const Cell& cell : cells_of({plan_of(two_models(), options)})) seeds.push_back(cell.seed());
  BOOST_TEST(seeds == (std::vector<uint64_t>{1, 1, 2, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_scale_sets_the_amounts_that_a_protocol_declares) {
  for (const eval::Protocol& protocol : eval::protocols()) {
    Experiment e = two_models();
    if (protocol.needs_task) continue;  // of other models
    if (protocol.is_of_masked)
      for (Arm& arm : e.arms) arm.posenc = "rope", arm.training = {{"mask", "none"}};
    e.measures = {{.key = "one", .protocol = protocol.name}};
    if (protocol.has_lengths) e.measures.front().lengths = {1};
    const Measurement m =
        plan_of(e, made_up_options(Scale::smoke)).cells.front().measurements.front();
    for (const eval::AmountOption& option : protocol.amounts)
      BOOST_TEST(!run::value_of(m.options, option.name).empty(), protocol.name << option.name);
    BOOST_TEST((m.work > 0) == (protocol.work != nullptr), protocol.name);
  }
}

BOOST_AUTO_TEST_CASE(at_brief_experiments_are_on_the_text_that_is_given) {
  PlanOptions options;
  options.scale = Scale::brief;
  options.datasets.set("github", "code", {"code", "hash of code", "code"});
  const Plan plan = plan_of(experiment_named("kerple/table3"), options);
  BOOST_REQUIRE(plan.datasets.size() == 1U);
  BOOST_TEST(plan.datasets.front().name == "github");
  BOOST_TEST(
      plan_of(experiment_named("kerple/table3"), made_up_options(Scale::brief)).datasets.size() ==
      3U);
}

BOOST_AUTO_TEST_CASE(a_sweep_on_a_card_is_planned_by_any_build) {
  PlanOptions options = made_up_options(Scale::tiny);
  options.device = "cuda";
  const run::Settings training = plan_of(two_models(), options).cells.front().training;
  BOOST_TEST(run::value_of(training, "device") == "cuda");
  BOOST_TEST(run::value_of(training, "precision") == "bf16");
}

BOOST_AUTO_TEST_CASE(cells_on_corpora_that_are_to_be_made_are_told_apart) {
  Experiment e = two_models();
  e.few = {"topic", "induction"};
  PlanOptions options;
  BOOST_TEST(cells_of({plan_of(e, options)}).size() == 4U);
}

BOOST_AUTO_TEST_CASE(a_model_measured_under_another_expression_is_trained_once) {
  Experiment e = two_models();
  e.arms[0] = e.arms[1];
  e.arms[0].label = "ReRoPE";
  e.arms[0].measured_posenc = "rerope";
  const std::vector<Cell> cells = cells_of({plan_of(e, made_up_options(Scale::tiny))});
  BOOST_TEST(cells.size() == 1U);
  BOOST_TEST(cells.front().measurements.size() == 2U);
}

BOOST_AUTO_TEST_CASE(one_corpus_for_two_data_sets_is_one_block) {
  Experiment e = two_models();
  e.few = {"arxiv", "github"};
  PlanOptions options = made_up_options(Scale::tiny);
  options.datasets.set("github", "arxiv", {"arxiv", "hash of arxiv", "arxiv"});
  const Plan plan = plan_of(e, options);
  BOOST_TEST(plan.datasets.size() == 1U);
  BOOST_TEST(plan.datasets.front().name == "arxiv, github");
}

BOOST_AUTO_TEST_CASE(shrunk_arms_stand_for_published_ones_below_small) {
  Experiment e = two_models();
  e.arms[0].scales = Arm::Scales::published;
  e.arms[1].scales = Arm::Scales::shrunk;
  BOOST_TEST(plan_of(e, made_up_options(Scale::paper)).arms.front().label() == "ALiBi");
  BOOST_TEST(plan_of(e, made_up_options(Scale::tiny)).arms.front().label() == "Rotary");
}

BOOST_AUTO_TEST_CASE(lengths_and_tokens_in_options_follow_the_scale) {
  Experiment e = two_models();
  e.measures[0].offset = -1;
  e.measures[0].options = {{"baseline", "masked@{1}"}};
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  const Measurement& m = plan.cells.front().measurements.front();
  BOOST_TEST(run::value_of(m.options, "lengths") == "63,127");
  BOOST_TEST(run::value_of(m.options, "baseline") == "masked@64");
  BOOST_TEST(run::value_of(m.options, "segments") == "512");
}

BOOST_AUTO_TEST_CASE(encoders_on_text_and_causal_models_have_their_own_protocols) {
  Experiment e = two_models();
  e.measures = {{.key = "one", .protocol = "masked", .lengths = {1}}};
  BOOST_CHECK_EXCEPTION(plan_of(e, made_up_options(Scale::tiny)), ConfigError,
                        says("masked: expected an encoder on text (--mask none)"));
  e = two_models();
  e.arms.back().training = {{"mask", "none"}};
  BOOST_CHECK_EXCEPTION(plan_of(e, made_up_options(Scale::tiny)), ConfigError,
                        says(": expected a causal model, got an encoder on text"));
}

BOOST_AUTO_TEST_CASE(only_takes_arms_by_label_and_encoding) {
  const std::vector<Plan> plans = {plan_of(two_models(), made_up_options(Scale::tiny))};
  BOOST_TEST(cells_of(plans, {"Rotary"}).size() == 1U);
  BOOST_TEST(cells_of(plans, {"rope"}).size() == 1U);
  BOOST_CHECK_EXCEPTION(cells_of(plans, {"rop"}), ConfigError, says("did you mean 'rope'"));
}

BOOST_AUTO_TEST_CASE(every_experiment_can_be_planned_at_every_scale) {
  std::set<std::string> ids;
  for (const Experiment& e : experiments()) {
    for (const std::string& id : ids_of(e))
      BOOST_TEST(ids.insert(id).second, id << " stands twice");
    for (const Scale scale : {Scale::smoke, Scale::tiny, Scale::small, Scale::paper}) {
      const Plan plan = plan_of(e, made_up_options(scale));
      std::set<std::string> labels;
      for (const PlannedArm& arm : plan.arms)
        BOOST_TEST(labels.insert(arm.label()).second, e.id << ": " << arm.label());
    }
  }
}

BOOST_AUTO_TEST_CASE(experiments_are_found_by_id_glob_and_claim) {
  BOOST_TEST(experiments_matching({"sandwich/table1"}).size() == 1U);
  BOOST_TEST(experiments_matching({"sandwich/*"}).size() >= 10U);
  BOOST_TEST(experiments_matching({"S-T3-4"}).front()->id == "sandwich/table3");
  BOOST_TEST(experiments_matching({"sandwich/table1", "sandwich/*"}).size() ==
             experiments_matching({"sandwich/*"}).size());
  BOOST_TEST(experiments_matching({"context/cape"}).front()->id == "context/shape");
  BOOST_CHECK_EXCEPTION(experiments_matching({"sandwich/tabel1"}), ConfigError,
                        says("did you mean 'sandwich/table1'"));
}

BOOST_AUTO_TEST_CASE(a_grid_of_the_users_own_is_taken_as_written) {
  const Experiment e = parse_grid("mine",
                                  "title = why\nencoding = alibi\nencoding = rope + window(16)\n"
                                  "dataset = github\ntrain-len = 32\nlengths = 32,64\n"
                                  "protocols = last-token,reach\ntrain.steps = 7\n"
                                  "eval.segments = 5\n",
                                  Scale::tiny);
  BOOST_TEST(e.id == "own/mine");
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  BOOST_TEST(plan.cells.size() == 2U);
  const Cell& cell = plan.cells.front();
  BOOST_TEST(run::value_of(cell.training, "posenc") == "alibi");
  BOOST_TEST(run::value_of(cell.training, "steps") == "7");
  BOOST_TEST(run::value_of(cell.training, "train-len") == "32");
  BOOST_TEST(run::value_of(cell.measurements.front().options, "lengths") == "32,64");
  BOOST_TEST(run::value_of(cell.measurements.front().options, "segments") == "5");
  BOOST_TEST(e.measures.front().lengths == (std::vector<double>{0.5, 1}));
  BOOST_TEST(e.arms.front().train_len == 0.5);
  const Experiment silent = parse_grid("mine", "encoding = alibi\ntrain-len = 48\n", Scale::tiny);
  BOOST_TEST(
      run::value_of(
          plan_of(silent, made_up_options(Scale::tiny)).cells.front().measurements.front().options,
          "lengths") == "48,96,192,384");
  BOOST_CHECK_EXCEPTION(parse_grid("mine", "encodings = alibi\n", Scale::tiny), ConfigError,
                        says("did you mean"));
  BOOST_CHECK_EXCEPTION(parse_grid("mine", "title = x\n", Scale::tiny), ConfigError,
                        says("encoding"));
  BOOST_CHECK_EXCEPTION(parse_grid("mine", "encoding = alibi\nlengths = 1\n", Scale::tiny),
                        ConfigError, says("lengths"));
  BOOST_CHECK_EXCEPTION(parse_grid("mine", "encoding = alibi\neval.segmnts = 1\n", Scale::tiny),
                        ConfigError, says("segments"));
}

BOOST_AUTO_TEST_CASE(the_name_of_a_cell_follows_its_settings) {
  Cell cell = plan_of(two_models(), made_up_options(Scale::tiny)).cells.front();
  const std::string name = cell.hash();
  BOOST_TEST(cell.hash() == name);
  for (auto& [key, value] : cell.training)
    if (key == "seed") value = "77";
  BOOST_TEST(cell.hash() != name);
  const std::string other = cell.hash();
  cell.corpus_hash = "another";
  BOOST_TEST(cell.hash() != other);
}

BOOST_AUTO_TEST_SUITE_END()
