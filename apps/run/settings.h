#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farfield::run {

/// Resolved options, (key, value) in order of declaration, as config.conf holds them.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Reads `key = value` lines (cli::parse_config()); `name` is used in messages. IoError for a line
/// of another form.
Settings parse_settings(const std::string& name, std::string_view text);

/// The text of a config.conf, from which parse_settings() gives the same settings.
std::string config_text(const Settings& settings);

/// The text for hashes: each value unchanged, which a file would not always preserve.
std::string to_text(const Settings& settings);

/// The value of a key, or "" when there is none.
std::string value_of(const Settings& settings, std::string_view key);

/// The settings that stay after those named are left out.
Settings without(const Settings& settings, const std::vector<std::string>& keys);

/// The first key whose value differs or that only one side has, in the order of a, then of b; ""
/// when there is none.
std::string first_difference(const Settings& a, const Settings& b);

}  // namespace farfield::run
