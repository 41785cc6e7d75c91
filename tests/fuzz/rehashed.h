#pragma once

#include <string>
#include <string_view>

namespace farfield::test {

/// A file of JSON that ends with the hash of the rest, with a correct hash, so that fuzzers reach
/// the code behind the comparison of hashes. Bytes that are no such file are returned as they are.
std::string rehashed(std::string_view bytes);

}  // namespace farfield::test
