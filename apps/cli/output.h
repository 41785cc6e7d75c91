#pragma once

#include <string>

namespace farfield::cli {

/// Sees to it that descriptors 0 to 2 are open, so that no file of the program's own gets one of
/// them and what is printed ends in it. Standard output that was closed stays without a place to
/// write to: what is printed there is lost, and output_problem() says so.
void open_standard_streams();

/// Empty once everything given to std::cout has reached the system; otherwise what went wrong.
std::string output_problem();

}  // namespace farfield::cli
