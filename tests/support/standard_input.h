#pragma once

#include <unistd.h>

#include <stdexcept>
#include <string_view>

namespace farfield {

/// While it lives, standard input is a pipe with these bytes, which has to have room for them: 64
/// KiB.
class StandardInput {
 public:
  explicit StandardInput(std::string_view bytes) : before_(::dup(STDIN_FILENO)) {
    int ends[2];
    if (::pipe(ends) != 0 || ::dup2(ends[0], STDIN_FILENO) < 0 ||
        ::write(ends[1], bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("no pipe for standard input");
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~StandardInput() {
    if (before_ < 0) {
      ::close(STDIN_FILENO);
    } else {
      ::dup2(before_, STDIN_FILENO);
      ::close(before_);
    }
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int before_;
};

}  // namespace farfield
