#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/eval/result.h"
#include "apps/sweep/experiment.h"
#include "apps/sweep/plan.h"
#include "apps/sweep/results.h"

namespace farfield::sweep {

/// A number of one seed.
struct SeedNumber {
  uint64_t seed = 0;
  double value = 0;
  std::string tokens;  ///< eval::LengthResult::tokens; numbers are paired where these are equal
};

/// The measurements of an experiment on one of its data sets. Lengths are in units of the scale;
/// missing numbers are NaN or empty. A number of a model is the mean over the seeds that it has;
/// numbers of models are comparable over the seeds that all of them have: of_seed(),
/// of_shared_seeds().
class Measured {
 public:
  Measured(const Plan& plan, const PlannedDataset& dataset, const Results& results);

  const Plan& plan() const { return *plan_; }
  const Experiment& experiment() const { return *plan_->experiment; }
  Scale scale() const { return plan_->scale; }
  /// Whether the papers' thresholds are asked for: from `small` on, and of as_printed().
  bool is_published() const { return is_as_printed_ || has_published_models(); }
  /// Whether the experiment has the models of its paper: from `small` on.
  bool has_published_models() const { return has_published_thresholds(scale()); }
  /// A threshold that differs below `small`.
  double pick(double published, double shrunk) const { return is_published() ? published : shrunk; }
  const PlannedDataset& dataset() const { return *dataset_; }
  /// Whether this data set stands for the paper's data set `name`.
  bool is_on(const std::string& name) const { return dataset_named(name) == dataset_; }
  /// The same experiment on another of its data sets; null where it is not run on that.
  const PlannedDataset* dataset_named(const std::string& name) const;
  Measured on(const PlannedDataset& dataset) const;
  /// The same under the words of the paper: its thresholds on these numbers.
  Measured as_printed() const;
  /// The same for the first seed alone, for quantities without a mean: heads that start at random.
  Measured first_seed() const;
  /// The same for one seed, by its place in Plan::seeds.
  Measured of_seed(size_t seed) const;
  /// The same over the seeds that have the measurement of every one of these models that has it for
  /// any seed; as it is where no seed has all. An empty `measure`: all measurements.
  Measured of_shared_seeds(const std::vector<const PlannedArm*>& arms,
                           const std::string& measure = {}) const;
  Measured of_shared_seeds() const;  ///< of all models
  /// The seeds that numbers are means over.
  std::vector<uint64_t> seeds_used() const;
  /// The number of seeds with a measurement of a model, or with all.
  size_t n_seed(const PlannedArm& arm, const std::string& measure = {}) const;

  /// In the order of the experiment, of this scale.
  const std::vector<PlannedArm>& arms() const { return plan_->arms; }
  std::vector<const PlannedArm*> arms(const std::string& group) const;
  /// The arms of an output, by its groups.
  std::vector<const PlannedArm*> shown(const Output& output) const;
  /// By label; null where this scale has none.
  const PlannedArm* arm(const std::string& label) const;
  /// By the swept value, as in the paper: arm_at("slope shift", "delta", -3).
  const PlannedArm* arm_at(const std::string& group, const std::string& name, double value) const;

  /// Perplexity of the first measurement that has one, at so many units.
  double perplexity(const PlannedArm& arm, double length) const;
  double perplexity(const std::string& arm, double length) const;
  /// Perplexity at `length` over that at `base`.
  double ratio(const PlannedArm& arm, double length, double base = 1) const;
  double ratio(const std::string& arm, double length, double base = 1) const;
  /// Any quantity of a measurement: "perplexity", "nll", "erf", "eff h3", ...; length 0: of the
  /// longest, or of none, as seconds of a training step are.
  double value(const PlannedArm& arm, const std::string& measure, const std::string& quantity,
               double length = 0) const;
  double value(const std::string& arm, const std::string& measure, const std::string& quantity,
               double length = 0) const;
  /// The names of all that a measurement gives a length, in its order.
  std::vector<std::string> quantities(const std::string& measure, double length = 0) const;
  std::vector<SeedNumber> seeds(const PlannedArm& arm, const std::string& measure,
                                const std::string& quantity, double length = 0) const;
  /// The series of that full name, averaged over the seeds where they have the same x; empty y
  /// where not measured.
  eval::Series series(const PlannedArm& arm, const std::string& measure, const std::string& name,
                      double length = 0) const;
  /// The same of each seed.
  std::vector<eval::Series> seed_series(const PlannedArm& arm, const std::string& measure,
                                        const std::string& name, double length = 0) const;
  std::vector<std::string> series_names(const PlannedArm& arm, const std::string& measure,
                                        double length = 0) const;
  /// Protocol, parameters and protocol hash of a measurement, for a report; "" where not measured.
  std::string parameters(const std::string& measure) const;
  /// The result of a seed (by its place in Plan::seeds) for a measurement; null if there is none.
  /// If an own grid has changed its lengths, this may be a result at the old lengths.
  const eval::ProtocolResult* result(const PlannedArm& arm, const std::string& measure,
                                     size_t seed) const;
  /// Whether some seed has such numbers, at lengths of then.
  bool is_of_other_lengths(const PlannedArm& arm, const std::string& measure) const;
  /// The results of one seed, by its place in Plan::seeds; null: not finished.
  const CellResult* cell(const PlannedArm& arm, size_t seed) const;
  /// The failure there, such as "OOM", or "".
  std::string failure(const PlannedArm& arm, const std::string& measure, double length) const;
  /// A fact that the cells of this arm record: "parameters", "posenc_parameters", "step_ms",
  /// "peak_mib", "train_seconds", "train_loss".
  double fact(const PlannedArm& arm, const std::string& name) const;

 private:
  int64_t tokens(const std::string& measure, double length) const;
  const Cell& planned_cell(const PlannedArm& arm, size_t seed) const;
  const eval::ProtocolResult* exact(const PlannedArm& arm, const std::string& measure,
                                    size_t seed) const;

  bool has(const PlannedArm& arm, size_t seed, const std::string& measure = {}) const;

  const Plan* plan_;
  const PlannedDataset* dataset_;
  const Results* results_;
  std::vector<size_t> seeds_;  // places in Plan::seeds
  bool is_as_printed_ = false;
};

/// A series between its points, by straight lines; NaN outside of them.
double value_at(const eval::Series& series, double x);

/// The mean of the points of a series with from <= x <= to; NaN without any.
double mean_between(const eval::Series& series, double from, double to);

/// "1 L", "16 L", "0.5 L".
std::string length_text(double units);

}  // namespace farfield::sweep
