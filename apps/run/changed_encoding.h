#pragma once

#include <map>
#include <string>
#include <vector>

#include "layers/transformer.h"

namespace farfield::run {

/// Values without a counterpart when a checkpoint is loaded into a model of another encoding, by
/// the names that expressions use ("kerple_log.r1").
struct Unmatched {
  std::vector<std::string> left_out;  ///< trained values without a place
  std::vector<std::string> at_start;  ///< learned parameters that keep the values they start from
  std::string mapped;                 ///< "kernel.r1=kerple_log.r1, ...": to_text() of value_map.h
};

/// Copies the tensors of a checkpoint into a model whose positional encoding may be another than
/// `trained`, the canonical expression that the tensors come from. Values that training changes go
/// from term to term by name: a value in the new expression says where training starts, so the
/// trained one takes its place.
///
/// Refused with a ConfigError, unless drop_learned:
/// - a trained value that the new expression has no parameter for, or one of another shape;
/// - a learned parameter that the checkpoint has no value for;
/// - a term that both have and whose arguments give a parameter other initial values than training
///   did, for these would be lost.
///
/// `maps` gives trained values to parameters of another name (value_map.h); such a parameter takes
/// no value by its own name. With the trained expression itself the model stays as trained.
///
/// drop_learned leaves the trained value out in the first and third case, and takes the initial
/// values of training in all of them. IoError for a tensor that is damaged or not of this model.
/// `where` names the run in messages.
Unmatched load_weights_of(const std::string& where, const std::string& trained, Transformer& model,
                          const std::map<std::string, Tensor>& tensors, bool drop_learned,
                          const std::vector<std::string>& maps = {});

/// What a reader should know of such values, a sentence each, without the mapped ones: "trained
/// values left out: kernel.r1".
std::vector<std::string> remarks_on(const Unmatched& unmatched);

/// The name of a changed encoding with its mapped values: the expression, and ", map ..." after it
/// if there are any.
std::string with_map(const std::string& expression, const Unmatched& unmatched);

}  // namespace farfield::run
