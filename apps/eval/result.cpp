#include "apps/eval/result.h"

#include <algorithm>
#include <iterator>

#include "engine/base/hash.h"

namespace farfield::eval {

std::string ProtocolResult::hash() const {
  return hash_hex(protocol + '\n' + parameters).substr(0, 16);
}

void set_failure(LengthResult& result, const std::string& code, const std::string& message) {
  LengthResult failed;
  failed.length = result.length;
  failed.tokens = result.tokens;
  failed.failure = code;
  failed.message = message;
  result = failed;
}

std::string without_brackets(std::string_view message) {
  const size_t bracket = message.find("] ");
  if (message.substr(0, 1) != "[" || bracket == std::string_view::npos) return std::string(message);
  return concat(message.substr(1, bracket - 1), ": ", message.substr(bracket + 2));
}

std::string code_of(const std::exception& error) {
  const std::string_view text = error.what();
  const size_t bracket = text.find("] ");
  if (text.substr(0, 1) != "[" || bracket == std::string_view::npos) return "";
  const std::string_view rest = text.substr(bracket + 2);
  const size_t end = rest.find(": ");
  if (end == std::string_view::npos || rest.substr(0, end).find(' ') != std::string_view::npos)
    return "";
  return std::string(rest.substr(0, end));
}

void rethrow_with_code(const ConfigError& error, std::string_view where) {
  constexpr std::string_view kCodes[] = {"bad_argument", "bad_stride", "length_too_short"};
  if (std::find(std::begin(kCodes), std::end(kCodes), code_of(error)) != std::end(kCodes)) throw;
  fail<ConfigError>(where, "bad_argument: ", without_brackets(error.what()));
}

}  // namespace farfield::eval
