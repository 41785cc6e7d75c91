#include "engine/base/random.h"

#include "engine/base/hash.h"

namespace farfield {

uint64_t stream_of(std::string_view name) { return hash64(name); }

}  // namespace farfield
