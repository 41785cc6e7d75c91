#include "apps/eval/protocols/codes.h"

#include <algorithm>
#include <iterator>

#include "apps/eval/protocols/result.h"

namespace farfield::eval {

void rethrow_with_code(const ConfigError& error, std::string_view where) {
  constexpr std::string_view kCodes[] = {"bad_argument", "bad_stride", "length_too_short"};
  if (std::find(std::begin(kCodes), std::end(kCodes), code_of(error)) != std::end(kCodes)) throw;
  fail<ConfigError>(where, "bad_argument: ", error.what());
}

}  // namespace farfield::eval
