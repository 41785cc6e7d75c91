#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace farfield::run {

/// Where a folder lies that a run needs (a corpus, another run), as the run's manifest records it
/// beside what the user wrote: the run finds it again from another folder, and when both have
/// moved. Empty where there is none.
struct Place {
  std::string absolute;
  std::string from_run;  ///< the path from the run's folder to it
};

Place place_of(const std::filesystem::path& what, const std::filesystem::path& run);

/// The absolute path without links, or with the links that cannot be followed.
std::filesystem::path real_path(const std::filesystem::path& path);

/// As members of a JSON object. A member that is missing or no string is empty.
void set_place(nlohmann::ordered_json& json, const Place& place);
Place read_place(const nlohmann::ordered_json& json);
/// A string of a JSON object; "" if it is missing or of another type.
std::string text_member(const nlohmann::ordered_json& json, const char* key);

}  // namespace farfield::run
