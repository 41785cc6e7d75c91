#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "data/byte_reader.h"

namespace farfield::data {

/// Whether a text without the ending of JSON Lines is JSON Lines: its first line is an object with
/// text under the key, or objects stand on the first two lines. Looks at the first MiB at most.
bool is_json_lines(PeekReader& text, std::string_view text_key);

/// A remark on a file that is read as plain text although its name and first bytes show JSON or a
/// table. The text follows the file's name: "is JSON but ...". Empty for other files.
std::string plain_text_remark(const std::filesystem::path& path, std::string_view begin);

}  // namespace farfield::data
