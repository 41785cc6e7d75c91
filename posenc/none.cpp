// No position information but the causal mask.

#include "posenc/registry.h"

namespace farfield::posenc {

std::unique_ptr<Encoding> make_none(const Arguments&, const Config&) {
  return std::make_unique<Encoding>();
}

}  // namespace farfield::posenc
