#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace farfield {

// The one way from text to JSON and back, for every file that the programs read and write. Included
// by .cpp files alone, so that no installed header shows a vendor's type; check_includes holds all
// three.

/// A tree of JSON, its members in the order of the file.
using Json = nlohmann::ordered_json;

/// Brackets within brackets. Files that the programs read back have at most 4; printing, comparing
/// and copying a tree take stack, and indented lines take space, for each.
inline constexpr int kMaxJsonDepth = 32;

/// A text, and how messages name it: "[where] file: ...".
struct JsonSource {
  std::string_view where;
  std::string_view file;
  std::string_view text;
  size_t begin = 0;  ///< the byte of the file that the text begins at
};

/// Passes the parts of a text to a handler, one after the other; the handler's return values are
/// ignored: it reports errors by throwing.
/// Throws    IoError, naming the file, for text that is not JSON in UTF-8, a key that an object has
///           twice, and more than kMaxJsonDepth nested brackets
void read_json(const JsonSource& source, nlohmann::json_sax<Json>& handler);

/// The whole text as a tree. Throws as above.
Json read_json(const JsonSource& source);

/// A tree as text: `indent` blanks for each level and a line for each member, or all in one line.
/// Names of files are any bytes. What of a string is not UTF-8 becomes U+FFFD, one for each maximal
/// ill-formed subpart, so that no such name keeps a result from being written; reading the text
/// back and writing it again gives the same text.
std::string write_json(const Json& json, int indent = -1);

/// The text of an object with one more member, "hash": the hash of all other members, written in
/// one line.
std::string write_hashed_json(Json object, int indent = -1);

/// The hash that an object says of itself, empty where it says none, and the one that it has.
struct JsonHash {
  std::string said, own;
  bool fits() const { return !said.empty() && said == own; }
};
/// Takes the member "hash" out of what write_hashed_json() wrote, or of anything else.
JsonHash take_hash(Json& object);

/// A member of an object as a T; empty if it is missing or of another type. Only whole numbers:
/// conversion of 1e64 to an integer is undefined.
template <class T>
std::optional<T> whole_member(const Json& object, const std::string& key) {
  try {
    const Json& value = object.at(key);
    if (!value.is_number_float()) return value.get<T>();
  } catch (const Json::exception&) {
  }
  return std::nullopt;
}

}  // namespace farfield
