#include "apps/inspect/subject.h"

#include <cmath>
#include <cstdio>

#include "apps/run/load_run.h"
#include "engine/base/error.h"

namespace farfield::inspect {
namespace {

constexpr std::string_view kWhere = "inspect";

std::string formatted(const char* format, double value) {
  if (std::isnan(value)) return "";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[40];
  std::snprintf(text, sizeof text, format, value + 0.0);  // no -0
  return text;
}

}  // namespace

void Surroundings::add_to(cli::Options& options) {
  options.group("The model around it")
      .add("n-head", n_head, "N", "attention heads")
      .add("head-dim", head_dim, "N", "width of a head")
      .add("d-model", d_model, "N", "width of the model (default: n-head x head-dim)")
      .add("n-layer", n_layer, "N", "layers")
      .add("train-len", train_len, "N", "tokens of a training sequence")
      .add("seed", seed, "N", "seed of values that are drawn at the start of training");
}

posenc::Config Surroundings::config() const {
  const auto positive = [](const char* name, int64_t value, int64_t most = int64_t{1} << 24) {
    require<ConfigError>(value >= 1 && value <= most, kWhere, name,
                         ": expected a number from 1 to ", most, ", got ", value);
  };
  positive("--n-head", n_head, 4096);
  positive("--head-dim", head_dim);
  positive("--n-layer", n_layer, 4096);
  positive("--train-len", train_len);
  if (d_model) positive("--d-model", *d_model);
  return {.n_head = n_head,
          .head_dim = head_dim,
          .d_model = d_model.value_or(n_head * head_dim),
          .n_layer = n_layer,
          .train_len = train_len,
          .seed = seed,
          .dtype = DType::f64};
}

void RunChoice::add_to(cli::Options& options) {
  options.group("A trained run")
      .add("run", run, "FOLDER", "take the model and its learned values from this run of `train`")
      .add("step", step, "N", "the checkpoint of this step (default: the newest)")
      .add("drop-learned", drop_learned,
           "with --run and an expression: leave out trained values without a parameter in the "
           "expression")
      .add("map", map, "FROM=TO,...",
           "with --run and an expression: use a trained value for a parameter of another name, "
           "such as r1=kerple_log.r1");
}

TrainedEncoding trained_encoding(const RunChoice& choice,
                                 const std::optional<std::string>& expression) {
  const run::LoadedRun run = run::load_run(choice.run, {.step = choice.step,
                                                        .device = "cpu",
                                                        .posenc = expression,
                                                        .drop_learned = choice.drop_learned,
                                                        .map = choice.map});
  return {run.model.encoding().widened(), run::with_map(run.posenc, run.unmatched)};
}

posenc::Composition::Plan Subject::plan() const {
  return encoding.plan(1, spot.n_key, spot.phase, {1, spot.draw});
}

Spot spot_of(const posenc::Composition& encoding, int64_t layer, const std::string& phase,
             uint64_t draw) {
  require<ConfigError>(phase == "eval" || phase == "train", kWhere,
                       "--phase: expected eval or train, got '", phase, "'");
  const int64_t n = encoding.config().n_layer;
  require<ConfigError>(layer >= -n && layer < n, kWhere, "--layer: expected one from ", -n, " to ",
                       n - 1, ", got ", layer);
  return {.layer = layer < 0 ? layer + n : layer,
          .n_key = encoding.config().train_len,
          .phase = phase == "train" ? posenc::Phase::train : posenc::Phase::eval,
          .draw = draw};
}

std::vector<Subject> subjects_of(const SubjectOptions& request, const cli::Options& given,
                                 std::vector<std::string>& refused) {
  const auto refuse = [&](std::vector<const char*> names, const char* expected) {
    for (const char* name : names)
      require<ConfigError>(!given.given(name), kWhere, "--", name, ": expected ", expected);
  };
  std::vector<Subject> subjects;
  const auto add = [&](TrainedEncoding one) {
    const Spot spot = spot_of(one.encoding, request.layer, request.phase, request.draw);
    subjects.push_back({std::move(one.encoding), spot, std::move(one.label)});
  };
  const auto add_each = [&](const auto& encoding_of) {
    for (const std::string& expression : request.expressions) {
      try {
        add(encoding_of(expression));
      } catch (const ConfigError& error) {
        refused.emplace_back(error.what());
        if (refused.size() == request.expressions.size()) throw ConfigError(refused.front());
      }
    }
  };
  if (request.run.run.empty()) {
    refuse({"step", "drop-learned", "map"}, "--run with it");
    require<ConfigError>(!request.expressions.empty(), kWhere,
                         "expected an expression, --run FOLDER or --list; see inspect encoding "
                         "--help");
    const posenc::Config config = request.model.config();
    add_each([&](const std::string& expression) {
      posenc::Composition encoding(expression, config);
      std::string label = encoding.canonical();
      return TrainedEncoding{std::move(encoding), std::move(label)};
    });
    return subjects;
  }
  refuse({"n-head", "head-dim", "d-model", "n-layer", "train-len", "seed"},
         "no such size with --run, which brings its own model");
  require<ConfigError>(request.run.map.empty() || !request.expressions.empty(), kWhere,
                       "--map: expected an expression with it, which has the places of trained "
                       "values");
  if (request.expressions.empty()) add(trained_encoding(request.run, {}));
  add_each(
      [&](const std::string& expression) { return trained_encoding(request.run, expression); });
  return subjects;
}

std::string exact(double value) { return formatted("%.17g", value); }
std::string brief(double value) { return formatted("%.5g", value); }

}  // namespace farfield::inspect
