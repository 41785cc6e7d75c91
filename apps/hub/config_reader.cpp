#include "apps/hub/config_reader.h"

#include <cmath>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace farfield::hub {
namespace {

constexpr std::string_view kWhere = "hub";

}  // namespace

ConfigReader::ConfigReader(std::string file, std::string_view text)
    : file_(std::move(file)), root_(std::make_unique<Json>(read_json({kWhere, file_, text}))) {
  require<IoError>(root_->is_object(), kWhere, file_, ": expected a JSON object, got ",
                   root_->type_name());
}

ConfigReader::ConfigReader(std::string file, std::string path, const Json& object)
    : file_(std::move(file)), path_(std::move(path)), root_(std::make_unique<Json>(object)) {}

ConfigReader::~ConfigReader() = default;

void ConfigReader::refuse(const std::string& key, const std::string& expected) const {
  constexpr size_t kShown = 80;
  const auto found = root_->find(key);
  std::string got = found == root_->end() ? "none" : write_json(*found);
  if (got.size() > kShown) got = got.substr(0, kShown) + "...";
  fail<IoError>(kWhere, file_, ": ", path_, key, ": expected ", expected, ", got ", got);
}

const Json* ConfigReader::find(const std::string& key) {
  asked_.insert(key);
  const auto found = root_->find(key);
  return found == root_->end() || found->is_null() ? nullptr : &*found;
}

const Json& ConfigReader::member(const std::string& key, const std::string& expected) {
  const Json* const found = find(key);
  if (found == nullptr) refuse(key, expected);
  return *found;
}

bool ConfigReader::has(const std::string& key) { return find(key) != nullptr; }

bool ConfigReader::mentions(const std::string& key) const { return root_->contains(key); }

int64_t ConfigReader::whole(const std::string& key, std::optional<int64_t> otherwise) {
  if (otherwise && !has(key)) return *otherwise;
  const Json& value = member(key, "a whole number");
  if (!value.is_number_integer()) refuse(key, "a whole number");
  // A number beyond 63 bits would come out negative.
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX})
    refuse(key, "a whole number");
  return value.get<int64_t>();
}

double ConfigReader::number(const std::string& key, std::optional<double> otherwise) {
  if (otherwise && !has(key)) return *otherwise;
  const Json& value = member(key, "a number");
  if (!value.is_number() || !std::isfinite(value.get<double>())) refuse(key, "a number");
  return value.get<double>();
}

int64_t ConfigReader::size(const std::string& key, std::optional<int64_t> otherwise) {
  const int64_t value = whole(key, otherwise);
  constexpr int64_t kMost = int64_t{1} << 31;
  if (value < 1 || value >= kMost) refuse(key, concat("a size from 1 to ", kMost - 1));
  return value;
}

double ConfigReader::positive(const std::string& key, std::optional<double> otherwise) {
  const double value = number(key, otherwise);
  if (!(value > 0)) refuse(key, "a number above 0");
  return value;
}

bool ConfigReader::flag(const std::string& key, std::optional<bool> otherwise) {
  if (otherwise && !has(key)) return *otherwise;
  const Json& value = member(key, "true or false");
  if (!value.is_boolean()) refuse(key, "true or false");
  return value.get<bool>();
}

std::string ConfigReader::word(const std::string& key, std::optional<std::string> otherwise) {
  if (otherwise && !has(key)) return *otherwise;
  const Json& value = member(key, "a string");
  if (!value.is_string()) refuse(key, "a string");
  return value.get<std::string>();
}

std::vector<int64_t> ConfigReader::wholes(const std::string& key) {
  const Json& value = member(key, "a list of whole numbers");
  if (!value.is_array()) refuse(key, "a list of whole numbers");
  std::vector<int64_t> list;
  for (const Json& one : value) {
    if (!one.is_number_unsigned() || one.get<uint64_t>() > uint64_t{INT32_MAX})
      refuse(key, "a list of whole numbers");
    list.push_back(one.get<int64_t>());
  }
  return list;
}

std::vector<double> ConfigReader::numbers(const std::string& key) {
  const Json& value = member(key, "a list of numbers");
  if (!value.is_array()) refuse(key, "a list of numbers");
  std::vector<double> list;
  for (const Json& one : value) {
    if (!one.is_number()) refuse(key, "a list of numbers");
    list.push_back(one.get<double>());
  }
  return list;
}

std::vector<std::string> ConfigReader::words(const std::string& key) {
  const Json& value = member(key, "a list of strings");
  if (!value.is_array()) refuse(key, "a list of strings");
  std::vector<std::string> list;
  for (const Json& one : value) {
    if (!one.is_string()) refuse(key, "a list of strings");
    list.push_back(one.get<std::string>());
  }
  return list;
}

std::optional<int64_t> ConfigReader::first_whole(const std::string& key) {
  if (!has(key)) return std::nullopt;
  if (!member(key, "").is_array()) return whole(key);
  const std::vector<int64_t> all = wholes(key);
  return all.empty() ? std::nullopt : std::optional<int64_t>(all.front());
}

std::unique_ptr<ConfigReader> ConfigReader::object(const std::string& key) {
  const Json* const found = find(key);
  if (found == nullptr) return nullptr;
  if (!found->is_object()) refuse(key, "an object");
  return std::unique_ptr<ConfigReader>(new ConfigReader(file_, concat(path_, key, '.'), *found));
}

void ConfigReader::ignore(std::initializer_list<const char*> keys) {
  for (const char* key : keys) asked_.insert(key);
}

void ConfigReader::expect(const std::string& key, bool value, bool otherwise) {
  if (flag(key, otherwise) != value)
    refuse(key, concat(value ? "true" : "false", ", since the other is not implemented"));
}

void ConfigReader::expect(const std::string& key, double value) {
  if (number(key, value) != value)
    refuse(key, concat(value, ", since anything else is not implemented"));
}

void ConfigReader::expect_none(const std::string& key) {
  if (has(key)) refuse(key, "null, since anything else is not implemented");
}

void ConfigReader::require_all_known() const {
  for (const auto& [key, value] : root_->items())
    if (!value.is_null() && asked_.count(key) == 0 && !key.starts_with('_') &&
        !key.ends_with("_token_id"))
      refuse(key, "no such setting, which this program does not know");
}

}  // namespace farfield::hub
