#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/changed_encoding.h"
#include "apps/run/checkpoint.h"
#include "apps/run/config.h"
#include "apps/run/lineage.h"
#include "apps/run/resolved_config.h"

namespace farfield::run {

/// A run whose weights another run starts from: `train --init-from RUN`.
struct SourceRun {
  RunFolder folder;
  ResolvedConfig config;
  int64_t step = 0;  ///< of the weights
  std::string hash;  ///< Checkpoint::model_hash of that step
};

/// The run in a folder at a step, or without a step at its newest. IoError if there is no such
/// checkpoint, and ConfigError [train] for weights of another hash than `hash`, if that is given.
SourceRun open_source(const std::string& path, std::optional<int64_t> step,
                      const std::optional<std::string>& hash);
inline SourceRun open_source(const ResolvedConfig::Init& init) {
  return open_source(init.from, init.step, init.hash);
}

/// The settings that a run takes from its source unless it says otherwise: of the model and the
/// optimisation, and of the data, which are found as for a run that is resumed.
Settings inherited(const SourceRun& source, bool with_data);

/// Completes a request whose other settings are there: step and hash, and the lengths that its
/// positional encoding leaves out. These follow the training length of the source, which the
/// weights are used to. ConfigError [train] for a causal model of text that is to become an
/// encoder, or the other way round.
void complete(RunConfig& request, const SourceRun& source);

/// ConfigError [train], naming the option, for a model of another shape than its source.
void require_same_shape(const ResolvedConfig& config, const SourceRun& source);

/// The run that gave a run its initial weights, told by their hash: where config.conf says, else
/// where the manifest records it. IoError, naming the places, if it is gone.
SourceRun find_source(const RunFolder& run, const ResolvedConfig& config);

/// All weights of a run at a checkpoint, by the names of the model without adapters: those of the
/// checkpoint, and for a run with adapters the weights of its source with the adapters added.
/// IoError for a chain of sources that is too long, as one that leads back to the run is, and for
/// tensors that are not those of the run's adapters. `depth`: of the chain, for the function's own
/// use.
std::map<std::string, Tensor> whole_weights(const RunFolder& run, const ResolvedConfig& config,
                                            const Checkpoint& checkpoint, int depth = 0);

/// Gives the model the weights of the source. Values of the encoding follow the rules of
/// load_weights_of().
Unmatched take_weights(const SourceRun& source, const ResolvedConfig::Init& how,
                       Transformer& model);

/// The source and its own ancestors, for the manifest of a run in the folder `run`.
std::vector<Ancestor> lineage_with(const SourceRun& source, const std::string& run);

}  // namespace farfield::run
