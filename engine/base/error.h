#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace farfield {

/// Every error the libraries throw. The text has one form:
/// "[where] what was expected, what came, and a remedy if one is known".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ShapeError : Error {
  using Error::Error;
};
struct DTypeError : Error {
  using Error::Error;
};
struct DeviceError : Error {
  using Error::Error;
};
/// A request that makes no sense: command line, configuration, encoding expression. Exit code 2.
struct ConfigError : Error {
  using Error::Error;
};
/// Bad data, a damaged file, a disk that is full. Exit code 3.
struct IoError : Error {
  using Error::Error;
};
/// A library or a device failed, memory ran out.
struct BackendError : Error {
  using Error::Error;
};

/// A type that becomes whatever is asked for, as values of JSON do.
template <class T>
concept BecomesAnything = std::is_class_v<std::remove_cvref_t<T>> &&
    std::is_convertible_v<T, std::string> && std::is_convertible_v<T, bool>;

/// The parts written one after the other, as operator<< would.
template <class... Parts>
requires(!BecomesAnything<const Parts&> && ...) std::string concat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return std::move(text).str();
}

/// Refused: such a part brings its library's namespace along, where nlohmann/json 3.11.3 has
/// another `concat`, of texts alone, which would be taken. Write json.dump().
template <class... Parts>
requires(BecomesAnything<Parts> || ...) std::string concat(Parts&&... parts)
= delete;

/// Throws E with "[where] parts...".
template <class E, class... Parts>
[[noreturn]] void fail(std::string_view where, const Parts&... parts) {
  throw E(concat('[', where, "] ", parts...));
}

/// Throws E with "[where] parts..." unless ok. The text is built only on failure.
template <class E, class... Parts>
void require(bool ok, std::string_view where, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail<E>(where, parts...);
}

/// The nearest of `known` to `word` by edit distance, as "; did you mean 'x'?", or "" when none is
/// near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace farfield
