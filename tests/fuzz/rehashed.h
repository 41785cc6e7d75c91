#pragma once

#include <string>
#include <string_view>

namespace farfield::test {

/// A file of JSON that ends with the hash of the rest, with the hash that fits: what is behind the
/// comparison of hashes is to be reached too. Bytes that are no such file are returned as they are.
std::string rehashed(std::string_view bytes);

}  // namespace farfield::test
