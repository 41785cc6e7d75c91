#pragma once

#include <string>
#include <vector>

namespace farfield {

/// Plain text as Markdown that shows the same characters: a mark that could begin code, emphasis or
/// HTML, and a bar, get a backslash; an end of line becomes a blank.
std::string markdown_text(const std::string& text);

/// Text as code: "`bench step`". The fence is longer than any run of backticks in the text.
std::string markdown_code(const std::string& text);

/// A row of a table, ended by "\n": "| a | b |". Cells are Markdown; a bar in a cell gets a
/// backslash where it has none.
std::string markdown_row(const std::vector<std::string>& cells);

/// The first two lines of a table: the names of its columns, and the line that makes it a table.
std::string markdown_head(const std::vector<std::string>& columns);

}  // namespace farfield
