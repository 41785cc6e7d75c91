#pragma once

namespace farfield {

/// The function that linear() applies to each of its results.
enum class Activation { none, gelu };

}  // namespace farfield
