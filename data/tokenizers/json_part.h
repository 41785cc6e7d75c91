#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace farfield::data {

/// A value in a tokenizer.json. Errors are IoErrors and name the file.
class JsonPart {
 public:
  /// The text of the value; "null" for one that the file does not have.
  JsonPart(std::string_view file, std::string_view text);

  bool is_null() const;
  /// A member; null where there is none, or where this is no object.
  JsonPart member(const char* name) const;

  // The value, or the error that it is of another type: "expected WHAT to be ...".
  std::vector<JsonPart> list(const std::string& what) const;
  std::string text(const std::string& what) const;
  int64_t number(const std::string& what) const;
  /// The member "type" of an object.
  std::string type(const std::string& what) const;

  /// A member that is true or false, and what holds where it is missing.
  bool flag(const char* name, bool otherwise) const;
  /// Whether it is this string.
  bool is(std::string_view text) const;
  /// Whether it is an object that has a member.
  bool has(const char* name) const;
  /// The value in one line, for messages.
  std::string shown() const;

  template <class... Parts>
  void require_that(bool ok, const Parts&... parts) const {
    require<IoError>(ok, "tokenizer", *file_, ": ", parts...);
  }

  /// The parts of a Sequence, of those within it too, or the part alone; none for null.
  std::vector<JsonPart> steps(const char* list_name, const std::string& what) const;

 private:
  JsonPart() = default;

  std::shared_ptr<const std::string> file_;
  std::shared_ptr<const void> value_;  // a Json, which no header shows
};

}  // namespace farfield::data
