#pragma once

#include <string>

namespace farfield::cli {

/// Makes sure that descriptors 0 to 2 are open, so that no file of the program gets one of them and
/// then receives printed text. A closed standard output stays unusable: its text is lost, and
/// output_problem() says so.
void open_standard_streams();

/// Empty once everything given to std::cout has reached the system; otherwise what went wrong.
std::string output_problem();

}  // namespace farfield::cli
