#pragma once

#include <string>
#include <vector>

#include "posenc/composition.h"

namespace farfield::run {

/// Trained values for a parameter of another name: `--map r1=kerple_log.r1` gives what `kernel`
/// learned as r1 to the r1 of kerple_log.
///
/// A name denotes a learned parameter of one number per head, "kerple_log.r1", whatever its
/// constraint stores; the term may be left out if only one term has the parameter. With share=layer
/// the name stands for the parameters of all layers: each gets the value of its own layer, or the
/// only value there is.
struct MappedValue {
  std::string from, to;  ///< in full, "kernel.layer0.r1"
  friend bool operator==(const MappedValue&, const MappedValue&) = default;
};

/// The maps of "FROM=TO" texts, from the trained expression to the expression that gets its values,
/// in the order of the new parameters. `where` names the run in messages.
/// Throws    ConfigError [posenc] for a text of another form, a name that its expression does not
///           have, one that several terms have, a place that is given twice, and layers that do not
///           correspond
std::vector<MappedValue> value_maps(const std::string& where, const std::vector<std::string>& texts,
                                    posenc::Composition& trained, posenc::Composition& changed);

/// Copies the values, each as its parameter's constraint stores it. ConfigError for a value outside
/// the bounds of its new parameter.
void apply(const std::vector<MappedValue>& maps, posenc::Composition& trained,
           posenc::Composition& changed);

/// "kernel.r1=kerple_log.r1, kernel.r2=kerple_log.r2"
std::string to_text(const std::vector<MappedValue>& maps);

}  // namespace farfield::run
