#pragma once

#include <boost/test/unit_test.hpp>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farfield {

/// A predicate for BOOST_CHECK_EXCEPTION: the text of the error contains every part, in order.
template <class... Parts>
auto says(const Parts&... parts) {
  return [text = std::vector<std::string>{parts...}](const std::exception& error) {
    const std::string_view what = error.what();
    size_t at = 0;
    for (const std::string& part : text) {
      const size_t found = what.find(part, at);
      BOOST_CHECK_MESSAGE(found != std::string_view::npos, "'" << part << "' is not in: " << what);
      if (found == std::string_view::npos) return false;
      at = found + part.size();
    }
    return true;
  };
}

/// The same for the whole text.
inline auto says_exactly(std::string text) {
  return [text = std::move(text)](const std::exception& error) {
    BOOST_CHECK_EQUAL(error.what(), text);
    return error.what() == text;
  };
}

/// The text of the E that f throws; "" when it throws none. Other errors pass through.
template <class E, class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace farfield
