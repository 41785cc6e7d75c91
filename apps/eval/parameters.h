#pragma once

#include <string>
#include <vector>

namespace farfield::eval {

/// ProtocolResult::parameters as words "name=value". A value may hold blanks: "count=320 (15 at
/// 2048)" is one word.
std::vector<std::string> parameter_words(const std::string& parameters);

/// The words of `parameters` that some of `all` lack, with blanks between them; empty if all have
/// them.
std::string differing_parameters(const std::string& parameters,
                                 const std::vector<std::string>& all);

}  // namespace farfield::eval
