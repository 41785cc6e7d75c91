#pragma once

#include <optional>
#include <string>

#include "apps/analysis/receptive_field.h"
#include "apps/eval/subject.h"
#include "posenc/composition.h"

namespace farfield::eval {

/// The tokens that a model's mask leaves visible, in sequences of one length.
struct ModelReach {
  analysis::TheoreticalField field;
  std::vector<std::optional<int64_t>> window_of_layer;  ///< tokens, itself included; or none
  int64_t n_sink = 0;       ///< first tokens that windows leave visible, the most of any layer
  bool is_windowed = true;  ///< every layer has a window
};

/// From the rule of each layer, planned for n_inputs tokens. Sinks that lie before the windows'
/// reach are counted in field.exact too.
///
/// Throws    ConfigError for a length that the encoding cannot reach
ModelReach reach_of(const posenc::Composition& encoding, int64_t n_inputs, int64_t train_len,
                    uint64_t draw = kFirstDraw);

/// The theoretical receptive field of the next prediction after T inputs, T each of the lengths.
/// Reads no text.
///
/// Throws    ConfigError bad_argument for a stand-in
/// Source    Chi, Fan, Rudnicky and Ramadge 2022, "Dissecting Transformer Length Extrapolation via
///           the Lens of Receptive Field Analysis", arXiv:2212.10356, sections 1 and 5
ProtocolResult reach(const Subject& subject, const CommonOptions& common);

}  // namespace farfield::eval
