#pragma once

#include <string>
#include <string_view>

namespace farfield::cli {

/// A text that is safe to print on a terminal: text from a file or a command line can hold bytes
/// that move the cursor, change colours or set the title. UTF-8 stays as it is; control characters
/// (but new lines and tabs), characters that turn the direction of writing, and bytes that are not
/// UTF-8 become \xHH. Everything that run_main() and Progress print goes through here.
std::string printable(std::string_view text);

}  // namespace farfield::cli
