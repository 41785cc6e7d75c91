#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace farfield::hub {

/// Two added tokens that llama.cpp takes from some text in another way than we do. We take the
/// leftmost token and of several at one place the longest; llama.cpp takes the longest of all
/// first, wherever it is. They differ only where two tokens can overlap.
std::optional<std::pair<std::string, std::string>> differently_taken(
    const std::vector<std::string>& added);

}  // namespace farfield::hub
