#pragma once

#include <string>
#include <vector>

#include "apps/cli/scratch_folder.h"
#include "layers/config.h"
#include "posenc/registry.h"

namespace farfield::inspect {

/// The result of an encoding on one path.
struct Trial {
  enum class Outcome {
    works,
    refused,  ///< a ConfigError, as for a usage error
    nothing,  ///< there is nothing to try
    broken,   ///< anything else: a wrong number, another error
  };
  Outcome outcome = Outcome::works;
  std::string message = {};  ///< why, unless it works
};

/// Every encoding on every path through a small model: two layers, two heads, trained on 16 tokens.
class Trials {
 public:
  Trials();

  /// Names of the paths, in the order of run().
  static const std::vector<std::string>& paths();

  /// The expression that an encoding is tried as: an example of it that acts in
  /// training too, remaps beside `rope`.
  static std::string expression_of(const posenc::Row& row);

  /// One Trial for each path:
  /// forward       a loss in training and in evaluation, finite
  /// backward      finite gradients of all weights, not all zero for what the encoding learns
  /// gradients     of learned values against central differences, in float64
  /// resume        training on from a checkpoint: the same bits as without the interruption
  /// 8x            evaluation at 8 times the training length
  /// window        the same with + window(12)
  /// window,log_n  the same with + window(12) + log_n
  /// share=layer   each layer has values of its own, and they learn
  std::vector<Trial> run(const posenc::Row& row) const;

 private:
  cli::ScratchFolder folder_;
  std::string corpus_;  // a folder in it
};

}  // namespace farfield::inspect
