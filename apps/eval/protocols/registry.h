#pragma once

#include <string>
#include <vector>

#include "apps/eval/protocols/baseline.h"
#include "apps/eval/protocols/cached.h"
#include "apps/eval/protocols/coherence.h"
#include "apps/eval/protocols/gradient.h"
#include "apps/eval/protocols/kernel_definiteness.h"
#include "apps/eval/protocols/kernel_fit.h"
#include "apps/eval/protocols/kernel_lengths.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/protocols/non_overlapping.h"
#include "apps/eval/protocols/position_wise.h"
#include "apps/eval/protocols/reach.h"
#include "apps/eval/protocols/sliding.h"
#include "apps/eval/protocols/speed.h"

namespace farfield::eval {

/// What to measure: the options of all protocols.
struct EvalOptions {
  std::vector<std::string> protocols = {"last-token"};
  std::vector<std::string> baselines = {"none"};  ///< as parse_baseline() reads them
  CommonOptions common;
  LastTokenOptions last_token;
  NonOverlappingOptions non_overlapping;
  SlidingOptions sliding;
  CachedOptions cached;  ///< beside last_token's
  PositionWiseOptions position_wise;
  GradientOptions gradient;
  ReachOptions reach;
  KernelLengthsOptions kernel_lengths;
  KernelFitOptions kernel_fit;
  KernelDefinitenessOptions kernel_definiteness;
  SpeedOptions speed;
  CoherenceOptions coherence;
};

/// A way of measuring a model.
struct Protocol {
  std::string name;     ///< as on the command line
  std::string help;     ///< what it measures, in one line
  std::string source;   ///< paper and section
  bool has_lengths;     ///< measured at each of --lengths
  bool has_text;        ///< reads a text
  bool has_perplexity;  ///< gives one at each length
  bool needs_model;     ///< looks inside a model: Subject::model must not be null
  void (*add)(cli::Options&, EvalOptions&);
  void (*check)(const EvalOptions&);
  ProtocolResult (*run)(const Subject&, const EvalOptions&);
};

/// All of them, in the order of --list.
const std::vector<Protocol>& protocols();

/// ConfigError [eval] bad_argument, with the nearest name.
const Protocol& protocol_named(const std::string& name);

/// Refuses a protocol that looks inside a model for a truncated one: ConfigError bad_argument.
void require_scores_suffice(const Protocol& protocol, const std::string& baseline);

/// Declares the options of all protocols.
void add_options(cli::Options& options, EvalOptions& eval);

/// Refuses words that are not known and numbers that make no sense: ConfigError.
void check(const EvalOptions& eval);

}  // namespace farfield::eval
