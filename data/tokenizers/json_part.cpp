#include "data/tokenizers/json_part.h"

#include "engine/base/json.h"

namespace farfield::data {
namespace {

const Json& json_of(const std::shared_ptr<const void>& value) {
  return *static_cast<const Json*>(value.get());
}

}  // namespace

JsonPart::JsonPart(std::string_view file, std::string_view text)
    : file_(std::make_shared<const std::string>(file)),
      value_(std::make_shared<const Json>(read_json({"tokenizer", file, text}))) {}

bool JsonPart::is_null() const { return json_of(value_).is_null(); }

JsonPart JsonPart::member(const char* name) const {
  static const auto null = std::make_shared<const Json>();
  const Json& json = json_of(value_);
  JsonPart part;
  part.file_ = file_;
  const auto found = json.is_object() ? json.find(name) : json.end();
  if (found == json.end())
    part.value_ = null;
  else
    part.value_ = std::shared_ptr<const void>(value_, &*found);
  return part;
}

std::vector<JsonPart> JsonPart::list(const std::string& what) const {
  const Json& json = json_of(value_);
  require_that(json.is_array(), "expected ", what, " to be a list, got ", json.type_name());
  std::vector<JsonPart> parts;
  for (const Json& one : json) {
    JsonPart part;
    part.file_ = file_;
    part.value_ = std::shared_ptr<const void>(value_, &one);
    parts.push_back(std::move(part));
  }
  return parts;
}

std::string JsonPart::text(const std::string& what) const {
  const Json& json = json_of(value_);
  require_that(json.is_string(), "expected ", what, " to be a string, got ", json.type_name());
  return json.get<std::string>();
}

int64_t JsonPart::number(const std::string& what) const {
  const Json& json = json_of(value_);
  require_that(json.is_number_unsigned() && json.get<uint64_t>() <= uint64_t{INT32_MAX},
               "expected ", what, " to be a number from 0 to ", INT32_MAX, ", got ", shown());
  return json.get<int64_t>();
}

std::string JsonPart::type(const std::string& what) const {
  const Json& json = json_of(value_);
  require_that(json.is_object(), "expected ", what, " to be an object, got ", json.type_name());
  return member("type").text("the type of " + what);
}

bool JsonPart::flag(const char* name, bool otherwise) const {
  const JsonPart part = member(name);
  if (part.is_null()) return otherwise;
  const Json& json = json_of(part.value_);
  require_that(json.is_boolean(), "expected ", name, " to be true or false, got ",
               json.type_name());
  return json.get<bool>();
}

bool JsonPart::is(std::string_view text) const { return json_of(value_) == text; }

bool JsonPart::has(const char* name) const {
  const Json& json = json_of(value_);
  return json.is_object() && json.contains(name);
}

std::string JsonPart::shown() const {
  const Json& json = json_of(value_);
  return json.is_primitive() ? write_json(json) : json.type_name();
}

std::vector<JsonPart> JsonPart::steps(const char* list_name, const std::string& what) const {
  std::vector<JsonPart> found;
  if (is_null()) return found;
  if (type(what) != "Sequence") return {*this};
  for (const JsonPart& one : member(list_name).list(list_name)) {
    require_that(!one.is_null(), "expected a ", what, ", got null");
    for (JsonPart& step : one.steps(list_name, what)) found.push_back(std::move(step));
  }
  return found;
}

}  // namespace farfield::data
