#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "data/byte_reader.h"

namespace farfield::data {

/// Whether a text that is not called so is JSON Lines: its first line is an object with text under
/// the key, or objects stand on the first two lines. Looks at the first MiB at most.
bool is_json_lines(PeekReader& text, std::string_view text_key);

/// What a user should know of a file that is read as plain text, by its name and first bytes: that
/// it is JSON or a table. It goes on behind the name: "is JSON but ...". Empty for other files.
std::string plain_text_remark(const std::filesystem::path& path, std::string_view begin);

}  // namespace farfield::data
