// No position information but the causal mask.

#include "posenc/row.h"

namespace farfield::posenc {

Row none_row() {
  return {.name = "none",
          .aliases = {"nope", "no_pe"},
          .synonyms = {"no_pos", "identity"},
          .classes = "-",
          .meaning = "the causal mask alone",
          .formula = "the causal mask alone",
          .family = families::kLinear,
          .make = make<Encoding>};
}

}  // namespace farfield::posenc
