#pragma once

#include <string_view>

#include "engine/base/error.h"

namespace farfield::eval {

/// To be called where `error` has been caught: throws it again with the code of a bad request as
/// the first word. That is the error as it is where it has one (bad_argument, bad_stride,
/// length_too_short), else a ConfigError "[<where>] bad_argument: " and its text: libraries that
/// serve other programs too know no codes.
[[noreturn]] void rethrow_with_code(const ConfigError& error, std::string_view where);

}  // namespace farfield::eval
