#pragma once

#include <string>
#include <vector>

#include "posenc/composition.h"

namespace farfield::run {

/// Trained values that take a place of another name: `--map r1=kerple_log.r1` gives what `kernel`
/// learned as r1 to the r1 of kerple_log.
///
/// A name is that of a learned parameter of one number per head, "kerple_log.r1", whatever its
/// constraint stores; its term may be left out where one term alone has it. With share=layer it
/// stands for those of all layers: each gets the value of its own layer, or the only one there is.
struct MappedValue {
  std::string from, to;  ///< in full, "kernel.layer0.r1"
  friend bool operator==(const MappedValue&, const MappedValue&) = default;
};

/// What "FROM=TO" texts say of the expression that was trained and that which gets its values, in
/// the order of the places. `where` names the run in messages.
/// Throws    ConfigError [posenc] for a text of another form, a name that its expression does not
///           have, one that several terms have, a place that is given twice, and layers that do not
///           correspond
std::vector<MappedValue> value_maps(const std::string& where, const std::vector<std::string>& texts,
                                    posenc::Composition& trained, posenc::Composition& changed);

/// Copies the values, each as its parameter's constraint stores it. ConfigError for one out of the
/// bounds of its new place.
void apply(const std::vector<MappedValue>& maps, posenc::Composition& trained,
           posenc::Composition& changed);

/// "kernel.r1=kerple_log.r1, kernel.r2=kerple_log.r2"
std::string to_text(const std::vector<MappedValue>& maps);

}  // namespace farfield::run
