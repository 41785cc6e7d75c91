#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace farfield::comm {

/// The value of a variable of the environment; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string&)>;
Environment environment_of_process();

/// `text` as the value of the variable `name`. ConfigError unless it is a number from `least` to
/// `most`.
int64_t number_of(const std::string& name, const std::string& text, int64_t least, int64_t most);

/// Variables that a starter of processes sets, which has to set all that belong together.
class Variables {
 public:
  /// `starter` is named where one is missing: "as STARTER sets it".
  Variables(const Environment& environment, std::string starter);

  bool has(const std::string& name) const { return environment_(name).has_value(); }
  /// ConfigError where it is not set, or empty.
  std::string text(const std::string& name) const;
  /// Its value as a number: ConfigError where it is not set, or no number from `least` to `most`.
  int64_t number(const std::string& name, int64_t least, int64_t most) const;
  /// The same from 0 on, and `otherwise` where it is not set.
  int64_t number_or(const std::string& name, int64_t otherwise, int64_t most) const;

 private:
  const Environment& environment_;
  std::string starter_;
};

}  // namespace farfield::comm
