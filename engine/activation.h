#pragma once

namespace farfield {

/// What linear() does to each of its results.
enum class Activation { none, gelu };

}  // namespace farfield
