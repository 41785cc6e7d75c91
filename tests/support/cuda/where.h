#pragma once

#include <cstring>
#include <ostream>
#include <string_view>

namespace farfield::emulation {

/// A line of a kernel. As a default argument it is the line of the call.
struct Where {
  const char* file;
  int line;

  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  friend bool operator==(const Where& a, const Where& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
  }
  /// "reduce.cu:31"
  friend std::ostream& operator<<(std::ostream& out, const Where& where) {
    const std::string_view path = where.file;
    return out << path.substr(path.rfind('/') + 1) << ':' << where.line;
  }
};

}  // namespace farfield::emulation
