#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/run/config.h"
#include "apps/run/resolved_config.h"
#include "apps/run/settings.h"
#include "apps/sweep/experiment.h"
#include "apps/sweep/scale.h"

namespace farfield::sweep {

/// A trained run that the user gives (`sweep run --base RUN`). Experiments that change one trained
/// model then change this one: it takes the place of the arm Experiment::base_arm, and their
/// lengths are counted in its training length.
///
/// A folder keeps all of this, so that plans need the run itself no more than the text.
struct GivenRun {
  std::string name;         ///< its folder, as the user wrote it
  std::string path;         ///< the same, absolute
  int64_t step = 0;         ///< of its weights
  std::string hash;         ///< of these: run::Checkpoint::model_hash
  int64_t n_parameter = 0;  ///< with those of the encoding
  int64_t n_vocab = 0;      ///< rows of the embedding
  run::Settings training;   ///< without the settings of its data

  std::string posenc() const { return run::value_of(training, "posenc"); }
  int64_t train_len() const { return number("train-len"); }
  uint64_t seed() const { return static_cast<uint64_t>(number("seed")); }
  /// On the CPU, whatever device it was trained on.
  run::ResolvedConfig config() const;
  /// Whether they have the same weights, wherever they lie.
  bool is(const GivenRun& other) const { return step == other.step && hash == other.hash; }
  int64_t number(const char* key) const;
};

/// The run in a folder at this step if it has that, else at its newest. Reads all weights: IoError
/// for a missing or damaged run or checkpoint, ConfigError for a run that is trained on a task.
GivenRun open_given(const std::string& path, std::optional<int64_t> step = {});

/// Why an experiment cannot change the run; empty if it can. The run has to turn queries and keys
/// by position where the arm that it stands for does, since findings speak of such models, and its
/// encoding has to go together with what the arms add.
std::string misfit(const GivenRun& given, const Experiment& experiment);

/// "text=CORPUS", the corpus that the run was trained on, for Datasets::map(). ConfigError for
/// several of them, IoError where it is not found.
std::string own_text(const GivenRun& given);
/// ConfigError, naming both tokenizers, for a corpus of other tokens than the run's.
void require_its_tokens(const GivenRun& given, const std::string& corpus);

/// Training options of the run itself: no step from its own weights.
run::RunConfig itself(const GivenRun& given);
/// Gives a training of a scale the model of the run, its training length and its weights to start
/// from; steps, batch and optimisation stay those of the scale, but for the learning rate: it falls
/// as 1 / width from width 64 on. `posenc`: on_given().
/// Source    Yang et al. 2022, arXiv:2203.03466, for the learning rate of Adam by width
void start_from(const GivenRun& given, const std::string& posenc, run::RunConfig& training);
/// An expression of an arm for the run: the run's own expression in place of the expression of the
/// arm that it stands for. The terms behind it are scaled to its training length. An arm with
/// another rotation gives it to the run instead of the run's: ConfigError if the run has none of
/// that name.
std::string on_given(const GivenRun& given, const Experiment& experiment, const Arm& arm,
                     const std::string& expression);

/// "step 300 of runs/base (weights 0123456789abcdef): rope, L = 64, 4 layers, ...".
std::string describe(const GivenRun& given);
/// describe(scale) for the sweep of a given run.
std::string describe_for_given(Scale scale, const GivenRun& given);
/// "step 300 of runs/base (weights 0123456789abcdef)".
std::string short_name(const GivenRun& given);

/// As sweep.json holds it, but for the path.
run::Settings to_settings(const GivenRun& given);
/// The inverse, out of a file: IoError for what to_settings() would not give.
GivenRun given_of(const run::Settings& settings, const std::string& file);

}  // namespace farfield::sweep
