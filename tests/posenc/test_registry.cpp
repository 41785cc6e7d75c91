#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "engine/autograd.h"
#include "posenc/registry.h"
#include "posenc/score_tables.h"
#include "posenc/shared_arguments.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"
#include "tests/support/source_dir.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_registry)  // ctest: on_cuda
namespace {

std::string example(const Row& row) { return example_of(row); }
bool is_mask_by_table(const Row& row) { return row.name == "only_distances"; }
// The longest input of a test: encodings with a table of positions end at the training length.
int64_t longest(const Row& row, const Config& config) {
  return (row.takes("max_positions") ? 1 : 16) * config.train_len;
}

void check_table(const Tensor& table, const Shape& shape, DType dtype, const std::string& what) {
  if (!table.defined()) return;
  BOOST_TEST((table.shape() == shape), what << " has shape " << table.shape());
  BOOST_TEST((table.dtype() == dtype), what << " is " << table.dtype());
  for (const double x : table.to_vector())
    BOOST_TEST_REQUIRE(std::isfinite(x), what << " is not finite");
}

BOOST_AUTO_TEST_CASE(rows_are_sorted_and_names_and_aliases_are_distinct) {
  const std::vector<std::string> all = names();
  BOOST_TEST(std::is_sorted(all.begin(), all.end()));
  std::set<std::string> seen;
  for (const Row& row : registry()) {
    BOOST_TEST(seen.insert(row.name).second);
    for (const std::string& alias : row.aliases) BOOST_TEST(seen.insert(alias).second);
  }
}

BOOST_AUTO_TEST_CASE(the_encodings_of_this_version_are_there) {
  for (const char* name :
       {"none", "sinusoidal", "learned_abs", "rope", "alibi", "window", "kerple_log", "sandwich"})
    BOOST_TEST(find(name) != nullptr, name);
  BOOST_TEST(find("nope") == find("none"));
  BOOST_TEST(find("alib") == nullptr);
}

BOOST_AUTO_TEST_CASE(every_row_explains_itself) {
  for (const Row& row : registry()) {
    BOOST_TEST(!row.meaning.empty());
    BOOST_TEST((row.make != nullptr) != (row.expand != nullptr), row.name);
    for (const ArgumentSpec& spec : row.arguments) {
      BOOST_TEST(!spec.meaning.empty(), row.name << '.' << spec.name);
      BOOST_TEST(!spec.type().empty(), row.name << '.' << spec.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_comparison_has_a_model_with_every_encoding) {
  for (const Row& row : registry()) {
    const auto [trained, measured] = comparison_of(row);
    BOOST_CHECK_NO_THROW(Composition(trained, model_of(4)));
    if (!measured.empty()) BOOST_CHECK_NO_THROW(Composition(measured, model_of(4)));
    const std::string& own = measured.empty() ? trained : measured;
    BOOST_TEST(own.find(row.name) != std::string::npos, row.name << " in " << own);
    // A map of positions does nothing unless another term reads them.
    if (row.classes == "P") BOOST_TEST(own.find(" + ") != std::string::npos, row.name);
  }
}

BOOST_AUTO_TEST_CASE(encodings_for_evaluation_only_are_compared_on_another_model) {
  Row row = {.name = "made_up", .arguments = {at_argument({"eval", "both"})}};
  BOOST_TEST(comparison_of(row).trained == "made_up(at=both)");
  BOOST_TEST(comparison_of(row).measured == "");
  row.trained_as = "rope";
  BOOST_TEST(comparison_of(row).trained == "rope");
  BOOST_TEST(comparison_of(row).measured == "made_up");
  row.compared_as = "rope + made_up";
  BOOST_TEST(comparison_of(row).measured == "rope + made_up");
}

BOOST_AUTO_TEST_CASE(classes_decide_a_family_unless_the_row_does) {
  const auto family = [](const char* classes) { return family_of(Row{.classes = classes}); };
  BOOST_TEST(family("R, P") == family_of(*find("rope")));
  BOOST_TEST(family("P2, M") == family_of(*find("window")));
  BOOST_TEST(family("P") == family_of(*find("sinusoidal")));
  BOOST_TEST(family_of(*find("kernel")) == families::kKerple);
}

// Its committed results hold for the encodings that it has.
BOOST_AUTO_TEST_CASE(a_comparison_leaves_out_what_is_for_one_task_or_model_and_controls) {
  std::vector<std::string> left_out;
  for (const Row& row : registry())
    if (!row.is_compared) left_out.push_back(row.name);
  BOOST_TEST((left_out == std::vector<std::string>{"landmark", "linear_abs", "linear_attention",
                                                   "only_distances", "rope_longrope"}));
}

BOOST_AUTO_TEST_CASE(conflicts_name_classes_or_encodings_and_hold_in_any_order) {
  for (const Row& row : registry())
    for (const Row::Conflict& conflict : row.conflicts) {
      BOOST_TEST(!conflict.reason.empty(), row.name);
      for (const std::string& with : conflict.with) {
        const auto other = std::find_if(registry().begin(), registry().end(),
                                        [&](const Row& r) { return r.name == with || r.is(with); });
        BOOST_TEST_REQUIRE((other != registry().end()), with);
        const std::string a = example(row), b = example(*other);
        for (const std::string& both : {a + " + " + b, b + " + " + a})
          BOOST_TEST(
              error_of_expression(both, model_of(2)).find(conflict.reason) != std::string::npos,
              both);
        BOOST_CHECK_NO_THROW(Composition(concat(a, "@0 + ", b, "@1"), model_of(2)));
      }
    }
}

BOOST_AUTO_TEST_CASE(defaults_shown_are_defaults_used) {
  for (const Row& row : registry())
    for (const ArgumentSpec& spec : row.arguments) {
      if (!spec.fallback) continue;
      BOOST_TEST(spec.default_text == to_text(*spec.fallback));
      const Config config = model_of(2);
      const std::string bare = example(row);
      std::string spelled = bare;
      if (spelled.back() != ')') spelled += "()";
      const std::string joint = spelled[spelled.size() - 2] == '(' ? "" : ", ";
      spelled.insert(spelled.size() - 1, concat(joint, spec.name, '=', spec.default_text));
      BOOST_TEST(Composition(spelled, config).canonical() == Composition(bare, config).canonical());
    }
}

BOOST_AUTO_TEST_CASE(the_readme_lists_every_encoding_with_its_arguments) {
  std::ifstream file(source_dir() / "posenc/README.md");
  const std::string readme(std::istreambuf_iterator<char>(file), {});
  BOOST_TEST(readme.find(markdown()) != std::string::npos,
             "posenc/README.md lacks the table that `inspect encoding --list --markdown` prints");
}

BOOST_AUTO_TEST_CASE(every_encoding_is_in_the_file_of_its_name) {
  for (const Row& row : registry())
    BOOST_TEST(
        std::filesystem::exists(source_dir() / concat("posenc/encodings/", row.name, ".cpp")),
        row.name);
}

BOOST_AUTO_TEST_CASE(a_class_is_found_among_several) {
  Row row;
  row.classes = "P2, M";
  BOOST_TEST(row.is("P2"));
  BOOST_TEST(row.is("M"));
  BOOST_TEST(!row.is("P"));
  BOOST_TEST(!row.is("R"));
}

BOOST_AUTO_TEST_CASE(tables_have_their_shapes_and_stay_finite_at_16_times_the_training_length) {
  for (const Row& row : registry())
    for (const DType dtype : {DType::f32, DType::f64})
      for (const int64_t n_head : {1, 3}) {
        const Config config = model_of(n_head, dtype);
        const Composition c(example(row), config);
        const int64_t n = longest(row, config);
        for (const Phase phase : {Phase::train, Phase::eval})
          for (const int64_t n_query : {int64_t{1}, n}) {
            const Composition::Plan plan = c.plan(n_query, n, phase);
            BOOST_TEST(plan.layers.size() == 3u);
            check_table(plan.embedding, {n_query, config.d_model}, dtype, row.name);
            BOOST_TEST(plan.embedding.defined() == row.is("I"), row.name);
            for (const auto& [rotation, rule] : plan.layers) {
              // A term for some layers stands for others, which are rows themselves.
              if (!row.is("LY"))
                BOOST_TEST(rotation.cos.defined() == (row.is("R") || row.is("P2")), row.name);
              check_table(rotation.cos, {n_query, config.head_dim / 2}, dtype, row.name);
              check_table(rotation.sin, {n_query, config.head_dim / 2}, dtype, row.name);
              const bool is_hiding = is_mask_by_table(row);
              BOOST_TEST(rule.bias.defined() == (row.is("T-b") || row.is("T-bw") || is_hiding),
                         row.name);
              BOOST_TEST(hides_by_table(rule) == is_hiding, row.name);
              if (!is_hiding) check_table(rule.bias, {n_head, n}, dtype, row.name);
              check_table(rule.weight, {n_head, n}, dtype, row.name);
              if (!row.is("LY")) BOOST_TEST(rule.row_scale.defined() == row.is("S"), row.name);
              check_table(rule.row_scale, {n_query}, dtype, row.name);
              const bool is_at_rest = row.is("P2") && phase == Phase::train;
              if (!row.is("LY"))
                BOOST_TEST((rule.window > 0) == (row.is("M") && !is_at_rest && !is_hiding),
                           row.name);
              for (const Tensor& far : {rotation.far.cos_q, rotation.far.sin_q, rotation.far.cos_k,
                                        rotation.far.sin_k}) {
                if (!row.is("LY"))
                  BOOST_TEST(far.defined() == (row.is("P2") && !is_at_rest), row.name);
                check_table(far, {n_query, config.head_dim / 2}, dtype, row.name);
              }
            }
          }
      }
}

BOOST_AUTO_TEST_CASE(a_table_does_not_depend_on_the_length_it_is_made_for) {
  for (const Row& row : registry()) {
    const Config config = model_of(2);
    const Composition c(example(row), config);
    const Tensor long_bias = rule_of(c, longest(row, config)).bias;
    if (!long_bias.defined()) continue;
    const Tensor short_bias = rule_of(c, 7).bias;
    BOOST_TEST(all_close(slice(long_bias, 1, 0, 7), short_bias, Tolerance(0)), row.name);
  }
}

// Softmax does not see a constant, rounded logits do. t5 has no such form, and gauss_bias* lifts
// near keys.
BOOST_AUTO_TEST_CASE(bias_tables_are_zero_at_distance_zero_and_never_positive) {
  for (const Row& row : registry()) {
    if (row.name == "t5" || row.name.rfind("gauss_bias", 0) == 0) continue;
    const Tensor bias = rule_of(Composition(example(row), model_of(3)), 16).bias;
    if (!bias.defined()) continue;
    for (const double x : at_distances(bias, {0})) BOOST_TEST(x == 0, row.name);
    for (const double x : bias.to_vector()) BOOST_TEST(x <= 0, row.name);
  }
}

BOOST_AUTO_TEST_CASE(gradients_reach_every_parameter) {
  for (const Row& row : registry()) {
    Composition c(example(row), model_of(3));
    std::vector<Parameter> parameters = c.parameters();
    std::erase_if(parameters, [](const Parameter& p) { return !p.value.requires_grad(); });
    if (parameters.empty()) continue;
    const Composition::Plan plan = c.plan(9, 9, Phase::train);
    std::vector<Tensor> tables, ones;
    const auto add = [&](const Tensor& table) {
      if (!table.defined() || !table.needs_grad()) return;
      tables.push_back(table);
      ones.push_back(Tensor::full(table.shape(), 1, table.dtype()));
    };
    add(plan.embedding);
    for_each_table(plan.layers[0].rule, add);
    backward(tables, ones);
    for (const Parameter& parameter : parameters) {
      BOOST_TEST(parameter.name.rfind(row.name + '.', 0) == 0, parameter.name);
      BOOST_TEST(!parameter.decay, parameter.name);
      BOOST_TEST_REQUIRE(parameter.value.grad().defined(), parameter.name);
      double largest = 0;
      for (const double g : parameter.value.grad().to_vector())
        largest = std::max(largest, std::abs(g));
      BOOST_TEST((largest > 0 && std::isfinite(largest)), parameter.name);
    }
    c.project();  // in the interior: changes nothing that a second call would change
    const auto once = parameters[0].value.to_vector();
    c.project();
    BOOST_TEST((parameters[0].value.to_vector() == once));
  }
}

BOOST_AUTO_TEST_CASE(every_encoding_composes_with_a_window_and_a_table) {
  for (const Row& row : registry()) {
    if (row.conflict_with(*find("alibi")) != nullptr ||
        row.conflict_with(*find("window")) != nullptr)
      continue;
    const Config config = model_of(2);
    const bool remaps = row.is("P") || row.is("P2");
    const Composition alone(example(row), config);
    const Composition alibi((remaps ? example(row) + " + " : "") + "alibi(0.5)", config);
    // A window must not be narrower than a near branch, nor meet another with sinks.
    const int64_t own = rule_of(alone, 9).window;
    const int64_t w = row.is("P2") && row.is("M") ? own : row.is("P2") || row.is("LY") ? 16 : 4;
    const Composition both(concat(example(row), " + window(", w, ") + alibi(0.5)"), config);
    const ScoreRule rule = rule_of(both, 9);
    BOOST_TEST(rule.window == (own > 0 ? std::min(own, w) : w), row.name);
    Tensor want = rule_of(alibi, 9).bias;
    if (const Tensor bias = rule_of(alone, 9).bias; bias.defined()) want = want + bias;
    BOOST_TEST(all_close(rule.bias, want, Tolerance(1e-13)), row.name);
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_argument_of_any_encoding_is_refused) {
  for (const Row& row : registry()) {
    const std::string error = error_of_expression(row.name + "(no_such_argument=1)", model_of(2));
    BOOST_TEST(error.find(row.name + " takes ") != std::string::npos, error);
    BOOST_TEST(error.find(concat("at column ", row.name.size() + 2, "\n")) != std::string::npos,
               error);
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
