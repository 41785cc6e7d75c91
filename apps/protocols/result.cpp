#include "apps/protocols/result.h"

#include "engine/base/hash.h"

namespace farfield::apps {

std::string ProtocolResult::hash() const {
  return hash_hex(protocol + '\n' + parameters).substr(0, 16);
}

void set_failure(LengthResult& result, const std::string& code, const std::string& message) {
  LengthResult failed;
  failed.length = result.length;
  failed.tokens = result.tokens;
  failed.failure = code;
  failed.message = message;
  result = failed;
}

}  // namespace farfield::apps
