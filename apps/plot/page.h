#pragma once

#include <string>

namespace farfield::plot {

/// The beginning of an HTML page that needs no other file, up to <body>: it can be read on a
/// telephone and follows a reader's dark scheme. Tables in a `.wide` scroll by themselves under
/// their first column; `.figures` holds pictures side by side. `style`: more of the style sheet.
std::string page_head(const std::string& title, const std::string& style);

}  // namespace farfield::plot
