#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/inspect/geometry.h"
#include "posenc/composition.h"

namespace farfield::inspect {

/// The model in which an expression is looked at; by default of the size of `neox-162m`.
struct Surroundings {
  int64_t n_head = 12, head_dim = 64, n_layer = 12, train_len = 512;
  std::optional<int64_t> d_model;
  uint64_t seed = 1;

  void add_to(cli::Options& options);
  /// In float64. ConfigError for a size that is not positive.
  posenc::Config config() const;
};

/// A trained run to take model and learned values from instead.
struct RunChoice {
  std::string run;  ///< folder; empty: none
  std::optional<int64_t> step;
  bool drop_learned = false;
  std::vector<std::string> map;  ///< LoadOptions::map

  void add_to(cli::Options& options);
};

/// The encoding of a run with its trained values, widened to float64; under another expression when
/// one is given, as `eval --posenc` does.
struct TrainedEncoding {
  posenc::Composition encoding;
  std::string label;  ///< with_map()
};
TrainedEncoding trained_encoding(const RunChoice& choice,
                                 const std::optional<std::string>& expression);

/// The subject of `inspect encoding`.
struct SubjectOptions {
  std::vector<std::string> expressions;
  Surroundings model;
  RunChoice run;
  int64_t layer = 0;  ///< negative ones count from the end
  std::string phase = "eval";
  uint64_t draw = 0;
};

/// An encoding and where to look at it.
struct Subject {
  posenc::Composition encoding;
  Spot spot;
  std::string label;  ///< the canonical expression, and the values that were mapped

  const std::string& name() const { return label; }
  const posenc::Config& config() const { return encoding.config(); }
  /// All tables of the last query, and what its layer does with them.
  posenc::Composition::Plan plan() const;
  const posenc::Composition::Layer& layer_of(const posenc::Composition::Plan& plan) const {
    return plan.layers[static_cast<size_t>(spot.layer)];
  }
};

/// Checks the request: a layer (negative numbers count from the end) and the name of a phase. The
/// sequence is as long as in training.
Spot spot_of(const posenc::Composition& encoding, int64_t layer, const std::string& phase,
             uint64_t draw);

/// One subject for each expression, or the run's own expression; sequences are as long as in
/// training unless `spot` changes that. `given` tells which options the command line has.
/// ConfigError for options that contradict each other. If one of several expressions is refused,
/// its error is added to `refused` and the others go on; ConfigError if all are refused.
std::vector<Subject> subjects_of(const SubjectOptions& request, const cli::Options& given,
                                 std::vector<std::string>& refused);

/// 17 significant digits, so that every float64 reads back; "-inf" and "inf"; "" for NaN.
std::string exact(double value);
/// For people: up to 5 significant digits.
std::string brief(double value);

}  // namespace farfield::inspect
