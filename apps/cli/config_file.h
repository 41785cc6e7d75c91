#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::cli {

/// One `key = value` line of a file.
struct ConfigLine {
  std::string key, value;
  int64_t number = 0;  ///< of the line in its file, from 1 on; 0: from no file
};

/// Reads a file of `key = value` lines, whose `name` is used in messages. Blanks around key and
/// value do not count; an empty line does not either, nor what follows a # at the beginning of a
/// line or behind a blank. A value that begins with a quotation mark ends with one: between them
/// every byte counts, and \" \\ \n \r \t \xHH are a quotation mark, a backslash, the ends of lines,
/// a tab and any byte.
/// Throws    ConfigError [config] with name and number of a line of another form
std::vector<ConfigLine> parse_config(const std::string& name, std::string_view text);

/// The line that parse_config() reads back as this key and this value, whatever bytes the value
/// has. It is printable UTF-8, and in quotation marks only where the value would not survive
/// without.
std::string config_line(std::string_view key, std::string_view value);

}  // namespace farfield::cli
