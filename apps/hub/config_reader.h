#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::hub {

/// The members of a config.json, or of an object in it, each asked for by its key. Errors are
/// IoErrors that name the file and the key. What was never asked for is refused in the end: a model
/// with an unknown setting would be another model.
class ConfigReader {
 public:
  /// IoError for a text that is no JSON object.
  ConfigReader(std::string file, std::string_view text);
  ~ConfigReader();
  ConfigReader(const ConfigReader&) = delete;
  ConfigReader& operator=(const ConfigReader&) = delete;

  const std::string& file() const { return file_; }

  /// Whether there is such a member other than null, and whether there is one, null or not.
  bool has(const std::string& key);
  bool mentions(const std::string& key) const;
  /// The member; without one, or if it is null, `otherwise`; without that an error.
  int64_t whole(const std::string& key, std::optional<int64_t> otherwise = {});
  double number(const std::string& key, std::optional<double> otherwise = {});
  /// A whole number from 1 to 2^31 - 1, and a number above 0; checked before anything is computed
  /// from them.
  int64_t size(const std::string& key, std::optional<int64_t> otherwise = {});
  double positive(const std::string& key, std::optional<double> otherwise = {});
  bool flag(const std::string& key, std::optional<bool> otherwise = {});
  std::string word(const std::string& key, std::optional<std::string> otherwise = {});
  std::vector<int64_t> wholes(const std::string& key);
  std::vector<double> numbers(const std::string& key);
  std::vector<std::string> words(const std::string& key);
  /// A whole number, or the first of a list of them; nothing without the member.
  std::optional<int64_t> first_whole(const std::string& key);
  /// An object; null if there is none.
  std::unique_ptr<ConfigReader> object(const std::string& key);

  /// Members that do not change what the model computes.
  void ignore(std::initializer_list<const char*> keys);
  /// Refuses a member of another value: it asks for what is not implemented.
  void expect(const std::string& key, bool value, bool otherwise);
  void expect(const std::string& key, double value);
  void expect_none(const std::string& key);
  /// IoError for a member that nobody has asked for. Names that begin with _ are notes, and
  /// ids of tokens are for generating text.
  void require_all_known() const;

  /// IoError "[hub] FILE: KEY: expected WHAT, got ...".
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const;

 private:
  ConfigReader(std::string file, std::string path, const nlohmann::ordered_json& object);
  const nlohmann::ordered_json* find(const std::string& key);
  const nlohmann::ordered_json& member(const std::string& key, const std::string& expected);

  std::string file_;
  std::string path_;  // "rope_scaling." within an object
  std::unique_ptr<nlohmann::ordered_json> root_;
  std::set<std::string> asked_;
};

}  // namespace farfield::hub
