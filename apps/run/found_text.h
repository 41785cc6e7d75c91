#pragma once

#include "data/prepare.h"

namespace farfield::run {

/// Text that nearly every machine with a compiler has, for programs that are given none: the C and
/// C++ headers in /usr/include, without duplicates.
data::PrepareOptions found_text();
/// The same in words.
inline constexpr const char* kFoundText = "the C and C++ headers in /usr/include";

}  // namespace farfield::run
